// Package install brings plugins from elsewhere: from a tarball, or from a package registry by name. What it brings is
// verified before it is unpacked, unpacked where nothing of it can escape, and pinned: a plugin whose files are not the
// ones that were installed is not offered.
package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tabrelay/relay/plugin/build"
	"tabrelay/relay/road/plugin"
)

// packagesDir is where plugins from elsewhere are kept, in the plugins folder of the home.
const packagesDir = "packages"

const (
	fromRegistry = "npm:"
	fromFile     = "file:"
)

// ReadTarball takes a tarball from a file, as `npm pack` makes it.
func ReadTarball(file string) (*Package, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("the tarball cannot be read: %w", err)
	}
	if !info.Mode().IsRegular() { // a device or a pipe may have no end
		return nil, fmt.Errorf("%s is not a file", file)
	}
	if info.Size() > maxTarball {
		return nil, fmt.Errorf("the tarball %s has %d bytes, more than %d", file, info.Size(), maxTarball)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the tarball cannot be read: %w", err)
	}
	return &Package{Spec: Spec{Name: file}, Integrity: integrityOf(content), Tarball: content}, nil
}

func (p *Package) source() string {
	if p.From != "" {
		return p.From
	}
	if filepath.IsAbs(p.Spec.Name) {
		return fromFile + p.Spec.Name
	}
	return fromRegistry + p.Spec.String()
}

// Candidate is a plugin that is unpacked and sound, and not offered yet.
type Candidate struct {
	Plugin *plugin.Plugin
	Found  []build.Diagnostic // warnings of its build
	home   string
	dir    string
	lock   io.Closer // until it is installed or discarded
	pin    build.Pin
}

// Prepare unpacks a package into the plugins folder. One with build output is taken as it was built; another one,
// also one that was built for OpenTabs, is built, with the packages that its lock file names, which come from registry.
// None of its code runs with access to anything.
func Prepare(ctx context.Context, home string, p *Package, registry func(context.Context) (*Config, error)) (
	_ *Candidate, err error) {
	parent := filepath.Join(home, packagesDir)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, fmt.Errorf("the folder of installed plugins cannot be made: %w", err)
	}
	lock, err := hold(home)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(parent, newPrefix)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the package cannot be unpacked: %w", err), lock.Close())
	}
	c := &Candidate{home: home, dir: dir, lock: lock,
		pin: build.Pin{From: p.source(), Version: p.Version, Registry: p.Registry, Integrity: p.Integrity}}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Discard())
		}
	}()
	isCommit := strings.HasPrefix(p.From, fromGit)
	if err := unpack(bytes.NewReader(p.Tarball), dir, isCommit); err != nil {
		return nil, fmt.Errorf("%s was not installed: %w", p.Spec, err)
	}
	if err := c.read(ctx, registry); err != nil {
		return nil, fmt.Errorf("%s was not installed: %w", p.Spec, err)
	}
	c.pin.Hash = c.Plugin.Hash
	return c, nil
}

func (c *Candidate) read(ctx context.Context, registry func(context.Context) (*Config, error)) (err error) {
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(c.dir, filepath.FromSlash(name)))
		return err == nil
	}
	switch {
	case there("dist/manifest.json"):
		c.Plugin, err = build.Load(c.dir)
	case build.IsPublished(c.dir):
		c.Plugin, c.Found, err = build.Published(ctx, c.dir)
	case build.HasSources(c.dir):
		if err := c.dependencies(ctx, registry); err != nil {
			return err
		}
		c.Plugin, c.Found, err = build.Build(ctx, c.dir, build.Options{})
	default:
		err = errors.New("it is not a plugin: it has neither dist/manifest.json, which tabrelay plugin build " +
			"makes, nor " +
			"src/index.ts, nor dist/tools.json and dist/adapter.iife.js of a package for OpenTabs")
	}
	return err
}

// OtherOrigin says where an installed plugin and the candidate are from if that is not the same repository, package and
// registry; both are empty when it is.
func (c *Candidate) OtherOrigin(installed build.Pin) (was, is string) {
	if origin(installed.From) == origin(c.pin.From) && !c.OtherRegistry(installed) {
		return "", ""
	}
	return described(installed), described(c.pin)
}

// OtherRegistry reports whether the candidate is a package of the installed one's name from another registry, or
// perhaps from another one: nobody needs to have named it, since npm's configuration may have changed.
func (c *Candidate) OtherRegistry(installed build.Pin) bool {
	return origin(installed.From) == origin(c.pin.From) && installed.Registry != c.pin.Registry
}

// described is where a pin is from, for a person.
func described(pin build.Pin) string {
	switch {
	case !strings.HasPrefix(pin.From, fromRegistry):
		return pin.From
	case pin.Registry == "":
		return pin.From + " of a registry that was not written down"
	}
	return pin.From + " of " + pin.Registry
}

