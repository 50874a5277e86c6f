package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/plugin/build"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/store"
)

// Store keeps reviews of plugins, and hints about their tools.
type Store interface {
	Hints(ctx context.Context) ([]store.Hint, error)
	SetHints(ctx context.Context, hints []store.Hint) error
	DropHints(ctx context.Context, plugin string) ([]store.Hint, error)
	Reviews(ctx context.Context) ([]store.Review, error)
	AddReview(ctx context.Context, r store.Review, content []byte) error
	KeepContent(ctx context.Context, plugin, hash string, content []byte) error
	DropContent(ctx context.Context, plugin string) error
	ReviewedContent(ctx context.Context, plugin string) (hash string, content []byte, err error)
}

// reviews decides which content of an added plugin may run. It checks the hash of the content in memory, which is also
// what then runs: reading the file again could give another one. Shipped plugins need no review.
type reviews struct {
	store   Store
	log     zerolog.Logger
	decided map[ContentID]store.Review
	kept    map[string]string // by plugin: hash of the last accepted content, which the store has
	devRuns []*devRun         // `plugin dev`, the latest last
}

// folderContent is the content of a plugin's folder when it was last read, accepted or not.
type folderContent struct {
	plugin  *plugin.Plugin
	source  string    // in words
	pin     string    // as a policy names it
	since   time.Time // when this content was first seen
	state   review.State
	serving string // hash of the content that is offered; empty: none of this folder
}

// devRun is one build of a running `plugin dev`. It needs no review: its author makes each build.
type devRun struct {
	content ContentID
	offered *plugin.Plugin // nil until it is offered
	run     string         // id of the run of plugin dev
}

// read loads the reviews from the store.
func (v *reviews) read(ctx context.Context, s Store, log zerolog.Logger) error {
	v.store, v.log = s, log
	v.decided, v.kept = map[ContentID]store.Review{}, map[string]string{}
	list, err := s.Reviews(ctx)
	for _, one := range list {
		v.decided[ContentID{one.Plugin, one.Hash}] = one
		if one.Kept {
			v.kept[one.Plugin] = one.Hash
		}
	}
	return err
}

// admit replaces each plugin in added that is not accepted with its last accepted content, or with nil if none is kept.
// withheld has, by plugin, the tools that agents do not get because of that. before is the previous state.
func (v *reviews) admit(added []build.Entry, before *state) (all map[string]*folderContent,
	withheld map[string]*registry.Withheld) {
	v.dropRemoved(added)
	all, withheld = map[string]*folderContent{}, map[string]*registry.Withheld{}
	for i := range added {
		e := &added[i]
		if e.Plugin == nil {
			continue // broken: there is nothing to run or to review
		}
		f := &folderContent{plugin: e.Plugin, source: sourceOf(e), pin: e.Source(), since: time.Now().UTC(),
			state: review.NotRequired}
		if before.required {
			f.state = v.state(e.Plugin)
		}
		if was := before.onDisk[e.Name]; was != nil && was.plugin.Hash == f.plugin.Hash {
			f.since = was.since
		}
		if e.Plugin = v.serve(f); e.Plugin != nil {
			f.serving = e.Plugin.Hash
		}
		if f.serving != f.plugin.Hash {
			withheld[e.Name] = f.withholding()
		}
		all[e.Name] = f
	}
	return all, withheld
}

// sameReviews reports whether contents and states of reviews are the same in both.
func sameReviews(before, after map[string]*folderContent) bool {
	return maps.EqualFunc(before, after, func(a, b *folderContent) bool {
		return a.plugin.Hash == b.plugin.Hash && a.state == b.state && a.serving == b.serving
	})
}

// tellReviews logs the plugins that wait for a review, and has panels show them.
func (c *Catalog) tellReviews() {
	c.options.Changed(event.TopicReviews)
	for _, one := range c.Waiting() {
		c.options.Log.Warn().Str("plugin", one.Plugin).Str("hash", one.Hash).Bool("new", one.New).
			Msg("the plugin waits for a person's review")
	}
}

// state returns the state of the review of a content.
func (v *reviews) state(p *plugin.Plugin) review.State {
	switch v.decided[ContentID{p.Manifest.Name, p.Hash}].Verdict {
	case store.Accepted:
		return review.Accepted
	case store.Refused:
		return review.Refused
	}
	return review.Waiting
}

// serve returns the content of a plugin to offer; nil when there is none.
func (v *reviews) serve(f *folderContent) *plugin.Plugin {
	name := f.plugin.Manifest.Name
	switch f.state {
	case review.NotRequired:
		return f.plugin
	case review.Accepted:
		v.keep(f.plugin)
		return f.plugin
	case review.Refused: // a refused content is off in plugin dev, too
	default:
		for _, s := range slices.Backward(v.devRuns) {
			if s.content == (ContentID{name, f.plugin.Hash}) {
				s.offered = f.plugin
				return f.plugin
			}
		}
		for _, s := range slices.Backward(v.devRuns) {
			if s.content.Plugin == name && s.offered != nil {
				return s.offered
			}
		}
	}
	kept := v.lastAccepted(name)
	if kept == nil {
		return nil
	}
	standIn := *kept.Plugin
	standIn.Dir = f.plugin.Dir // only shown: the files in it are of the newer content
	return &standIn
}

