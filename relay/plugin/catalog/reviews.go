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

// Store keeps what a person decided about plugins, and what they say of tools.
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

// reviews decides which content of a person's plugins may run. It goes by the hash of what is in memory, which is what
// runs then: no file is read a second time. Plugins of the binary are not asked about here.
type reviews struct {
	store   Store
	log     zerolog.Logger
	decided map[content]store.Review
	kept    map[string]string // by name: hash of the accepted content that served last, which the store has
	devRuns []*devRun         // `plugin dev`, the latest last
}

// content is one state of one plugin.
type content struct{ plugin, hash string }

// folderContent is what lies in a plugin's folder. It does not change.
type folderContent struct {
	plugin  *plugin.Plugin
	source  string
	since   time.Time // when this content was first seen
	state   review.State
	serving string // hash of what is offered of the plugin; empty: nothing, or what the binary has
}

// devRun is a `plugin dev` at a terminal: its author saw each build come about.
type devRun struct {
	content
	plugin *plugin.Plugin // once it was offered
	run    string         // names the run of plugin dev
}

// read reads what was decided.
func (v *reviews) read(ctx context.Context, s Store, log zerolog.Logger) error {
	v.store, v.log = s, log
	v.decided, v.kept = map[content]store.Review{}, map[string]string{}
	list, err := s.Reviews(ctx)
	for _, one := range list {
		v.decided[content{one.Plugin, one.Hash}] = one
		if one.Kept {
			v.kept[one.Plugin] = one.Hash
		}
	}
	return err
}

// admit takes out of added what no person accepted, and puts the content that they accepted last in its place if it is
// still to be had. withheld says of each plugin what that keeps from agents. before is what was there until now.
func (v *reviews) admit(added []build.Entry, before *state) (all map[string]*folderContent,
	withheld map[string]*registry.Withheld) {
	v.dropRemoved(added)
	all, withheld = map[string]*folderContent{}, map[string]*registry.Withheld{}
	for i := range added {
		e := &added[i]
		if e.Plugin == nil {
			continue // broken: nothing runs, and there is nothing to look at
		}
		f := &folderContent{plugin: e.Plugin, source: sourceOf(e), since: time.Now().UTC(), state: review.NotRequired}
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

// sameReviews reports whether there is nothing new to look at.
func sameReviews(before, after map[string]*folderContent) bool {
	return maps.EqualFunc(before, after, func(a, b *folderContent) bool {
		return a.plugin.Hash == b.plugin.Hash && a.state == b.state && a.serving == b.serving
	})
}

// tellReviews tells that there is something new to look at.
func (c *Catalog) tellReviews() {
	c.options.Changed(event.TopicReviews)
	for _, one := range c.Waiting() {
		c.options.Log.Warn().Str("plugin", one.Plugin).Str("hash", one.Hash).Bool("new", one.New).
			Msg("the plugin waits for a person's review")
	}
}

// state says how far a content is with its review.
func (v *reviews) state(p *plugin.Plugin) review.State {
	switch v.decided[content{p.Manifest.Name, p.Hash}].Verdict {
	case store.Accepted:
		return review.Accepted
	case store.Refused:
		return review.Refused
	}
	return review.Waiting
}

// serve is what is offered of a plugin; nil when nothing may be.
func (v *reviews) serve(f *folderContent) *plugin.Plugin {
	name := f.plugin.Manifest.Name
	switch f.state {
	case review.NotRequired:
		return f.plugin
	case review.Accepted:
		v.keep(f.plugin)
		return f.plugin
	case review.Refused: // also what its author saw come about
	default:
		for _, s := range slices.Backward(v.devRuns) {
			if s.content == (content{name, f.plugin.Hash}) {
				s.plugin = f.plugin
				return f.plugin
			}
		}
		for _, s := range slices.Backward(v.devRuns) {
			if s.content.plugin == name && s.plugin != nil {
				return s.plugin
			}
		}
	}
	kept := v.lastAccepted(name)
	if kept == nil {
		return nil
	}
	standIn := *kept.Plugin
	standIn.Dir = f.plugin.Dir // for people: its files are not there any more
	return &standIn
}

// developed reports whether somebody works on this content of a plugin with `plugin dev`.
func (v *reviews) developed(p *plugin.Plugin) bool {
	return slices.ContainsFunc(v.devRuns, func(s *devRun) bool {
		return s.content == content{p.Manifest.Name, p.Hash}
	})
}

// lastAccepted unpacks the accepted content of a plugin that served last; nil when there is none. Nothing is trusted
// for lying in the database: its hash is computed anew, and has to be one that was accepted.
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
		(p.Manifest.Name != name || p.Hash != hash || v.decided[content{name, hash}].Verdict != store.Accepted) {
		err = errors.New("what is kept of it is not what was accepted")
	}
	if err != nil {
		v.log.Error().Err(err).Str("plugin", name).Msg("the content that was accepted last cannot be used")
		return nil
	}
	return &unpacked
}

// keep makes an accepted content the one that stands in for a later one.
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

// dropRemoved lets nothing stand in for plugins that were removed: another one of the name, added later, is a new one.
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

// withholding says what is kept from agents.
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
		return strings.TrimSpace("the package " + name + " " + e.Pin.Version)
	}
	if repository, ok := strings.CutPrefix(e.Pin.From, "git:"); ok {
		return fmt.Sprintf("the repository %s at %.12s", repository, e.Pin.Version)
	}
	return "the file " + strings.TrimPrefix(e.Pin.From, "file:")
}

// ReviewStatus is how far one of a person's plugins is with its review.
type ReviewStatus struct {
	Plugin  string       `json:"plugin"`
	Title   string       `json:"title"`
	Hash    string       `json:"hash"`
	State   review.State `json:"state"`
	New     bool         `json:"new"` // no content of it serves
	Since   time.Time    `json:"since"`
	Serving string       `json:"serving,omitempty"` // hash of what is offered of it
}

// Reviews tells of the plugins in a person's folders, sorted by name, and whether a review is required.
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

// Waiting are those that a person should look at.
func (c *Catalog) Waiting() []ReviewStatus {
	list, _ := c.Reviews()
	return slices.DeleteFunc(list, func(s ReviewStatus) bool { return s.State != review.Waiting })
}
