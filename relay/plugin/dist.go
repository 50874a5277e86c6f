package plugin

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json/v1"
	"github.com/google/renameio/v2/maybe"

	"tabrelay/relay/lib/match"
)

const (
	manifestFile = "manifest.json"
	adapterFile  = "adapter.js"
	mapFile      = "adapter.js.map"
)

// encode returns the manifest as it is written: the same bytes for the same content. The module's package v1 writes and
// reads what encoding/json does in less than half the time, of which a start with many plugins mostly consists.
func (m Manifest) encode() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(m); err != nil {
		return nil, fmt.Errorf("the manifest of %s cannot be written: %w", m.Name, err)
	}
	return out.Bytes(), nil
}

// seal sets the plugin's hash, which identifies its content in file names, reviews and logs.
func (p *Plugin) seal() error {
	manifest, err := p.Manifest.encode()
	if err != nil {
		return err
	}
	p.Hash = p.hash(manifest)
	return nil
}

// hash is the plugin's hash, given its manifest as encode writes it.
func (p *Plugin) hash(manifest []byte) string {
	h := sha256.New()
	for _, part := range [][]byte{manifest, p.Adapter, p.PreScript} {
		// With the length, a byte that moves from one part to the next changes the hash.
		_ = binary.Write(h, binary.BigEndian, uint64(len(part)))
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// writeOutput writes the build output, each file atomically, and only what changed, so that a watcher of the folder
// sees real changes only.
func writeOutput(dir string, p *Plugin) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("the folder for the build output cannot be made: %w", err)
	}
	manifest, err := p.Manifest.encode()
	if err != nil {
		return err
	}
	files := map[string][]byte{manifestFile: manifest, adapterFile: p.Adapter}
	for name, content := range map[string][]byte{preScriptFile: p.PreScript, mapFile: p.SourceMap} {
		if content != nil {
			files[name] = content
		}
	}
	for name, content := range files {
		file := filepath.Join(dir, name)
		if was, err := os.ReadFile(file); err == nil && bytes.Equal(was, content) {
			continue
		}
		if err := maybe.WriteFile(file, content, 0o644); err != nil {
			return fmt.Errorf("the build output cannot be written: %w", err)
		}
	}
	return nil
}

// Compose returns the file that is injected for a plugin: it registers the adapter with the bridge of its world.
// mainRuntime is the extension's page-main.js, which precedes an adapter in the main world. Of a plugin that is
// developed errors are heard from the start, before a call of it says that somebody follows them.
func Compose(p Plugin, mainRuntime []byte, developed bool) []byte {
	about, _ := json.Marshal(struct { // strings cannot fail
		Name    string   `json:"name"`
		Hash    string   `json:"hash"`
		Matches []string `json:"matches,omitempty"`

		Developed bool `json:"developed,omitempty"`
	}{p.Manifest.Name, p.Hash, p.Manifest.URLPatterns, developed})
	var out bytes.Buffer
	out.WriteString("(()=>{")
	start := "globalThis.tabrelayBridge.register"
	if p.Manifest.World == Main {
		out.Write(mainRuntime)
		out.WriteString("\n;")
		start = "tabrelayRuntime.start"
	}
	out.Write(p.Adapter)
	fmt.Fprintf(&out, "\n;%s(%s,%s.default,%s.enter);})();\n", start, about, pageGlobal, pageGlobal)
	return out.Bytes()
}

// Load reads a plugin's build output from dir/dist, without running any of it.
func Load(dir string) (*Plugin, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{dir: dir} // so that links that lead out are refused
	_ = f.open()           // a missing folder has no build output
	defer f.close()
	p, err := readOutput(func(name string) ([]byte, error) { return f.read("dist/" + name) }, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no build output; run: tabrelay plugin build %s", dir, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	p.Dir = dir
	return p, nil
}

// LoadFS reads every plugin of a file system whose folders are build outputs, <name>/manifest.json and
// <name>/adapter.js: the plugins that come with the binary. They are sorted by name.
func LoadFS(files fs.FS) ([]Plugin, error) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, fmt.Errorf("the shipped plugins cannot be read: %w", err)
	}
	var plugins []Plugin
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		p, err := readOutput(filesIn(files, entry.Name()), true)
		if err != nil {
			return nil, fmt.Errorf("the shipped plugin %s cannot be read: %w", entry.Name(), err)
		}
		plugins = append(plugins, *p)
	}
	return plugins, nil
}

