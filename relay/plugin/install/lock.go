package install

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tabrelay/relay/road/fault"
)

// maxLocked is how many packages a plugin with sources may be built with.
const maxLocked = 100

// lockNames are the files in which npm writes down what it installed, the first one that is there counts
// (https://docs.npmjs.com/cli/v11/configuring-npm/package-lock-json).
var lockNames = []string{"npm-shrinkwrap.json", "package-lock.json"}

// provided are the packages that every plugin is built with, whatever its lock file says.
var provided = []string{"@tabrelay/plugin-sdk", "@opentabs-dev/plugin-sdk"}

// locked is one package of a lock file.
type locked struct {
	Name         string            `json:"name"` // where it is installed under another name
	Version      string            `json:"version"`
	Integrity    string            `json:"integrity"`
	Link         bool              `json:"link"`
	Dependencies map[string]string `json:"dependencies"`
	Peers        map[string]string `json:"peerDependencies"`
}

// needs are the names of what a package imports when it is bundled. Optional packages are left out: they are programs
// for one system.
func (l locked) needs(required map[string]string) (names []string) {
	for name := range required {
		if !slices.Contains(provided, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// dependencies puts the packages that the plugin's sources import into its node_modules, as its lock file pins them.
// Each comes from the registry that npm is configured for, has the content that the lock file says, and is only
// unpacked: no script of it runs. Packages that the plugin brings along stay as they are. Without a lock file nothing
// is fetched, and the build says what is missing.
func (c *Candidate) dependencies(ctx context.Context, registry func(context.Context) (*Config, error)) error {
	var own locked
	if err := readJSON(filepath.Join(c.dir, "package.json"), &own); err != nil {
		return err
	}
	lock, err := c.readLock()
	if err != nil || lock == nil {
		return err
	}
	needed, err := lock.needed(own)
	if err != nil || len(needed) == 0 {
		return err
	}
	npm, err := registry(ctx)
	if err != nil {
		return err
	}
	for _, at := range needed {
		if err := c.fetchLocked(ctx, npm, at, lock.packages[at]); err != nil {
			return fmt.Errorf("the package in %s of its lock file: %w", at, err)
		}
	}
	return nil
}

// lockFile is what npm installed, by the folder of each package.
type lockFile struct {
	name     string
	packages map[string]locked
}

func (c *Candidate) readLock() (*lockFile, error) {
	for _, name := range lockNames {
		var content struct {
			Version  int               `json:"lockfileVersion"`
			Packages map[string]locked `json:"packages"`
		}
		err := readJSON(filepath.Join(c.dir, name), &content)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		case content.Version < 2:
			return nil, fault.Hinted(fmt.Errorf("its %s has lockfileVersion %d, and 2 or 3 can be read", name,
				content.Version), "its author makes a newer one with npm install")
		}
		return &lockFile{name, content.Packages}, nil
	}
	return nil, nil
}

func readJSON(file string, into any) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("its %s is not what npm writes: %w", filepath.Base(file), err)
	}
	return nil
}

// needed are the folders of all packages that a plugin's sources can import, directly or through others.
func (l *lockFile) needed(own locked) (folders []string, err error) {
	type need struct {
		by, name string
		peer     bool
	}
	var open []need
	add := func(by string, p locked) {
		for _, name := range p.needs(p.Dependencies) {
			open = append(open, need{by, name, false})
		}
		for _, name := range p.needs(p.Peers) {
			open = append(open, need{by, name, true})
		}
	}
	add("", own)
	for ; len(open) > 0; open = open[1:] {
		n := open[0]
		at, ok := l.find(n.by, n.name)
		switch {
		case !ok && n.peer: // npm leaves optional ones out
			continue
		case !ok:
			return nil, fault.Hinted(fmt.Errorf("its %s does not have %s, which it needs", l.name, n.name),
				"its author writes it again with npm install")
		case slices.Contains(folders, at):
			continue
		case len(folders) == maxLocked:
			return nil, fmt.Errorf("its %s has more than %d packages to build it with", l.name, maxLocked)
		}
		folders = append(folders, at)
		add(at, l.packages[at])
	}
	return folders, nil
}

// find is the folder in which Node finds a package by its name: the nearest node_modules, from inside to outside.
func (l *lockFile) find(from, name string) (folder string, ok bool) {
	if !nameForm.MatchString(name) { // which could lead out of node_modules
		return "", false
	}
	for {
		folder = path.Join(from, "node_modules", name)
		if _, ok = l.packages[folder]; ok || from == "" {
			return folder, ok
		}
		from = strings.TrimSuffix(from[:max(strings.LastIndex(from, "node_modules/"), 0)], "/")
	}
}

// fetchLocked unpacks one package to where the lock file has it.
func (c *Candidate) fetchLocked(ctx context.Context, npm *Config, at string, p locked) error {
	name := p.Name
	if name == "" {
		name = at[strings.LastIndex(at, "node_modules/")+len("node_modules/"):]
	}
	spec, err := ParseSpec(name + "@" + p.Version)
	switch {
	case p.Link || !versionForm.MatchString(p.Version):
		return errors.New("it does not come from a package registry")
	case err != nil:
		return err
	}
	sum, err := sha512Of(p.Integrity)
	if err != nil {
		return fault.Hinted(err, "its author makes a newer lock file with npm install")
	}
	into := filepath.Join(c.dir, filepath.FromSlash(at))
	if _, err := os.Lstat(into); err == nil {
		return nil // the plugin brings it along
	}
	fetched, err := npm.Fetch(ctx, spec)
	if err != nil {
		return err
	}
	if got, err := sha512Of(fetched.Integrity); err != nil || !bytes.Equal(got, sum) {
		return fmt.Errorf("the registry's %s is not the one that the lock file names", spec)
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	return Unpack(bytes.NewReader(fetched.Tarball), into)
}
