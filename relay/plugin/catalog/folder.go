package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/plugin/build"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
)

// adaptersDir is the subfolder of the extension for adapters.
const adaptersDir = "adapters"

// pairingFile tells the extension where the relay is and lets both prove that they belong together. It is read anew
// whenever the extension connects.
const pairingFile = "pairing.json"

// extensionFolder is the folder from which Chrome loads the extension. Files are replaced atomically, because Chrome
// may read them at any moment, and only when they differ, so that most starts write nothing.
type extensionFolder struct {
	dir    string
	bundle fs.FS // nil in a binary that was built without the extension
}

func newExtensionFolder(home config.Home, cfg config.Config, bundle fs.FS) *extensionFolder {
	return &extensionFolder{cfg.ExtensionFolder(home), bundle}
}

// write brings the extension's own files up to date, and removes those of an earlier version.
func (f *extensionFolder) write() error {
	if f.bundle == nil {
		return nil
	}
	if err := f.checkOwner(); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(f.dir, pairingFile)); errors.Is(err, fs.ErrNotExist) {
		// it marks the folder as the extension's, even if this start fails later
		if err := f.put(pairingFile, []byte("{}\n"), 0o600); err != nil {
			return fmt.Errorf("cannot write the extension: %w", err)
		}
	}
	own := map[string]bool{pairingFile: true}
	err := fs.WalkDir(f.bundle, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == ".gitkeep" {
			return err
		}
		own[name] = true
		data, err := fs.ReadFile(f.bundle, name)
		if err != nil {
			return err
		}
		return f.put(name, data, 0o644)
	})
	if err != nil {
		return fmt.Errorf("cannot write the extension: %w", err)
	}
	return f.prune(func(name string) bool { return own[name] || strings.HasPrefix(name, adaptersDir+"/") })
}

// checkOwner refuses a folder with files that are not the extension's, because prune would delete them.
func (f *extensionFolder) checkOwner() error {
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot look into the extension's folder: %w", err)
	}
	for _, entry := range entries {
		if entry.Name() == pairingFile {
			return nil
		}
	}
	return fmt.Errorf("%s has files in it that are not the extension's; set extensionDir to a new or empty folder",
		f.dir)
}

// pair writes the file from which the extension reads the relay's address and the secret.
func (f *extensionFolder) pair(address, secret string) error {
	text, err := json.Marshal(map[string]string{"address": address, "secret": secret})
	if err == nil {
		err = f.put(pairingFile, append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", pairingFile, err)
	}
	return nil
}

// putAdapters writes the files of the plugins that are offered. Files of others stay until the next start: a call in
// flight may need one.
func (f *extensionFolder) putAdapters(files map[string][]byte) error {
	for name, data := range files {
		if err := f.put(name, data, 0o644); err != nil {
			return fmt.Errorf("cannot write an adapter: %w", err)
		}
	}
	return nil
}

// adapter reads the file of a plugin that is offered, or was since the relay started.
func (f *extensionFolder) adapter(name string) ([]byte, error) {
	root, err := os.OpenRoot(filepath.Join(f.dir, adaptersDir))
	if err != nil {
		return nil, err
	}
	defer root.Close() // only read from
	return root.ReadFile(name)
}

// pruneAdapters removes the files of plugins that are not offered.
func (f *extensionFolder) pruneAdapters(files map[string][]byte) error {
	return f.prune(func(name string) bool {
		_, wanted := files[name]
		return wanted || !strings.HasPrefix(name, adaptersDir+"/")
	})
}

// put writes one file unless it has that content already.
func (f *extensionFolder) put(name string, data []byte, mode fs.FileMode) error {
	file := filepath.Join(f.dir, filepath.FromSlash(name))
	if have, err := os.ReadFile(file); err == nil && bytes.Equal(have, data) {
		return nil
	}
	lock.NoneHeld("the extension's folder is written")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return diskfile.Write(file, data, mode)
}

// prune removes the files that keep rejects, and then the empty folders.
func (f *extensionFolder) prune(keep func(name string) bool) error {
	var folders []string
	err := fs.WalkDir(os.DirFS(f.dir), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.IsDir():
			folders = append(folders, name)
			return nil
		case keep(name):
			return nil
		}
		return os.Remove(filepath.Join(f.dir, filepath.FromSlash(name)))
	})
	if err != nil {
		return fmt.Errorf("cannot clean the extension's folder: %w", err)
	}
	for i := len(folders) - 1; i > 0; i-- {
		_ = os.Remove(filepath.Join(f.dir, filepath.FromSlash(path.Clean(folders[i])))) // fails while it is not empty
	}
	return nil
}

