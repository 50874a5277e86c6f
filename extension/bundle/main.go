// Command bundle builds the browser extension into dist: TypeScript through esbuild, the rest copied, and a hash
// over everything, which the worker sends to the relay so that both know whether their files are the same. With
// -store FOLDER it builds the edition for the browsers' stores, into that folder.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// hashPlaceholder stands in src/worker/bundle.ts where the hash goes.
var hashPlaceholder = strings.Repeat("0", sha256.Size*2)

// entry is a source, its file in dist, and the global variable that it defines, if any.
type entry struct{ source, output, global string }

// entries are the programs of the extension. The page's runtime defines a global for the adapter files that begin
// with it; everything else stands alone. The scripts of capabilities come besides.
var entries = []entry{
	{"src/worker/main.ts", "worker.js", ""},
	{"src/bridge/main.ts", "bridge.js", ""},
	{"src/bridge/late.ts", "late.js", ""},
	{"src/page/tap.ts", "tap.js", ""},
	{"src/page/main.ts", "page-main.js", "tabrelayRuntime"},
	{"src/page/user-world.ts", "user-world.js", ""},
	{"src/panel/main.tsx", "panel.js", ""},
	{"src/panel/panel.css", "panel.css", ""},
	{"src/wake/main.ts", "wake.js", ""},
}

// scripts are what capabilities put into pages: each file in the folder scripts of a capability, under its own name.
func scripts(dir string) ([]entry, error) {
	found, err := fs.Glob(os.DirFS(dir), "src/capabilities/*/scripts/*.ts")
	if err != nil {
		return nil, err
	}
	var list []entry
	for _, source := range found {
		list = append(list, entry{source, strings.TrimSuffix(path.Base(source), ".ts") + ".js", ""})
	}
	return list, nil
}

// preact maps the names of Preact's modules to the copies of them in this folder: the build needs Go alone.
var preact = map[string]string{
	"preact":             "preact/preact.mjs",
	"preact/hooks":       "preact/hooks.mjs",
	"preact/jsx-runtime": "preact/jsxRuntime.mjs",
}

// copies are files that stay as they are: their sources, by their names in dist. Whoever hands out copies of what
// others have written hands out their licences as well.
var copies = map[string]string{
	"manifest.json": "manifest.json", "panel.html": "src/panel/panel.html", "wake.html": "src/wake/wake.html",
	"icons/16.png": "icons/16.png", "icons/32.png": "icons/32.png", "icons/48.png": "icons/48.png",
	"icons/128.png": "icons/128.png",

	"LICENSE": "../LICENSE", "licenses/preact.txt": "preact/LICENSE",
	"licenses/readability.txt": "src/browser/readability/LICENSE.md",
	"licenses/apache-2.0.txt":  "src/browser/readability/Apache-2.0.txt",
}

func main() {
	log.SetFlags(0)
	store := flag.String("store", "", "build the store edition into this `folder`")
	flag.Parse()
	build := func() error { return run(".") }
	if *store != "" {
		build = func() error { return runStore(".", *store) }
	}
	if err := build(); err != nil {
		log.Fatal("extension: ", err)
	}
}

// run builds the extension whose sources are in dir into dir/dist.
func run(dir string) error {
	files, err := sources(dir, false)
	if err != nil {
		return err
	}
	return write(filepath.Join(dir, "dist"), sealed(files, hashOf(files)))
}

// sealed are files that know their hash.
func sealed(files map[string][]byte, hash string) map[string][]byte {
	files["worker.js"] = []byte(strings.Replace(string(files["worker.js"]), hashPlaceholder, hash, 1))
	files["bundle.json"] = fmt.Appendf(nil, "{\"hash\":%q}\n", hash)
	return files
}

// sources are the files of an edition, without its hash.
func sources(dir string, store bool) (map[string][]byte, error) {
	files := map[string][]byte{}
	ofCapabilities, err := scripts(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range slices.Concat(entries, ofCapabilities) {
		code, err := bundle(dir, entry.source, entry.global, store)
		if err != nil {
			return nil, err
		}
		files[entry.output] = code
	}
	for name, source := range copies {
		data, err := os.ReadFile(filepath.Join(dir, source))
		if err != nil {
			return nil, err
		}
		files[name] = data
	}
	return files, nil
}

func bundle(dir, source, global string, store bool) ([]byte, error) {
	working, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	alias := map[string]string{}
	for name, copied := range preact {
		alias[name] = filepath.Join(working, filepath.FromSlash(copied))
	}
	var plugins []api.Plugin
	if store {
		plugins = append(plugins, storeModules)
	}
	result := api.Build(api.BuildOptions{
		Plugins:           plugins,
		AbsWorkingDir:     working,
		EntryPoints:       []string{source},
		Alias:             alias,
		JSX:               api.JSXAutomatic,
		JSXImportSource:   "preact",
		Bundle:            true,
		Format:            api.FormatIIFE,
		Banner:            banner(global),
		Target:            api.ES2023,
		Charset:           api.CharsetUTF8,
		LegalComments:     api.LegalCommentsNone,
		MinifySyntax:      true,
		MinifyWhitespace:  true,
		MinifyIdentifiers: false, // a stack trace in a bug report should say something
		LogLevel:          api.LogLevelSilent,
	})
	if len(result.Errors) > 0 {
		texts := api.FormatMessages(result.Errors, api.FormatMessagesOptions{})
		return nil, fmt.Errorf("build %s: %s", source, strings.Join(texts, "\n"))
	}
	return result.OutputFiles[0].Contents, nil
}

// banner declares the variable that a bundle sets. The bundler's own way of exporting copies in a loop over an
// object's fields, which takes in what a page hung on Object.prototype.
func banner(global string) map[string]string {
	if global == "" {
		return nil
	}
	return map[string]string{"js": "var " + global + "={__proto__:null};"}
}

// hashOf is SHA-256 over every name and content, in order of names.
func hashOf(files map[string][]byte) string {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	sum := sha256.New()
	for _, name := range names {
		fmt.Fprintf(sum, "%s\n%d\n", name, len(files[name]))
		sum.Write(files[name])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// write replaces what dist held. .gitkeep stays: without it a fresh clone could not embed the folder.
func write(dist string, files map[string][]byte) error {
	old, err := os.ReadDir(dist)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, entry := range old {
		if entry.Name() == ".gitkeep" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dist, entry.Name())); err != nil {
			return err
		}
	}
	for name, data := range files {
		path := filepath.Join(dist, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
