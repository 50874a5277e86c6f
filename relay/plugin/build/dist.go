package build

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/road/plugin"
)

const mapFile = "adapter.js.map"

// writeOutput writes the build output, each file atomically, and only what changed, so that a watcher of the folder
// sees real changes only.
func writeOutput(dir string, p *plugin.Plugin) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("the folder for the build output cannot be made: %w", err)
	}
	manifest, err := p.Manifest.Encode()
	if err != nil {
		return err
	}
	files := map[string][]byte{plugin.ManifestFile: manifest, plugin.AdapterFile: p.Adapter}
	for name, content := range map[string][]byte{plugin.PreScriptFile: p.PreScript, mapFile: p.SourceMap} {
		if content != nil {
			files[name] = content
		}
	}
	for name, content := range files {
		file := filepath.Join(dir, name)
		if was, err := os.ReadFile(file); err == nil && bytes.Equal(was, content) {
			continue
		}
		if err := diskfile.Write(file, content, 0o644); err != nil {
			return fmt.Errorf("the build output cannot be written: %w", err)
		}
	}
	return nil
}

// Compose returns the file that is injected for a plugin: it registers the adapter with the bridge of its world.
// mainRuntime is the extension's page-main.js, which precedes an adapter in the main world. Of a plugin that is
// developed errors are heard from the start, before a call of it says that somebody follows them.
func Compose(p plugin.Plugin, mainRuntime []byte, developed bool) []byte {
	about, _ := json.Marshal(struct { // strings cannot fail
		Name    string   `json:"name"`
		Hash    string   `json:"hash"`
		Matches []string `json:"matches,omitempty"`

		Developed bool `json:"developed,omitempty"`
	}{p.Manifest.Name, p.Hash, p.Manifest.URLPatterns, developed})
	var out bytes.Buffer
	out.WriteString("(()=>{")
	start := "globalThis.tabrelayBridge.register"
	if p.Manifest.World == plugin.Main {
		out.Write(mainRuntime)
		out.WriteString("\n;")
		start = "tabrelayRuntime.start"
	}
	out.Write(p.Adapter)
	fmt.Fprintf(&out, "\n;%s(%s,%s.default,%s.enter);})();\n", start, about, pageGlobal, pageGlobal)
	return out.Bytes()
}

// Load reads a plugin's build output from dir/dist, without running any of it.
func Load(dir string) (*plugin.Plugin, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{dir: dir} // so that links that lead out are refused
	_ = f.open()           // a missing folder has no build output
	defer f.close()
	p, err := plugin.Read(func(name string) ([]byte, error) { return f.read("dist/" + name) }, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no build output; run: tabrelay plugin build %s", dir, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	p.Dir = dir
	return p, nil
}

// The limits of SourceFiles.
const (
	maxSourceFiles = 1000
	maxSourceBytes = 4 << 20 // of all files together
)

// SourceFiles are the sources of the plugin in dir, by their slash-separated name: package.json, src and prompts. What
// runs is the build output, which may differ. Links and files that are not text are left out; whole reports whether no
// file was left out because of a limit.
func SourceFiles(dir string) (files map[string][]byte, whole bool) {
	files, whole = map[string][]byte{}, true
	if dir == "" {
		return files, whole
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return files, whole // a folder that is gone has no sources
	}
	defer root.Close() // only read from
	room := maxSourceBytes
	take := func(name string, entry fs.DirEntry) error {
		if !entry.Type().IsRegular() || !isText(name) {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil // it was removed meanwhile
		}
		if len(files) >= maxSourceFiles || info.Size() > int64(room) {
			whole = false
			return nil
		}
		content, err := root.ReadFile(filepath.FromSlash(name))
		if err == nil && len(content) <= room && bytes.IndexByte(content, 0) < 0 {
			files[name] = content
			room -= len(content)
		}
		return nil
	}
	for _, top := range []string{packageFile, "src", promptsFolder} {
		_ = fs.WalkDir(root.FS(), top, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist), err != nil && entry == nil:
				return fs.SkipAll
			case err != nil: // a folder that cannot be read
				return fs.SkipDir
			case entry.IsDir():
				return nil
			}
			return take(name, entry)
		})
	}
	return files, whole
}

var textExtensions = []string{
	".ts", ".tsx", ".js", ".jsx", ".mts", ".mjs", ".cts", ".cjs", ".json", ".md", ".css", ".html", ".txt",
}

func isText(name string) bool {
	return slices.Contains(textExtensions, strings.ToLower(path.Ext(name)))
}
