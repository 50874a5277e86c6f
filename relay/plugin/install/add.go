package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"tabrelay/relay/plugin/build"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
)

// Source is where a plugin comes from, as a person writes it: a folder, a tarball, a repository, or the name of a
// package.
type Source struct {
	From     string
	Registry string // of packages; empty: the one that npm is configured for
	Dir      string // whose .npmrc counts, too; empty: none

	// GitBytes is how much a repository may take on disk while it is fetched (pluginSources.gitBytes).
	GitBytes int64

	// Shipped are the names of plugins in the program. A plugin from elsewhere takes one of them only when Replace
	// says that name.
	Shipped []string
	Replace string

	// Again is how this person names another source; nil: as it is.
	Again func(from string) string

	// Retry is the command that takes the place of the plugin of that name, as this person writes it; nil: plugin add.
	Retry func(name string) string
}

// Step tells what goes on; what it returns is called when that has ended.
type Step func(what string) (ended func())

// SpelledError is the error for a source that cannot be one.
type SpelledError struct{ Err error }

func (e *SpelledError) Error() string { return e.Err.Error() }
func (e *SpelledError) Unwrap() error { return e.Err }

// Add offers the plugin of a source: a folder is built and stays where it is, everything else is unpacked into the
// plugins folder home. It does not run before it was reviewed.
func Add(ctx context.Context, home string, s Source, step Step) (*plugin.Plugin, []build.Diagnostic, error) {
	if s.IsFolder() {
		defer step("Building " + s.From)()
		return build.AddIf(ctx, home, s.From, func(p *plugin.Plugin) error { return s.PermitFolder(home, p) })
	}
	if err := s.checkMeant(home); err != nil {
		return nil, nil, err
	}
	c, err := s.Prepare(ctx, home, step)
	if err != nil {
		return nil, nil, err
	}
	if err := c.Install(false); err != nil {
		return nil, c.Found, errors.Join(err, c.Discard())
	}
	return c.Plugin, c.Found, nil
}

// Prepare fetches and checks the plugin of a source that is no folder, without offering it.
func (s Source) Prepare(ctx context.Context, home string, step Step) (*Candidate, error) {
	fetched := step("Fetching " + s.From)
	p, err := s.fetch(ctx)
	fetched()
	if err != nil {
		return nil, err
	}
	defer step("Looking at what is in " + s.From)()
	c, err := Prepare(ctx, home, p, s.Npm)
	if err != nil {
		return nil, err
	}
	entry := build.Entry{Name: c.Plugin.Manifest.Name, Pin: &c.pin}
	err = entry.Permit(c.Plugin.Hash)
	if err == nil {
		err = s.checkName(c.Plugin.Manifest.Name)
	}
	if err != nil {
		return nil, errors.Join(err, c.Discard())
	}
	return c, nil
}

// PermitFolder is the error of the plugin in a folder that may not have its name; nil: it may. One that was added under
// it keeps it.
func (s Source) PermitFolder(home string, p *plugin.Plugin) error {
	before, err := build.Find(home, p.Manifest.Name)
	if err == nil && before != nil && before.Dir == p.Dir && s.Replace == "" {
		return nil
	}
	return errors.Join(err, s.checkName(p.Manifest.Name))
}

// checkName refuses a plugin that takes the name of one in the program, with its settings and rules, unless the person
// named it. A name says nothing about whom a plugin is from.
func (s Source) checkName(name string) error {
	switch {
	case s.Replace != "" && s.Replace != name:
		return fmt.Errorf("the plugin of %s is called %s, not %s", s.From, name, s.Replace)
	case s.Replace == "" && slices.Contains(s.Shipped, name):
		retry := "tabrelay plugin add --replace " + name + " " + s.From
		if s.Retry != nil {
			retry = s.Retry(name)
		}
		return fault.Hinted(fmt.Errorf("the plugin of %s is called %s, as one that comes with tabrelay, so it was not "+
			"added: it would take its place, with its settings and the rules about it", s.From, name),
			"if that is what you want: "+retry+"; to have both, its author has to give it another name")
	}
	return nil
}

// IsFolder reports whether a source is a folder, or looks like one that is not there.
func (s Source) IsFolder() bool {
	info, err := os.Stat(s.From)
	looks := strings.HasPrefix(s.From, ".") || strings.HasPrefix(s.From, "/") || strings.HasSuffix(s.From, "/")
	return err == nil && info.IsDir() || err != nil && looks && !s.isTarball()
}

func (s Source) isTarball() bool {
	return strings.HasSuffix(s.From, ".tgz") || strings.HasSuffix(s.From, ".tar.gz")
}

func (s Source) fetch(ctx context.Context) (*Package, error) {
	if s.isTarball() {
		return ReadTarball(s.From)
	}
	if repository, ok, err := ParseRepository(s.From); ok {
		if err != nil {
			return nil, &SpelledError{err}
		}
		return repository.Fetch(ctx, s.GitBytes)
	}
	spec, err := ParseSpec(strings.TrimPrefix(s.From, fromRegistry))
	if err != nil {
		return nil, &SpelledError{err}
	}
	c, err := s.Npm(ctx)
	if err != nil {
		return nil, err
	}
	return c.Fetch(ctx, spec)
}

// Npm is the registry of packages that counts for a source.
func (s Source) Npm(ctx context.Context) (*Config, error) {
	person, _ := os.UserHomeDir() // without a home folder there is no configuration of the user
	c, err := ReadConfig(os.Getenv, s.Dir, person)
	if err != nil {
		return nil, err
	}
	if s.Registry != "" {
		c.Use(s.Registry)
	} else {
		c.AskNpm(ctx)
	}
	return c, nil
}
