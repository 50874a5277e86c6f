package install

import (
	"cmp"
	"context"
	_ "embed" // of the index that this version came with
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gofrs/flock"

	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/lib/match"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
)

//go:embed index.json
var shippedIndex []byte

// indexFile is what a person's own index is kept in, in the plugins folder of the home.
const indexFile = "index.json"

// Index lists plugins that stand in folders of git repositories, where no package registry finds them.
type Index struct {
	Sources []IndexedRepository `json:"sources"`
}

// IndexedRepository is one repository at one commit, to which what it lists is pinned.
type IndexedRepository struct {
	Source  string          `json:"source"` // as plugin add takes it, without folder and commit
	Commit  string          `json:"commit"`
	Licence string          `json:"licence,omitempty"` // as its package.json says; empty: it says nothing
	Plugins []IndexedPlugin `json:"plugins"`
}

// IndexedPlugin is what a plugin says of itself.
type IndexedPlugin struct {
	Package     string   `json:"package"`
	Folder      string   `json:"folder"`
	Version     string   `json:"version"`
	DisplayName string   `json:"displayName"`
	Description string   `json:"description,omitempty"`
	URLPatterns []string `json:"urlPatterns"`
	Homepage    string   `json:"homepage,omitempty"`
	Tools       []string `json:"tools,omitempty"` // names; none where it was not built when the index was made
}

// Listing is a plugin of the index, and where it comes from.
type Listing struct {
	IndexedPlugin
	Name string // which the plugin will have
	of   IndexedRepository
}

// From is the source to add, pinned to a commit.
func (l Listing) From() string { return l.of.Source + "//" + l.Folder + "#" + l.of.Commit }

// Source is the repository.
func (l Listing) Source() string { return l.of.Source }

// Licence is that of the repository; empty: it names none.
func (l Listing) Licence() string { return l.of.Licence }

// ReadIndex reads the index that came with this version, and what the person's own in the plugins folder home says
// instead or besides.
func ReadIndex(home string) (Index, error) {
	index, err := parseIndex(shippedIndex)
	if err != nil {
		return index, fmt.Errorf("the index in this program: %w", err)
	}
	content, err := os.ReadFile(filepath.Join(home, indexFile))
	if errors.Is(err, fs.ErrNotExist) {
		return index, nil
	}
	own := Index{}
	if err == nil {
		own, err = parseIndex(content)
	}
	if err != nil {
		return index, fault.Hinted(fmt.Errorf("the index of plugins in %s cannot be used: %w",
			filepath.Join(home, indexFile), err), "tabrelay plugin index writes it anew; without it the shipped "+
			"one counts")
	}
	for _, r := range own.Sources {
		index.put(r)
	}
	return index, nil
}

// parseIndex returns an index of which everything can be added, with texts that can be shown; otherwise it says what
// cannot.
func parseIndex(content []byte) (index Index, err error) {
	if err := json.Unmarshal(content, &index); err != nil {
		return Index{}, fmt.Errorf("it is not an index in JSON: %w", err)
	}
	for i := range index.Sources {
		r := &index.Sources[i]
		r.Licence = oneLine(r.Licence)
		for k := range r.Plugins {
			p := &r.Plugins[k]
			p.Version, p.Description = oneLine(p.Version), oneLine(p.Description)
			p.DisplayName = cmp.Or(oneLine(p.DisplayName), p.Package) // it may have nothing that is seen
		}
	}
	for _, l := range index.All() {
		repository, ok, err := ParseRepository(l.From())
		if err == nil && (!ok || repository.Folder != l.Folder) {
			err = errors.New("it is not a repository")
		}
		if err != nil || !commitForm.MatchString(l.of.Commit) {
			return Index{}, fmt.Errorf("%q cannot be added: %w", l.From(), cmp.Or(err, errors.New("it has no commit")))
		}
	}
	return index, nil
}

// put replaces what is said of a repository, or adds it.
func (x *Index) put(r IndexedRepository) {
	x.Sources = slices.DeleteFunc(x.Sources, func(was IndexedRepository) bool { return was.Source == r.Source })
	x.Sources = append(x.Sources, r)
}

// All are all plugins of the index that can have a name.
func (x Index) All() (all []Listing) {
	for _, r := range x.Sources {
		for _, p := range r.Plugins {
			if name, err := plugin.NameOf(p.Package, false); err == nil {
				all = append(all, Listing{p, name, r})
			}
		}
	}
	return all
}

// Mentioning are the plugins of which a word begins with each of these: tea is in "Tea shop", and not in "Steam". One
// whose name the words are comes first.
func (x Index) Mentioning(words []string) []Listing {
	found := slices.DeleteFunc(x.All(), func(l Listing) bool {
		about := []string{l.Package, l.DisplayName, l.Description, l.Homepage}
		text := strings.ToLower(strings.Join(slices.Concat(about, l.URLPatterns, l.Tools), "\n"))
		return slices.ContainsFunc(words, func(w string) bool { return !begins(text, strings.ToLower(w)) })
	})
	named := func(l Listing) bool { return strings.EqualFold(l.Name, strings.Join(words, "-")) }
	slices.SortStableFunc(found, func(a, b Listing) int {
		switch {
		case named(a) == named(b):
			return 0
		case named(a):
			return -1
		}
		return 1
	})
	return found
}