// Files are the files of dist/ that the hash covers, by name.
func (p *Plugin) Files() (map[string][]byte, error) {
	manifest, err := p.Manifest.encode()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{manifestFile: manifest, adapterFile: p.Adapter}
	if p.PreScript != nil {
		files[preScriptFile] = p.PreScript
	}
	return files, nil
}

// FromFiles is the inverse of Files.
func FromFiles(files map[string][]byte) (*Plugin, error) {
	return readOutput(func(name string) ([]byte, error) {
		content, ok := files[name]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return content, nil
	}, false)
}

// filesIn returns a reader of files in one folder.
func filesIn(files fs.FS, dir string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) { return fs.ReadFile(files, path.Join(dir, name)) }
}

// readOutput reads and checks one build output.
func readOutput(file func(name string) ([]byte, error), shipped bool) (*Plugin, error) {
	raw, err := file(manifestFile)
	if err != nil {
		return nil, err
	}
	p := Plugin{Shipped: shipped}
	if err := json.Unmarshal(raw, &p.Manifest); err != nil {
		return nil, fmt.Errorf("its %s cannot be read: %w", manifestFile, err)
	}
	if p.Adapter, err = file(adapterFile); err != nil {
		return nil, err
	}
	if p.Manifest.PreScript != "" {
		// A manifest cannot name another file.
		if p.PreScript, err = file(preScriptFile); err != nil {
			return nil, err
		}
	}
	if err := p.Manifest.validate(p.Shipped); err != nil {
		return nil, fmt.Errorf("its %s is not accepted: %w", manifestFile, err)
	}
	if shipped { // encoded by this very version, so that the bytes are those of encode
		p.Hash = p.hash(raw)
		return &p, nil
	}
	return &p, p.seal()
}

// validate repeats the checks of a build, since build output may come from elsewhere.
func (m *Manifest) validate(shipped bool) error {
	if !pluginNameForm.MatchString(m.Name) {
		return fmt.Errorf("the name %q is not one of a plugin", m.Name)
	}
	if reserved(m.Name, shipped) {
		return fmt.Errorf("the plugin name %q is reserved, as it means something else in rules and commands: its "+
			"author "+
			"has to choose another package name", m.Name)
	}
	if m.World != Isolated && m.World != Main {
		return fmt.Errorf("the world %q is neither %q nor %q", m.World, Isolated, Main)
	}
	if m.PreScript != "" && (m.PreScript != preScriptFile || m.World != Main) {
		return fmt.Errorf("the pre-script %q is not %s of a plugin in the main world", m.PreScript, preScriptFile)
	}
	for _, text := range m.URLPatterns {
		pattern, err := match.Parse(text)
		if err == nil {
			err = checkPattern(pattern, shipped)
		}
		if err != nil {
			return fmt.Errorf("url pattern %w", err)
		}
	}
	if _, err := match.NewRule(nil, m.ExcludePatterns); err != nil {
		return fmt.Errorf("exclude pattern %w", err)
	}
	if m.EveryPage() && !m.isHarmless() {
		return errors.New("it works on every site: then it has to run isolated, without a pre-script, " +
			"and every tool has to say readOnlyHint")
	}
	seen := map[string]bool{}
	for _, t := range m.Tools {
		if problem := checkFullName("tool", m.Name, t.Name); problem != "" {
			return errors.New(problem)
		}
		if seen[t.Name] {
			return fmt.Errorf("there are two tools %q", t.Name)
		}
		seen[t.Name] = true
		if len(t.InputSchema) == 0 {
			return fmt.Errorf("the tool %q has no inputSchema", t.Name)
		}
	}
	return m.validatePrompts()
}

// isHarmless reports whether a plugin runs isolated from pages, and claims to change nothing or is the browser's own.
func (m *Manifest) isHarmless() bool {
	changes := func(t Tool) bool { return t.Annotations.ReadOnlyHint == nil || !*t.Annotations.ReadOnlyHint }
	return m.World == Isolated && m.PreScript == "" && (Browses(m.Name) || !slices.ContainsFunc(m.Tools, changes))
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