// adapters returns the files of the plugins that are offered, by name in the extension's folder, and the list of these
// plugins for browsers.
func (f *extensionFolder) adapters(s *registry.Snapshot, developed func(*plugin.Plugin) bool) (files map[string][]byte,
	list []wire.Plugin) {
	files, list = make(map[string][]byte, len(s.Sites)), make([]wire.Plugin, 0, len(s.Sites))
	runtime := runtimeIn(f.bundle)
	for _, site := range s.Sites {
		p := site.Plugin
		one := wire.Plugin{
			Name: p.Manifest.Name, Hash: p.Hash, World: string(p.Manifest.World), Matches: site.Matches,
			Excludes: site.Excludes, Frames: frames(p),
		}
		one.File, one.PreScript = put(files, *p, compose(site, runtime, developed(p)))
		list = append(list, one)
	}
	return files, list
}

// put adds what is injected for a plugin, and names the files.
func put(files map[string][]byte, p plugin.Plugin, composed []byte) (file, preScript string) {
	file = fileName(p.Manifest.Name, composed)
	files[file] = composed
	if p.PreScript != nil {
		before := build.ComposePreScript(p)
		preScript = fileName(p.Manifest.Name+"-pre", before)
		files[preScript] = before
	}
	return file, preScript
}

// Packaged are the files of an extension that brings these plugins itself, among them the list adapters.json, by which
// it knows them. bundle is the extension without them.
func Packaged(bundle fs.FS, plugins []plugin.Plugin) (map[string][]byte, error) {
	type entry struct {
		Hash      string `json:"hash"`
		File      string `json:"file"`
		PreScript string `json:"preScript,omitempty"`
	}
	files, list := map[string][]byte{}, map[string]entry{}
	for _, p := range plugins {
		one := entry{Hash: p.Hash}
		one.File, one.PreScript = put(files, p, build.Compose(p, runtimeIn(bundle), false))
		list[p.Manifest.Name] = one
	}
	text, err := json.MarshalIndent(list, "", "  ")
	files["adapters.json"] = append(text, '\n')
	return files, err
}

// compose makes the file that is injected for a plugin, with the match patterns of the pages that a person added.
func compose(site *registry.Site, runtime []byte, developed bool) []byte {
	p := *site.Plugin
	p.Manifest.URLPatterns, p.Manifest.ExcludePatterns = site.Matches, site.Excludes
	return build.Compose(p, runtime, developed)
}

// runtimeIn is the extension's part of a main-world adapter.
func runtimeIn(bundle fs.FS) []byte {
	if bundle == nil {
		return nil
	}
	code, err := fs.ReadFile(bundle, "page-main.js")
	if err != nil {
		return nil // the build of the extension fails when it is missing
	}
	return code
}

// fileName returns a name with a hash of the content, so that a browser never runs an outdated file.
func fileName(plugin string, content []byte) string {
	sum := sha256.Sum256(content)
	return fmt.Sprintf("%s/%s-%s.js", adaptersDir, plugin, hex.EncodeToString(sum[:6]))
}

// frames is "all" when a tool of the plugin wants to run in every frame.
func frames(p *plugin.Plugin) string {
	if slices.ContainsFunc(p.Manifest.Tools, func(t plugin.Tool) bool { return t.Frames == "all" }) {
		return "all"
	}
	return ""
}
