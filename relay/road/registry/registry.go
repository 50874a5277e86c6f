// Package registry knows the tools that exist now. A snapshot of them is immutable; a change builds a candidate
// beside it, and swaps it in only when it is sound. One bad tool or plugin is left out, with the reason, and never
// takes the others with it.
package registry

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
)

// maxListing bounds what tools/list may become; a candidate above it is refused as a whole.
const maxListing = 100 << 20

// Snapshot is every tool that exists at one moment. It never changes.
type Snapshot struct {
	Generation uint64
	Tools      []*Tool   // sorted by name
	Sites      []*Site   // the enabled plugins with their configuration, sorted by plugin name
	Problems   []Problem // what was left out or needs a person, and why
	Listing    uint64    // differs when what tools/list answers differs, but for the tools of pages
	Pages      uint64    // differs when these differ there
	byName     map[string]*Tool
	withheld   map[string]string // why, by the name of a tool that is not there
}

// Problem is one thing a person should know about a plugin.
type Problem struct {
	Plugin string `json:"plugin,omitempty"` // its name; empty when a configured plugin is not installed
	Reason string `json:"reason"`           // one sentence
}

// Find returns the tool of that name.
func (s *Snapshot) Find(name string) (*Tool, bool) {
	t, ok := s.byName[name]
	return t, ok
}

// Withheld is what a call of a tool fails with that is off because no person accepted it, or switched it on; nil for
// every other name.
func (s *Snapshot) Withheld(name string) *fault.Error {
	why, ok := s.withheld[name]
	if !ok {
		return nil
	}
	if why == switchedOff {
		return fault.New(fault.PermissionDenied, "The tool "+name+" is off: "+why, fault.WithOutcome(fault.NotExecuted),
			fault.WithHint("Do not look for a way around it. The person can switch these tools on with: tabrelay "+
				"config set plugins."+plugin.OptIn+".enabled true"))
	}
	return fault.New(fault.PluginNotReviewed, "The tool "+name+" is off: "+why)
}

// switchedOff is why the tools of plugin.OptIn are off.
const switchedOff = "the tools of " + plugin.OptIn + ", for developers, are switched off"

// Registry holds the current snapshot.
type Registry struct {
	current   atomic.Pointer[Snapshot]
	builtins  atomic.Pointer[[]*Tool]
	pageTools atomic.Pointer[[]PageTool]
	seed      maphash.Seed

	change    lock.Mutex // serializes announcements; held while listeners run, which must not wait for anything
	schemas   *schemas
	listeners []*listener
}

type listener struct{ announce func(*Snapshot) }

// New makes a registry with the built-in tools. They are part of the program, so a bad one is a bug: New panics.
func New(builtins []Tool) *Registry {
	r := &Registry{seed: maphash.MakeSeed(), schemas: newSchemas(nil)}
	r.accept(builtins)
	r.current.Store(r.snapshot(nil, nil, nil, nil))
	return r
}

// accept takes the built-in tools over.
func (r *Registry) accept(builtins []Tool) {
	list := make([]*Tool, len(builtins))
	for i := range builtins {
		t := builtins[i]
		if err := t.accept(r.schemas); err != nil {
			panic(fmt.Sprintf("registry: built-in tool %s: %v", t.Name, err))
		}
		list[i] = &t
	}
	r.builtins.Store(&list)
}

// Sound says why a tool cannot be a built-in one, nil when it can. It is for tools that are not part of the program.
func Sound(t Tool) error { return t.accept(newSchemas(nil)) }

// SetBuiltins replaces the built-in tools, and announces that. A bad one is a bug: it panics.
func (r *Registry) SetBuiltins(builtins []Tool) {
	r.change.Lock()
	defer r.change.Unlock()
	now := r.Snapshot()
	r.accept(builtins)
	r.publish(r.snapshot(now.Sites, ofPlugins(now.Tools), now.Problems, now.withheld))
}

// Snapshot returns the tools that exist now.
func (r *Registry) Snapshot() *Snapshot { return r.current.Load() }

// OnChange announces every new snapshot, one after the other, until stop is called. announce must not change
// the registry.
func (r *Registry) OnChange(announce func(*Snapshot)) (stop func()) {
	r.change.Lock()
	defer r.change.Unlock()
	l := &listener{announce}
	r.listeners = append(r.listeners, l)
	return func() {
		r.change.Lock()
		defer r.change.Unlock()
		r.listeners = slices.DeleteFunc(r.listeners, func(other *listener) bool { return other == l })
	}
}

// Candidate is a snapshot that is not published yet.
type Candidate struct {
	Snapshot *Snapshot
	schemas  *schemas
}

// Prepare makes a snapshot of the tools of these plugins, and of no others. configured holds what a person configured,
// by plugin name; a plugin without an entry has none. What is wrong with one plugin becomes a problem of the new
// snapshot; an error means that the candidate as a whole was refused. One candidate is made at a time.
func (r *Registry) Prepare(plugins []plugin.Plugin, configured map[string]Configured) (*Candidate, error) {
	r.change.Lock()
	before := r.schemas
	r.change.Unlock()
	c := candidate{configured: configured, schemas: newSchemas(before), seen: map[string]bool{}}
	for _, t := range *r.builtins.Load() {
		c.schemas.keep(t.input)
		c.schemas.keep(t.output)
	}
	for i := range plugins {
		c.add(&plugins[i])
	}
	c.notInstalled()
	next := r.snapshot(c.sites, c.tools, c.problems, c.withheld())
	if size := next.size(); size > maxListing {
		return nil, fmt.Errorf("the tools of all plugins together describe themselves with %d bytes, more than %d: "+
			"the tools stay as they were", size, maxListing)
	}
	return &Candidate{next, c.schemas}, nil
}