// origin is the source of a pin without its version: a tarball is from the person, wherever it is.
func origin(from string) string {
	if repository, ok := strings.CutPrefix(from, fromGit); ok {
		address, _, _ := strings.Cut(repository, "#")
		return fromGit + address
	}
	if name, ok := strings.CutPrefix(from, fromRegistry); ok {
		spec, _ := ParseSpec(name)
		return fromRegistry + spec.Name
	}
	return fromFile
}

// Discard removes what was unpacked.
func (c *Candidate) Discard() error { return errors.Join(os.RemoveAll(c.dir), c.lock.Close()) }

// Install offers the candidate. With replace it takes the place of the installed plugin of its name, whose files go.
func (c *Candidate) Install(replace bool) error {
	name := c.Plugin.Manifest.Name
	dir := filepath.Join(c.home, packagesDir, fmt.Sprintf("%s-%.12s", name, c.Plugin.Hash))
	before, err := build.Find(c.home, name)
	if err != nil {
		return err
	}
	if before != nil && !replace {
		from := "the folder " + before.Dir
		if before.Pin != nil {
			from = described(*before.Pin)
		}
		return fmt.Errorf("there is already a plugin %s, from %s, and this one is from %s; run: tabrelay plugin "+
			"update %s, or first: tabrelay plugin remove %s", name, from, described(c.pin), name, name)
	}
	if err := c.move(dir); err != nil {
		return err
	}
	if err := build.RegisterPinned(c.home, c.Plugin, c.pin); err != nil {
		return err
	}
	if before != nil && before.Pin != nil && before.Dir != dir {
		err = os.RemoveAll(before.Dir)
	}
	return errors.Join(err, c.lock.Close())
}

// move gives the unpacked folder its name. A folder of that name has the same content, or was tampered with.
func (c *Candidate) move(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("an older copy of the plugin cannot be removed: %w", err)
	}
	if err := os.Rename(c.dir, dir); err != nil {
		return fmt.Errorf("the plugin cannot be put in its place: %w", err)
	}
	c.dir, c.Plugin.Dir = dir, dir
	return nil
}

// Installed returns an installed plugin, and where a newer one of it is looked for: a package's name, or a file.
func Installed(home, name string) (entry *build.Entry, from string, err error) {
	entry, err = build.Find(home, name)
	switch {
	case err != nil:
		return nil, "", err
	case entry == nil:
		return nil, "", fmt.Errorf("there is no plugin %q to update", name)
	case entry.Pin == nil:
		return nil, "", fmt.Errorf("%s is a folder of yours, %s; run: tabrelay plugin build %s", name, entry.Dir,
			entry.Dir)
	}
	if file, ok := strings.CutPrefix(entry.Pin.From, fromFile); ok {
		return entry, file, nil
	}
	if repository, ok := strings.CutPrefix(entry.Pin.From, fromGit); ok {
		if address, ref, _ := strings.Cut(repository, "#"); commitForm.MatchString(ref) {
			repository = address // the commit that it is pinned to is no newer one
		}
		return entry, repository, nil
	}
	spec, err := ParseSpec(strings.TrimPrefix(entry.Pin.From, fromRegistry))
	if spec.Version != "" && spec.Version[0] >= '0' && spec.Version[0] <= '9' {
		spec.Version = "" // the version that it is pinned to is no newer one
	}
	return entry, fromRegistry + spec.String(), err
}

// Remove forgets a plugin, and deletes the files of one that was installed. A person's own folder stays.
func Remove(home, name string) error {
	entry, err := build.Find(home, name)
	if err != nil {
		return err
	}
	if err := build.Remove(home, name); err != nil {
		return err
	}
	if entry != nil && entry.Pin != nil {
		return os.RemoveAll(entry.Dir)
	}
	return nil
}

// Library puts a package into dir/node_modules, for a plugin to bundle. It takes only one that needs no others, and
// whose version is not there: resolving dependencies is left to npm.
func (c *Config) Library(ctx context.Context, dir string, spec Spec) (*Package, error) {
	if _, err := os.Stat(filepath.Join(dir, "package.json")); err != nil {
		return nil, fmt.Errorf("%s has no package.json, so it is not a plugin's folder", dir)
	}
	p, err := c.Fetch(ctx, spec)
	if err != nil {
		return nil, err
	}
	if len(p.Dependencies) > 0 {
		var needs []string
		for name := range p.Dependencies {
			needs = append(needs, name)
		}
		return nil, fmt.Errorf("%s needs other packages (%s); use npm install for it", spec, strings.Join(needs, ", "))
	}
	target := filepath.Join(dir, "node_modules", filepath.FromSlash(spec.Name))
	if info, err := os.Lstat(target); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("%s is a link, and stays as it is", target)
	}
	if err := os.RemoveAll(target); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(target, 0o755); err != nil {
		return nil, err
	}
	return p, Unpack(bytes.NewReader(p.Tarball), target)
}
