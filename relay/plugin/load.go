package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"tabrelay/relay/match"
)

// Load reads a plugin's build output from dir/dist. It runs none of the plugin's code.
func Load(dir string) (*Plugin, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{dir: dir} // a link that leads out of the folder is none of its files
	_ = f.open()           // what is not there has no build output
	defer f.close()
	p, err := read(func(name string) ([]byte, error) { return f.read("dist/" + name) }, false)
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
		p, err := read(within(files, entry.Name()), true)
		if err != nil {
			return nil, fmt.Errorf("the shipped plugin %s cannot be read: %w", entry.Name(), err)
		}
		plugins = append(plugins, *p)
	}
	return plugins, nil
}

// Files are what the plugin is made of, by name, as they stand in dist/: everything its hash is about.
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

// FromFiles makes a plugin of what Files returned.
func FromFiles(files map[string][]byte) (*Plugin, error) {
	return read(func(name string) ([]byte, error) {
		content, ok := files[name]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return content, nil
	}, false)
}

// within reads the files of one folder.
func within(files fs.FS, dir string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) { return fs.ReadFile(files, path.Join(dir, name)) }
}

// read reads one build output.
func read(file func(name string) ([]byte, error), shipped bool) (*Plugin, error) {
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
		// Always the same name: a manifest from elsewhere names no other file.
		if p.PreScript, err = file(preScriptFile); err != nil {
			return nil, err
		}
	}
	if err := p.Manifest.check(p.Shipped); err != nil {
		return nil, fmt.Errorf("its %s is not accepted: %w", manifestFile, err)
	}
	if shipped { // written by the build of this very version, so it need not be written again to be known
		p.Hash = p.hash(raw)
		return &p, nil
	}
	return &p, p.seal()
}

// check repeats what a build checks: build output may come from elsewhere.
func (m *Manifest) check(shipped bool) error {
	if !pluginNameForm.MatchString(m.Name) || slices.Contains(reservedNames, m.Name) {
		return fmt.Errorf("the name %q is not one of a plugin", m.Name)
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
			err = allowed(pattern, shipped)
		}
		if err != nil {
			return fmt.Errorf("url pattern %w", err)
		}
	}
	if _, err := match.NewRule(nil, m.ExcludePatterns); err != nil {
		return fmt.Errorf("exclude pattern %w", err)
	}
	if m.EveryPage() && !m.harmless() {
		return errors.New("it works on every site: then it has to run isolated, without a pre-script, and every tool has to say readOnlyHint")
	}
	seen := map[string]bool{}
	for _, t := range m.Tools {
		if problem := checkToolName(m.Name, t.Name); problem != "" {
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
	return m.checkPrompts()
}

// harmless reports whether a plugin is out of the page's sight and says that it changes nothing.
func (m *Manifest) harmless() bool {
	changes := func(t Tool) bool { return t.Annotations.ReadOnlyHint == nil || !*t.Annotations.ReadOnlyHint }
	return m.World == Isolated && m.PreScript == "" && !slices.ContainsFunc(m.Tools, changes)
}