// begins reports whether something that begins with prefix follows a character that is no part of a word.
func begins(text, prefix string) bool {
	for rest := text; ; {
		i := strings.Index(rest, prefix)
		if i < 0 {
			return false
		}
		before, size := utf8.DecodeLastRuneInString(text[:len(text)-len(rest)+i])
		if size == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			return true
		}
		_, first := utf8.DecodeRuneInString(rest[i:])
		rest = rest[i+first:]
	}
}

// For are the plugins that work on a page.
func (x Index) For(page *url.URL) []Listing {
	return slices.DeleteFunc(x.All(), func(l Listing) bool {
		return !slices.ContainsFunc(l.URLPatterns, func(text string) bool {
			p, err := match.Parse(text)
			return err == nil && p.Matches(page)
		})
	})
}

// UpdateIndex looks at all plugins of a repository and puts them into the person's index, in the plugins folder home.
// Each is fetched, built and read as for adding it, and none of them runs. It returns what the repository has now, and
// why folders that look like plugins are not among it.
func UpdateIndex(
	ctx context.Context, home string, s Source, step Step,
) (now IndexedRepository, left []error, err error) {
	r, ok, err := ParseRepository(s.From)
	if err == nil && (!ok || r.Folder != "") {
		err = fmt.Errorf("%q is not a repository, such as github:OWNER/REPO", s.From)
	}
	if err != nil {
		return now, nil, &SpelledError{err}
	}
	fetched := step("Fetching " + s.From)
	err = r.in(ctx, s.GitBytes, func(c clone) error {
		fetched()
		now, left, err = c.index(ctx, s, step)
		return err
	})
	if err != nil {
		return now, left, err
	}
	return now, left, keepIndexed(home, now)
}

// keepIndexed puts a repository into the person's index, one process at a time.
func keepIndexed(home string, now IndexedRepository) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	file := filepath.Join(home, indexFile)
	lock := flock.New(file+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("the index of plugins cannot be locked: %w", err)
	}
	own := Index{}
	if content, err := os.ReadFile(file); err == nil {
		own, _ = parseIndex(content) // one that cannot be used is replaced
	}
	own.put(now)
	content, err := json.MarshalIndent(own, "", "  ")
	if err == nil {
		err = diskfile.Write(file, append(content, '\n'), 0o600)
	}
	return errors.Join(err, lock.Close())
}

// index reads each plugin of the commit.
func (c clone) index(ctx context.Context, s Source, step Step) (now IndexedRepository, left []error, err error) {
	now = IndexedRepository{Source: strings.TrimSuffix(c.of.Text, "#"+c.of.Ref), Commit: c.commit}
	packages, err := c.files(ctx, "package.json")
	if err != nil {
		return now, nil, err
	}
	entries, err := c.files(ctx, "index.ts")
	if err != nil {
		return now, nil, err
	}
	for _, file := range packages {
		folder := path.Dir(file)
		if folder == "." {
			now.Licence = c.licence(ctx)
		}
		if !folderForm.MatchString(folder) || !slices.Contains(entries, path.Join(folder, "src", "index.ts")) {
			continue
		}
		ended := step("Looking at " + folder)
		p, err := c.look(ctx, folder, s)
		ended()
		switch {
		case ctx.Err() != nil:
			return now, left, context.Cause(ctx)
		case err != nil:
			left = append(left, fmt.Errorf("%s: %w", folder, err))
		default:
			now.Plugins = append(now.Plugins, p)
		}
	}
	if len(now.Plugins) == 0 {
		return now, left, errors.Join(append([]error{fmt.Errorf("%s has no folder with a plugin that "+
			"builds", c.of.Text)}, left...)...)
	}
	return now, left, nil
}

// look builds a plugin of the commit in a folder that goes again.
func (c clone) look(ctx context.Context, folder string, s Source) (listed IndexedPlugin, err error) {
	p, err := c.plugin(ctx, folder)
	if err != nil {
		return listed, err
	}
	home, err := os.MkdirTemp("", "tabrelay-index-")
	if err != nil {
		return listed, err
	}
	defer os.RemoveAll(home) // a folder of temporary files
	candidate, err := Prepare(ctx, home, p, s.Npm)
	if err != nil {
		return listed, err
	}
	var about struct {
		Name string `json:"name"`
	}
	err = errors.Join(readJSON(filepath.Join(candidate.dir, "package.json"), &about), candidate.Discard())
	m := candidate.Plugin.Manifest
	listed = IndexedPlugin{Package: about.Name, Folder: folder, Version: m.Version, DisplayName: m.DisplayName,
		Description: oneLine(m.Description), URLPatterns: m.URLPatterns, Homepage: m.Homepage}
	for _, t := range m.Tools {
		listed.Tools = append(listed.Tools, t.Name)
	}
	return listed, err
}

// licence is what the repository's package.json says.
func (c clone) licence(ctx context.Context) string {
	content, err := git(ctx, "-C", c.dir, "cat-file", "blob", c.commit+":package.json")
	var about struct {
		Licence string `json:"license"`
	}
	if err != nil || json.Unmarshal(content, &about) != nil {
		return ""
	}
	return oneLine(about.Licence)
}