// developed reports whether a content is the build of a running `plugin dev`.
func (v *reviews) developed(p *plugin.Plugin) bool {
	return slices.ContainsFunc(v.devRuns, func(s *devRun) bool {
		return s.content == ContentID{p.Manifest.Name, p.Hash}
	})
}

// lastAccepted unpacks the last accepted content of a plugin; nil when there is none. The database is not trusted: the
// hash is computed from the content, and has to be an accepted one.
func (v *reviews) lastAccepted(name string) *review.Content {
	if v.kept[name] == "" {
		return nil
	}
	hash, packed, err := v.store.ReviewedContent(context.Background(), name)
	if err == nil && hash == "" {
		return nil
	}
	var unpacked review.Content
	if err == nil {
		unpacked, err = review.Unpack(packed)
	}
	if p := unpacked.Plugin; err == nil &&
		(p.Manifest.Name != name || p.Hash != hash || v.decided[ContentID{name, hash}].Verdict != store.Accepted) {
		err = errors.New("what is kept of it is not what was accepted")
	}
	if err != nil {
		v.log.Error().Err(err).Str("plugin", name).Msg("the content that was accepted last cannot be used")
		return nil
	}
	return &unpacked
}

// keep stores an accepted content, which is offered when a later one waits for its review.
func (v *reviews) keep(p *plugin.Plugin) {
	name := p.Manifest.Name
	if v.kept[name] == p.Hash {
		return
	}
	packed, err := review.Read(p).Pack()
	if err == nil {
		err = v.store.KeepContent(context.Background(), name, p.Hash, packed)
	}
	if err != nil {
		v.log.Error().Err(err).Str("plugin", name).
			Msg("the accepted content is not kept; when the plugin changes, its tools are off until it is reviewed")
		return
	}
	v.kept[name] = p.Hash
}

// dropRemoved deletes the kept contents of plugins that were removed: a plugin that is added later under the same name
// must not inherit them.
func (v *reviews) dropRemoved(added []build.Entry) {
	for name := range v.kept {
		if slices.ContainsFunc(added, func(e build.Entry) bool { return e.Name == name }) {
			continue
		}
		if err := v.store.DropContent(context.Background(), name); err != nil {
			v.log.Error().Err(err).Str("plugin", name).Msg("the content of a removed plugin is still kept")
		}
		delete(v.kept, name)
	}
}

// withholding returns the tools that agents do not get, and why.
func (f *folderContent) withholding() *registry.Withheld {
	name := f.plugin.Manifest.Name
	w := &registry.Withheld{Tools: []string{}}
	for _, t := range f.plugin.Manifest.Tools {
		w.Tools = append(w.Tools, t.Name)
	}
	switch {
	case f.state == review.Refused:
		w.Why = "a person refused this content of the plugin " + name
	case f.serving != "":
		w.Why = "the plugin " + name + " has changed, and nobody has reviewed the change yet"
	default:
		w.Why = "nobody has reviewed the plugin " + name + " as it is now"
	}
	return w
}

// sourceOf says where a plugin came from.
func sourceOf(e *build.Entry) string {
	if e.Pin == nil {
		return "the folder " + e.Dir
	}
	if name, ok := strings.CutPrefix(e.Pin.From, "npm:"); ok {
		from := strings.TrimSpace("the package " + name + " " + e.Pin.Version)
		if e.Pin.Registry != "" {
			from += " of " + e.Pin.Registry
		}
		return from
	}
	if repository, ok := strings.CutPrefix(e.Pin.From, "git:"); ok {
		return fmt.Sprintf("the repository %s at %.12s", repository, e.Pin.Version)
	}
	return "the file " + strings.TrimPrefix(e.Pin.From, "file:")
}

// ReviewStatus is the state of the review of one added plugin.
type ReviewStatus struct {
	Plugin  string       `json:"plugin"`
	Title   string       `json:"title"`
	Hash    string       `json:"hash"`
	State   review.State `json:"state"`
	New     bool         `json:"new"` // no content of it is offered
	Since   time.Time    `json:"since"`
	Serving string       `json:"serving,omitempty"` // hash of the content that is offered
}

// Reviews returns the state of all added plugins, sorted by name, and whether reviews are required.
func (c *Catalog) Reviews() (list []ReviewStatus, required bool) {
	now := c.current.Load()
	list = []ReviewStatus{}
	for _, name := range slices.Sorted(maps.Keys(now.onDisk)) {
		f := now.onDisk[name]
		one := ReviewStatus{
			Plugin: name, Title: review.Legible(f.plugin.Manifest.DisplayName), Hash: f.plugin.Hash, State: f.state,
			New: f.serving == "", Since: f.since, Serving: f.serving,
		}
		if f.state == review.Waiting && f.serving == f.plugin.Hash {
			one.State = review.Developing
		}
		list = append(list, one)
	}
	return list, now.required
}

// Waiting returns the plugins that wait for a review.
func (c *Catalog) Waiting() []ReviewStatus {
	list, _ := c.Reviews()
	return slices.DeleteFunc(list, func(s ReviewStatus) bool { return s.State != review.Waiting })
}
