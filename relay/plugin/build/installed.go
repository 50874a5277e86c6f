package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/state/config"
)

// The plugins that a person added are listed in plugins.json in the plugins folder of the home. Their folders stay
// where they are, so that an edit is live after a build.

const installedFile = "plugins.json"

// Entry is one plugin a person added.
type Entry struct {
	Name    string         `json:"name"`
	Dir     string         `json:"dir"`
	Plugin  *plugin.Plugin `json:"-"` // nil when it is broken
	Shipped bool           `json:"-"` // it is one of the program's
	// what is wrong; with a Plugin, what is wrong with a newer build that failed
	Problem    string `json:"-"`
	Pin        *Pin   `json:"pin,omitempty"`   // of an installed package; nil for a folder
	BuildError string `json:"fault,omitempty"` // why its last build failed; the one before it is offered
}

// Pin is the content that an installed plugin has to have.
type Pin struct {
	From    string `json:"from"`              // npm:NAME[@VERSION], file:PATH or git:REPOSITORY
	Version string `json:"version,omitempty"` // of the package, or the commit of a repository
	// Registry is that of a package, without what may be a secret in its address; empty: none, or it was not written
	// down.
	Registry  string `json:"registry,omitempty"`
	Integrity string `json:"integrity"` // of the tarball: sha512-… (https://www.w3.org/TR/sri-2/)
	Hash      string `json:"hash"`      // Plugin.Hash of the unpacked plugin
}

var sourceForm = lazyregexp.New(`^(npm|file|git):`)

// Source is where a plugin is from, as a policy names it: npm:NAME[@VERSION], file:PATH, git:REPOSITORY or folder:PATH.
// The list is a file of the person's: what it says of none of these is no source, least of all [config.ShippedSource].
func (e *Entry) Source() string {
	if e.Shipped {
		return config.ShippedSource
	}
	if e.Pin != nil && sourceForm.MatchString(e.Pin.From) {
		return e.Pin.From
	}
	return "folder:" + e.Dir
}

// Permit is the error of a plugin that the policy does not let be added; nil: it may.
func (e *Entry) Permit(hash string) error {
	m, err := config.ReadPolicy()
	if err != nil || m.Permits(e.Name, e.Source(), hash) {
		return err
	}
	return &config.ManagedError{What: fmt.Sprintf("the plugin %s (%s, content %s) is not one of those allowed", e.Name,
		e.Source(), hash), Managed: m}
}

type pluginList struct {
	Plugins []Entry `json:"plugins"`
}

// List returns the plugins a person added, sorted by name, broken ones with their reason. home is the folder
// $TABRELAY_HOME/plugins; one that does not exist holds no plugins.
func List(home string) ([]Entry, error) {
	list, err := readList(home)
	if err != nil {
		return nil, err
	}
	for i := range list.Plugins {
		list.Plugins[i].load()
	}
	return list.Plugins, nil
}

// Find returns one plugin that a person added; nil when there is none of the name.
func Find(home, name string) (*Entry, error) {
	list, err := readList(home)
	if err != nil {
		return nil, err
	}
	i := list.find(name)
	if i < 0 {
		return nil, nil
	}
	list.Plugins[i].load()
	return &list.Plugins[i], nil
}

// Folders are those of the plugins a person added.
func Folders(home string) ([]string, error) {
	list, err := readList(home)
	folders := make([]string, len(list.Plugins))
	for i := range list.Plugins {
		folders[i] = list.Plugins[i].Dir
	}
	return folders, err
}

func (e *Entry) load() {
	p, err := Load(e.Dir)
	switch {
	case err != nil:
		e.Problem = err.Error()
		if _, gone := os.Stat(e.Dir); errors.Is(gone, fs.ErrNotExist) {
			e.Problem = fmt.Sprintf("its folder %s is gone; put it back, or run: tabrelay plugin remove %s", e.Dir,
				e.Name)
		}
	case p.Manifest.Name != e.Name:
		e.Problem = fmt.Sprintf("the plugin in %s is now named %s; "+
			"run: tabrelay plugin remove %s, then: tabrelay plugin add %s", e.Dir, p.Manifest.Name, e.Name, e.Dir)
	case e.Pin != nil && e.Pin.Hash != p.Hash:
		e.Problem = fmt.Sprintf("its files in %s are not the ones that were installed; "+
			"run: tabrelay plugin update %s, or remove it", e.Dir, e.Name)
	default:
		e.Plugin = p
		if e.BuildError != "" {
			e.Problem = "it does not build: " + e.BuildError + "; the tools of its last good build stay"
		}
	}
}

// Add builds the plugin in a folder and registers the folder. A folder without sources is registered with its build
// output. Adding it again builds it again.
func Add(ctx context.Context, home, dir string) (*plugin.Plugin, []Diagnostic, error) {
	return AddIf(ctx, home, dir, func(*plugin.Plugin) error { return nil })
}

// AddIf is Add of a plugin that permit lets in, which is asked once it is built.
func AddIf(ctx context.Context, home, dir string, permit func(*plugin.Plugin) error) (*plugin.Plugin, []Diagnostic,
	error) {
	p, found, err := buildOrLoad(ctx, dir)
	if err == nil {
		err = permit(p)
	}
	if err != nil {
		return nil, found, err
	}
	_, err = Register(home, p)
	return p, found, err
}

