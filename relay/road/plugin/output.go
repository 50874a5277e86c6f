package plugin

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	json "github.com/go-json-experiment/json/v1"

	"tabrelay/relay/lib/match"
)

// The files of dist/ that the hash covers.
const (
	ManifestFile  = "manifest.json"
	AdapterFile   = "adapter.js"
	PreScriptFile = "pre-script.js" // of a plugin that has one
)

// Encode returns the manifest as it is written: the same bytes for the same content. The module's package v1 writes and
// reads what encoding/json does in less than half the time, of which a start with many plugins mostly consists.
func (m Manifest) Encode() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(m); err != nil {
		return nil, fmt.Errorf("the manifest of %s cannot be written: %w", m.Name, err)
	}
	return out.Bytes(), nil
}

// Seal sets the plugin's hash, which identifies its content in file names, reviews and logs.
func (p *Plugin) Seal() error {
	manifest, err := p.Manifest.Encode()
	if err != nil {
		return err
	}
	p.Hash = p.hash(manifest)
	return nil
}

// hash is the plugin's hash, given its manifest as Encode writes it.
func (p *Plugin) hash(manifest []byte) string {
	h := sha256.New()
	for _, part := range [][]byte{manifest, p.Adapter, p.PreScript} {
		// With the length, a byte that moves from one part to the next changes the hash.
		_ = binary.Write(h, binary.BigEndian, uint64(len(part)))
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
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
		p, err := Read(filesIn(files, entry.Name()), true)
		if err != nil {
			return nil, fmt.Errorf("the shipped plugin %s cannot be read: %w", entry.Name(), err)
		}
		plugins = append(plugins, *p)
	}
	return plugins, nil
}

// Files are the files of dist/ that the hash covers, by name.
func (p *Plugin) Files() (map[string][]byte, error) {
	manifest, err := p.Manifest.Encode()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{ManifestFile: manifest, AdapterFile: p.Adapter}
	if p.PreScript != nil {
		files[PreScriptFile] = p.PreScript
	}
	return files, nil
}

// FromFiles is the inverse of Files.
func FromFiles(files map[string][]byte) (*Plugin, error) {
	return Read(func(name string) ([]byte, error) {
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

// Read reads and checks one build output.
func Read(file func(name string) ([]byte, error), shipped bool) (*Plugin, error) {
	raw, err := file(ManifestFile)
	if err != nil {
		return nil, err
	}
	p := Plugin{Shipped: shipped}
	if err := json.Unmarshal(raw, &p.Manifest); err != nil {
		return nil, fmt.Errorf("its %s cannot be read: %w", ManifestFile, err)
	}
	if p.Adapter, err = file(AdapterFile); err != nil {
		return nil, err
	}
	if p.Manifest.PreScript != "" {
		// A manifest cannot name another file.
		if p.PreScript, err = file(PreScriptFile); err != nil {
			return nil, err
		}
	}
	if err := p.Manifest.validate(p.Shipped); err != nil {
		return nil, fmt.Errorf("its %s is not accepted: %w", ManifestFile, err)
	}
	if shipped { // encoded by this very version, so that the bytes are those of Encode
		p.Hash = p.hash(raw)
		return &p, nil
	}
	return &p, p.Seal()
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
	if m.PreScript != "" && (m.PreScript != PreScriptFile || m.World != Main) {
		return fmt.Errorf("the pre-script %q is not %s of a plugin in the main world", m.PreScript, PreScriptFile)
	}
	for _, text := range m.URLPatterns {
		pattern, err := match.Parse(text)
		if err == nil {
			err = CheckPattern(pattern, shipped)
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
		if problem := CheckFullName("tool", m.Name, t.Name); problem != "" {
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

// CheckPattern says why a plugin may not work on the pages of a pattern: only a shipped plugin may work on the pages of
// every site.
func CheckPattern(p match.Pattern, shipped bool) error {
	if shipped && p.EverySite() {
		return nil
	}
	return p.Narrow()
}
