package relay

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/plugin"
	"tabrelay/relay/registry"
	"tabrelay/relay/review"
	"tabrelay/relay/store"
)

// reviews decides which content of a person's plugins may run. It goes by the hash of what is in memory, which is what
// runs then: no file is read a second time. Plugins of the binary are not asked about here.
type reviews struct {
	required bool
	store    *store.Store
	log      zerolog.Logger

	mu       sync.Mutex // comes after offer.mu; the store's work is waited for while it is held
	decided  map[content]store.Review
	kept     map[string]string // by name: hash of the accepted content that served last, which the store has
	found    map[string]*found // by name: what lies in the folders now
	sessions []*developing     // `plugin dev`, the latest last
}

// content is one state of one plugin.
type content struct{ plugin, hash string }

// found is what lies in a plugin's folder.
type found struct {
	plugin  *plugin.Plugin
	source  string
	since   time.Time // when this content was first seen
	state   review.State
	serving string // hash of what is offered of the plugin; empty: nothing, or what the binary has
}

// developing is a `plugin dev` at a terminal: its author saw each build come about.
type developing struct {
	content
	plugin *plugin.Plugin // once it was offered
	seat   string         // names the run of plugin dev
}

// open reads what was decided.
func (v *reviews) open(ctx context.Context, s *store.Store, required bool, log zerolog.Logger) error {
	v.required, v.store, v.log = required, s, log
	v.decided, v.kept, v.found = map[content]store.Review{}, map[string]string{}, map[string]*found{}
	list, err := s.Reviews(ctx)
	for _, one := range list {
		v.decided[content{one.Plugin, one.Hash}] = one
		if one.Kept {
			v.kept[one.Plugin] = one.Hash
		}
	}
	return err
}

// require makes a review needed from now on.
func (v *reviews) require() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.required = true
}

// areRequired reports whether a review is needed.
func (v *reviews) areRequired() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.required
}

// admit takes out of added what no person accepted, and puts the content that they accepted last in its place if it is
// still to be had. withheld says of each plugin what that keeps from agents; news reports whether somebody should look.
func (v *reviews) admit(added []plugin.Entry) (withheld map[string]*registry.Withheld, news bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	before := v.found
	v.found, withheld = map[string]*found{}, map[string]*registry.Withheld{}
	for i := range added {
		e := &added[i]
		if e.Plugin == nil {
			continue // broken: nothing runs, and there is nothing to look at
		}
		f := &found{plugin: e.Plugin, source: sourceOf(e), since: time.Now().UTC(), state: v.state(e.Plugin)}
		if was := before[e.Name]; was != nil && was.plugin.Hash == f.plugin.Hash {
			f.since = was.since
		}
		v.found[e.Name] = f
		e.Plugin = v.serve(f)
		if e.Plugin != nil {
			f.serving = e.Plugin.Hash
		}
		if f.serving != f.plugin.Hash {
			withheld[e.Name] = f.withheld()
		}
	}
	same := func(a, b *found) bool {
		return a.plugin.Hash == b.plugin.Hash && a.state == b.state && a.serving == b.serving
	}
	return withheld, !maps.EqualFunc(before, v.found, same)
}

// state says how far a content is with its review.
func (v *reviews) state(p *plugin.Plugin) review.State {
	if !v.required {
		return review.Spared
	}
	switch v.decided[content{p.Manifest.Name, p.Hash}].Verdict {
	case store.Accepted:
		return review.Accepted
	case store.Refused:
		return review.Refused
	}
	return review.Waiting
}

// serve is what is offered of a plugin; nil when nothing may be.
func (v *reviews) serve(f *found) *plugin.Plugin {
	name := f.plugin.Manifest.Name
	switch f.state {
	case review.Spared:
		return f.plugin
	case review.Accepted:
		v.keep(f.plugin)
		return f.plugin
	case review.Refused: // also what its author saw come about
	default:
		for _, s := range slices.Backward(v.sessions) {
			if s.content == (content{name, f.plugin.Hash}) {
				s.plugin = f.plugin
				return f.plugin
			}
		}
		for _, s := range slices.Backward(v.sessions) {
			if s.content.plugin == name && s.plugin != nil {
				return s.plugin
			}
		}
	}
	return v.standIn(f.plugin)
}

// standIn is the accepted content of a plugin that served last.
func (v *reviews) standIn(p *plugin.Plugin) *plugin.Plugin {
	kept := v.lastAccepted(p.Manifest.Name)
	if kept == nil {
		return nil
	}
	one := *kept.Plugin
	one.Dir = p.Dir // for people: its files are not there any more
	return &one
}

// lastAccepted unpacks the accepted content of a plugin that served last; nil when there is none. Nothing is trusted for
// lying in the database: its hash is computed anew, and has to be one that was accepted.
func (v *reviews) lastAccepted(name string) *review.Content {
	if v.kept[name] == "" {
		return nil
	}
	hash, packed, err := v.store.ReviewedContent(context.Background(), name)
	if err != nil || hash == "" {
		v.complain(name, err)
		return nil
	}
	unpacked, err := review.Unpack(packed)
	if err != nil {
		v.complain(name, err)
		return nil
	}
	p := unpacked.Plugin
	if p.Manifest.Name != name || p.Hash != hash || v.decided[content{name, hash}].Verdict != store.Accepted {
		v.complain(name, fmt.Errorf("what is kept of it is not what was accepted"))
		return nil
	}
	return &unpacked
}

func (v *reviews) complain(name string, err error) {
	if err != nil {
		v.log.Error().Err(err).Str("plugin", name).Msg("the content that was accepted last cannot be used")
	}
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
		v.log.Error().Err(err).Str("plugin", name).Msg("the accepted content is not kept; when the plugin changes, its tools are off until it is reviewed")
		return
	}
	v.kept[name] = p.Hash
}

// withheld says what is kept from agents.
func (f *found) withheld() *registry.Withheld {
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
func sourceOf(e *plugin.Entry) string {
	if e.Pin == nil {
		return "the folder " + e.Dir
	}
	if name, ok := strings.CutPrefix(e.Pin.From, "npm:"); ok {
		return strings.TrimSpace("the package " + name + " " + e.Pin.Version)
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

// list tells of the plugins in a person's folders, sorted by name.
func (v *reviews) list() []ReviewStatus {
	v.mu.Lock()
	defer v.mu.Unlock()
	list := []ReviewStatus{}
	for _, name := range slices.Sorted(maps.Keys(v.found)) {
		f := v.found[name]
		one := ReviewStatus{Plugin: name, Title: review.Legible(f.plugin.Manifest.DisplayName), Hash: f.plugin.Hash, State: f.state, New: f.serving == "", Since: f.since, Serving: f.serving}
		if f.state == review.Waiting && f.serving == f.plugin.Hash {
			one.State = review.Developing
		}
		list = append(list, one)
	}
	return list
}

// waiting are those that a person should look at.
func (v *reviews) waiting() []ReviewStatus {
	return slices.DeleteFunc(v.list(), func(s ReviewStatus) bool { return s.State != review.Waiting })
}