// Register registers the folder of a built plugin. fresh reports that it was not registered before under this name.
func Register(home string, p *plugin.Plugin) (fresh bool, err error) {
	added := Entry{Name: p.Manifest.Name, Dir: p.Dir}
	if err := added.Permit(p.Hash); err != nil {
		return false, err
	}
	err = editList(home, func(list *pluginList) error {
		i := list.find(p.Manifest.Name)
		if i >= 0 && list.Plugins[i].Dir != p.Dir {
			return fmt.Errorf("there is already a plugin %s, in %s; run first: tabrelay plugin remove %s",
				p.Manifest.Name, list.Plugins[i].Dir, p.Manifest.Name)
		}
		fresh = i < 0
		list.add(added)
		return nil
	})
	return fresh, err
}

// RegisterPinned registers an installed plugin, in place of any other of its name.
func RegisterPinned(home string, p *plugin.Plugin, pin Pin) error {
	return editList(home, func(list *pluginList) error {
		list.add(Entry{Name: p.Manifest.Name, Dir: p.Dir, Pin: &pin})
		return nil
	})
}

func (l *pluginList) find(name string) int {
	return slices.IndexFunc(l.Plugins, func(e Entry) bool { return e.Name == name })
}

// add adds an entry and removes others of its name or its folder.
func (l *pluginList) add(e Entry) {
	same := func(other Entry) bool { return other.Dir == e.Dir || other.Name == e.Name }
	l.Plugins = slices.DeleteFunc(l.Plugins, same)
	l.Plugins = append(l.Plugins, e)
	slices.SortFunc(l.Plugins, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
}

// RecordBuild records why the last build of a registered folder failed, nil for a success. For other folders it does
// nothing.
func RecordBuild(home, dir string, failure error) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	fault := ""
	if failure != nil {
		fault = strings.ReplaceAll(failure.Error(), "\n", "; ")
	}
	changed := func(e Entry) bool { return e.Dir == dir && e.BuildError != fault }
	list, err := readList(home)
	if err != nil || !slices.ContainsFunc(list.Plugins, changed) {
		return err
	}
	return editList(home, func(list *pluginList) error {
		for i := range list.Plugins {
			if list.Plugins[i].Dir == dir {
				list.Plugins[i].BuildError = fault
			}
		}
		return nil
	})
}

func buildOrLoad(ctx context.Context, dir string) (*plugin.Plugin, []Diagnostic, error) {
	if !HasSources(dir) {
		if _, err := os.Stat(filepath.Join(dir, "dist", plugin.ManifestFile)); err == nil {
			p, err := Load(dir)
			return p, nil, err
		}
		if IsPublished(dir) {
			return Published(ctx, dir)
		}
	}
	return Build(ctx, dir, Options{})
}

// Remove removes a plugin from the list. Its folder stays.
func Remove(home, name string) error {
	return editList(home, func(list *pluginList) error {
		before := len(list.Plugins)
		list.Plugins = slices.DeleteFunc(list.Plugins, func(e Entry) bool { return e.Name == name })
		if len(list.Plugins) < before {
			return nil
		}
		var names []string
		for _, e := range list.Plugins {
			names = append(names, e.Name)
		}
		if len(names) == 0 {
			return fmt.Errorf("there is no plugin %q to remove; none was added", name)
		}
		return fmt.Errorf("there is no plugin %q to remove; added are: %s", name, strings.Join(names, ", "))
	})
}

func readList(home string) (pluginList, error) {
	var list pluginList
	file := filepath.Join(home, installedFile)
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	}
	if err == nil && len(bytes.TrimSpace(raw)) == 0 {
		err = errors.New("it is empty")
	}
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		return list, &ListError{File: file, Err: err}
	}
	return list, nil
}

// ListError is the error for a list of plugins that cannot be read.
type ListError struct {
	File string
	Err  error
}

func (e *ListError) Error() string {
	return fmt.Sprintf("the list of plugins %s cannot be used: %v", e.File, e.Err)
}

func (e *ListError) Unwrap() error { return e.Err }

// Hint is the next step.
func (e *ListError) Hint() string {
	return "restore it from a backup; or remove it, and add your plugins again: tabrelay plugin add FOLDER"
}

// editList edits the list under a lock that other processes respect.
func editList(home string, edit func(*pluginList) error) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return fmt.Errorf("the plugins folder cannot be made: %w", err)
	}
	lock := flock.New(filepath.Join(home, installedFile+".lock"))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("the list of plugins cannot be locked: %w", err)
	}
	defer func() { _ = lock.Unlock() }()
	list, err := readList(home)
	if err != nil {
		return err
	}
	if err := edit(&list); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return fmt.Errorf("the list of plugins cannot be written: %w", err)
	}
	return diskfile.Write(filepath.Join(home, installedFile), append(raw, '\n'), 0o600)
}

// Offered returns the plugins that a relay offers: the shipped and the added ones. An added plugin replaces a shipped
// one of the same name.
func Offered(shipped []plugin.Plugin, added []Entry) []plugin.Plugin {
	var offered []plugin.Plugin
	for _, p := range shipped {
		if !slices.ContainsFunc(added, func(e Entry) bool { return e.Plugin != nil && e.Name == p.Manifest.Name }) {
			offered = append(offered, p)
		}
	}
	for _, e := range added {
		if e.Plugin != nil {
			offered = append(offered, *e.Plugin)
		}
	}
	slices.SortFunc(offered, func(a, b plugin.Plugin) int { return strings.Compare(a.Manifest.Name, b.Manifest.Name) })
	return offered
}
