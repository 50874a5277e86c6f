package build

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"tabrelay/relay/road/plugin"
)

// entryFile is the name of the entry in messages, until it is known which of entryFiles there is.
const entryFile = "src/index.ts"

// entryFiles are the names that the file with the plugin may have; the first that is there is taken.
var entryFiles = []string{entryFile, "src/index.tsx", "src/index.mts", "src/index.js", "src/index.jsx", "src/index.mjs"}

// HasSources reports whether a folder has the file that a plugin is built from.
func HasSources(dir string) bool {
	return slices.ContainsFunc(entryFiles, func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// findEntry returns the file with the plugin; empty when there is none.
func findEntry(f *folder) (string, []Diagnostic) {
	for _, name := range entryFiles {
		switch at, err := f.file(name); {
		case err != nil:
			return "", faultf(name, "%v", err)
		case at != "":
			return name, nil
		}
	}
	for _, name := range entryFiles {
		elsewhere := path.Base(name)
		if at, err := f.file(elsewhere); err == nil && at != "" {
			return "", faultf(elsewhere, "is not where a plugin begins; move it to %s", name)
		}
	}
	return "", faultf(entryFile, "is missing, and so is src/index.js; it exports the plugin: "+
		"export default definePlugin({ tools: [ … ] })")
}

// chrome is the oldest browser the extension runs in.
var chrome = []api.Engine{{Name: api.EngineChrome, Version: "116"}}

// production is what libraries are told that ask, and a plugin's own files with them.
var production = map[string]string{"process.env.NODE_ENV": `"production"`}

// sourceBundle bundles the plugin's own sources into one module; packages stay imports. Both the page's bundle and the
// reading of the tools start from that module. Faults found here have a file and a line.
type sourceBundle struct {
	folder   *folder
	context  api.BuildContext // nil before the first build
	tsconfig string           // of the context
	entry    string           // of the context
}

// prepare makes the context for the plugin's entry and tsconfig.json as they are now.
func (b *sourceBundle) prepare(entry string) error {
	tsconfig := b.folder.configOf(".").forBundler()
	if b.context != nil && b.tsconfig == tsconfig && b.entry == entry {
		return nil
	}
	b.close()
	context, failed := api.Context(api.BuildOptions{
		AbsWorkingDir: b.folder.dir,
		EntryPoints:   []string{entry},
		Outfile:       filepath.Join(b.folder.dir, "source.js"), // never written; names in messages are relative to it
		TsconfigRaw:   tsconfig,
		Bundle:        true,
		Format:        api.FormatESModule,
		Platform:      api.PlatformBrowser,
		Target:        api.ESNext,
		Sourcemap:     api.SourceMapExternal,
		Metafile:      true,
		LogLevel:      api.LogLevelSilent,
		Plugins:       []api.Plugin{checkImports(b.folder), serveEmpty(), b.folder.confine()},
		Supported:     map[string]bool{"top-level-await": false}, // the module becomes a script in both uses
		LogOverride:   map[string]api.LogLevel{"unsupported-jsx-comment": api.LogLevelSilent},
		Define:        production,
	})
	if failed != nil {
		return fmt.Errorf("the bundler does not start: %s", failed.Errors[0].Text)
	}
	b.context, b.tsconfig, b.entry = context, tsconfig, entry
	return nil
}

func (b *sourceBundle) close() {
	if b.context != nil {
		b.context.Dispose()
		b.context = nil
	}
}

// mapComment begins the line with a script's source map.
const mapComment = "//# sourceMappingURL=data:application/json;base64,"

// module is the result: one ES module with the plugin's own code.
type module struct {
	code     []byte
	packages []string // what it still imports, besides the SDK; sorted
	files    []string // what it was made of, relative to the folder
}

func (b *sourceBundle) build(entry string) (*module, []Diagnostic) {
	if err := b.prepare(entry); err != nil {
		return nil, faultf(tsconfigFile, "%v", err)
	}
	result := b.context.Rebuild()
	found := append(explainJSX(b.folder, diagnose(result.Errors, false)), diagnose(result.Warnings, true)...)
	if c := b.folder.configOf("."); c != nil && c.warning != "" {
		found = append(found, Diagnostic{File: tsconfigFile, Text: c.warning, Warning: true})
	}
	if len(result.Errors) > 0 {
		return nil, found
	}
	bundled := scriptOf(result)
	sources := base64.StdEncoding.AppendEncode(nil, bundled.sources)
	m := &module{code: slices.Concat(bundled.code, []byte(mapComment), sources, []byte("\n"))}
	if err := m.readMetafile(result.Metafile); err != nil {
		return nil, append(found, faultf("", "%v", err)...)
	}
	return m, found
}

// withoutJSX are the endings of files without JSX, and the one that each needs for it.
var withoutJSX = map[string]struct {
	plain, jsx api.Loader
	ending     string
}{
	".ts": {api.LoaderTS, api.LoaderTSX, ".tsx"}, ".mts": {api.LoaderTS, api.LoaderTSX, ".tsx"},
	".js": {api.LoaderJS, api.LoaderJSX, ".jsx"}, ".mjs": {api.LoaderJS, api.LoaderJSX, ".jsx"},
}

// explainJSX puts what an author can do in the place of syntax errors that are JSX in a file without it.
func explainJSX(f *folder, found []Diagnostic) []Diagnostic {
	for i, d := range found {
		extension := path.Ext(d.File)
		loaders, known := withoutJSX[extension]
		if !known {
			continue
		}
		content, err := f.read(d.File)
		if err != nil || len(api.Transform(string(content), quiet(loaders.plain)).Errors) == 0 ||
			len(api.Transform(string(content), quiet(loaders.jsx)).Errors) > 0 {
			continue
		}
		found[i].Text = fmt.Sprintf("this is JSX, which needs a file that ends in %s; rename it to %s, or make "+
			"elements with document.createElement", loaders.ending,
			strings.TrimSuffix(d.File, extension)+loaders.ending)
	}
	return found
}

func quiet(loader api.Loader) api.TransformOptions {
	return api.TransformOptions{Loader: loader, LogLevel: api.LogLevelSilent}
}

// ForEngine compiles a built adapter for the JavaScript engine, which lacks some syntax of browsers.
func ForEngine(adapter []byte) ([]byte, error) {
	result := api.Transform(string(adapter), api.TransformOptions{
		Target: engineTarget, Supported: engineSupports, Loader: api.LoaderJS, LogLevel: api.LogLevelSilent,
	})
	if len(result.Errors) > 0 {
		return nil, fmt.Errorf("the adapter cannot be run without a browser: %s", result.Errors[0].Text)
	}
	return result.Code, nil
}

// metafile is the part of esbuild's report that is used here.
type metafile struct {
	Inputs  map[string]struct{} `json:"inputs"`
	Outputs map[string]struct {
		Imports []struct {
			Path     string `json:"path"`
			External bool   `json:"external"`
		} `json:"imports"`
	} `json:"outputs"`
}

func readMetafile(raw string) (metafile, error) {
	var meta metafile
	if err := json.Unmarshal([]byte(raw), &meta); err != nil {
		return meta, fmt.Errorf("the bundler's report cannot be read: %w", err)
	}
	inputs := make(map[string]struct{}, len(meta.Inputs))
	for name := range meta.Inputs {
		inputs[trimNamespace(name)] = struct{}{}
	}
	meta.Inputs = inputs
	return meta, nil
}

// externals returns the packages the output still imports, each once, sorted.
func (meta metafile) externals() []string {
	seen := map[string]struct{}{}
	for _, output := range meta.Outputs {
		for _, i := range output.Imports {
			if i.External && !isSDK(i.Path) {
				seen[i.Path] = struct{}{}
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func (m *module) readMetafile(raw string) error {
	meta, err := readMetafile(raw)
	if err != nil {
		return err
	}
	m.packages = meta.externals()
	m.files = slices.Sorted(maps.Keys(meta.Inputs))
	return nil
}

// A pre-script runs at document_start, before any script of the page. It is a bundle of its own, which shares only
// values with the adapter.

// checkPreScript checks the pre-script of package.json.
func (c *packageCheck) checkPreScript() {
	p, field := &c.source.Plugin, "/"+c.key+"/preScript"
	if p.PreScript == "" || c.published {
		return
	}
	if p.World != plugin.Main {
		c.add(field, `"preScript" runs in the page's own world; it needs "world": "main"`)
	}
	if !filepath.IsLocal(filepath.FromSlash(p.PreScript)) {
		c.add(field, `"preScript" %q is not a file of the plugin; write it as "src/pre-script.ts"`, p.PreScript)
		p.PreScript = ""
		return
	}
	switch at, err := c.folder.file(path.Clean(p.PreScript)); {
	case errors.Is(err, errOutside):
		c.add(field, `"preScript" %q %v`, p.PreScript, err)
		p.PreScript = ""
	case err != nil || at == "":
		c.add(field, `"preScript" names %s, which is missing; it calls definePreScript from %q`,
			p.PreScript, sdkPath+"/pre-script")
		p.PreScript = ""
	}
}

// buildPreScript bundles it, together with what it imports.
func buildPreScript(f *folder, entry string) ([]byte, []Diagnostic) {
	result := api.Build(api.BuildOptions{
		AbsWorkingDir:     f.dir,
		EntryPoints:       []string{path.Clean(entry)},
		TsconfigRaw:       f.configOf(path.Dir(path.Clean(entry))).forBundler(),
		Outfile:           plugin.PreScriptFile,
		Bundle:            true,
		Format:            api.FormatIIFE,
		Platform:          api.PlatformBrowser,
		Engines:           chrome,
		TreeShaking:       api.TreeShakingTrue,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		LegalComments:     api.LegalCommentsNone,
		LogLevel:          api.LogLevelSilent,
		Plugins:           []api.Plugin{serveSDK(), refuseNode(), serveEmpty(), f.confine()},
	})
	found := append(diagnose(result.Errors, false), diagnose(result.Warnings, true)...)
	if len(result.Errors) > 0 {
		return nil, found
	}
	return scriptOf(result).code, found
}

// ComposePreScript returns the file that runs a plugin's pre-script and stores its values for the adapter's file, which
// runs next and removes them. They are stored in a plain object, so that no function a page could replace sees them.
func ComposePreScript(p plugin.Plugin) []byte {
	// The same name as in extension/src/page/scope.ts.
	name, _ := json.Marshal("tabrelayPreScript:" + p.Manifest.Name + ":" + p.Hash) // strings cannot fail
	var out bytes.Buffer
	fmt.Fprintf(&out, `(()=>{const kept={__proto__:null},{debug,info,warn,error}=console,`+
		`tabrelayPreScript={context:{set(key,value){kept[key]=value},log:{debug,info,warn,error}}};`+
		`Object.defineProperty(globalThis,%s,{configurable:true,value:key=>kept[key]});`+"\n", name)
	out.Write(p.PreScript)
	out.WriteString("})();\n")
	return out.Bytes()
}