// Publish offers the tools of a candidate, and no others.
func (r *Registry) Publish(c *Candidate) {
	r.change.Lock()
	defer r.change.Unlock()
	r.schemas = c.schemas
	c.Snapshot.Generation = r.Snapshot().Generation + 1
	r.publish(c.Snapshot)
}

// Replace prepares and publishes.
func (r *Registry) Replace(plugins []plugin.Plugin, configured map[string]Configured) error {
	c, err := r.Prepare(plugins, configured)
	if err == nil {
		r.Publish(c)
	}
	return err
}

// candidate is a snapshot in the making.
type candidate struct {
	configured map[string]Configured
	schemas    *schemas
	seen       map[string]bool // plugin names
	sites      []*Site
	tools      []*Tool
	problems   []Problem
	off        *plugin.Plugin // whose tools say how they are switched on
}

// add takes in one plugin, as far as it is sound.
func (c *candidate) add(p *plugin.Plugin) {
	name := p.Manifest.Name
	if c.seen[name] {
		c.problems = append(c.problems, Problem{name, "a second plugin of this name was left out; remove one of them"})
		return
	}
	c.seen[name] = true
	if c.configured[name].Disabled {
		if name == plugin.OptIn && p.Shipped {
			c.off = p
		}
		return
	}
	site, faults := newSite(p, c.configured[name])
	if p.Shipped && len(site.Matches) == 0 && c.configured[name].Settings == nil {
		return // it comes with every binary, and is nobody's problem until a person says where their application is
	}
	offered, rejected := site.tools(c.schemas)
	site.SignIn = site.signInCheck(c.schemas)
	c.sites, c.tools = append(c.sites, site), append(c.tools, offered...)
	for _, reason := range slices.Concat(faults, rejected) {
		c.problems = append(c.problems, Problem{name, reason})
	}
}

// notInstalled names the plugins that are configured but not installed.
func (c *candidate) notInstalled() {
	for _, name := range slices.Sorted(maps.Keys(c.configured)) {
		if !c.seen[name] && c.configured[name].Withheld == nil {
			c.problems = append(c.problems,
				Problem{Reason: fmt.Sprintf("plugin %s is configured but not installed; add it, or remove plugins.%s "+
					"from "+
					"config.json", name, name)})
		}
	}
}

// withheld names the tools that are off until a person accepts them.
func (c *candidate) withheld() map[string]string {
	tools := map[string]string{}
	for name, one := range c.configured {
		if one.Withheld == nil || one.Disabled {
			continue
		}
		for _, tool := range one.Withheld.Tools {
			tools[plugin.FullName(name, tool)] = one.Withheld.Why
		}
	}
	if c.off != nil {
		for _, spec := range c.off.Manifest.Tools {
			tools[plugin.FullName(c.off.Manifest.Name, spec.Name)] = switchedOff
		}
	}
	return tools
}

// Reject takes a tool out that turned out to be unusable, such as one whose schema does not compile when it is
// first needed. A tool that is no longer in the snapshot is left alone.
func (r *Registry) Reject(t *Tool, reason string) {
	r.change.Lock()
	defer r.change.Unlock()
	now := r.Snapshot()
	if found, ok := now.Find(t.Name); !ok || found != t || t.Plugin == nil || t.Page != nil {
		return
	}
	tools := slices.DeleteFunc(ofPlugins(now.Tools), func(other *Tool) bool { return other == t })
	problems := append(slices.Clone(now.Problems), Problem{t.Plugin.Manifest.Name, leftOut(t.Name, reason)})
	r.publish(r.snapshot(now.Sites, tools, problems, now.withheld))
}

func leftOut(tool, reason string) string {
	return fmt.Sprintf("tool %s was left out: %s", tool, reason)
}

// snapshot puts a candidate together. tools are those of plugins, to which the built-in ones and those of pages come;
// of two with one name the first stays.
func (r *Registry) snapshot(sites []*Site, tools []*Tool, problems []Problem, withheld map[string]string) *Snapshot {
	s := &Snapshot{Sites: sites, Problems: problems, byName: make(map[string]*Tool, len(tools)+len(*r.builtins.Load())),
		withheld: withheld}
	if now := r.current.Load(); now != nil {
		s.Generation = now.Generation + 1
	}
	for _, t := range slices.Concat(*r.builtins.Load(), tools, r.ofPages(sites)) {
		if _, taken := s.byName[t.Name]; taken {
			s.Problems = append(s.Problems, Problem{t.Plugin.Manifest.Name,
				leftOut(t.Name, "another tool has this name")})
			continue
		}
		s.byName[t.Name] = t
		s.Tools = append(s.Tools, t)
	}
	for _, site := range sites {
		if site.SignIn != nil {
			s.byName[site.SignIn.Name] = site.SignIn
		}
	}
	slices.SortFunc(s.Tools, func(a, b *Tool) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Sites,
		func(a, b *Site) int { return strings.Compare(a.Plugin.Manifest.Name, b.Plugin.Manifest.Name) })
	s.Listing = s.digest(r.seed, func(t *Tool) bool { return t.Page == nil })
	s.Pages = s.digest(r.seed, func(t *Tool) bool { return t.Page != nil })
	return s
}

func (r *Registry) publish(s *Snapshot) {
	r.current.Store(s)
	for _, l := range r.listeners {
		l.announce(s)
	}
}

func (s *Snapshot) size() int {
	size := 0
	for _, t := range s.Tools {
		size += len(t.Listed)
	}
	return size
}

func (s *Snapshot) digest(seed maphash.Seed, of func(*Tool) bool) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, t := range s.Tools {
		if !of(t) {
			continue
		}
		_, _ = h.Write(t.Listed) // never fails
		_ = h.WriteByte('\n')
	}
	return h.Sum64()
}
