// Package webmcp offers agents the tools that pages register (WebMCP): which tab has which of them, what they are
// called here, and what of a page's words is listed. Everything in it that a page said is data of that page.
package webmcp

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/registry"
)

// Entry is the tool of the browser's adapter by which tools of pages are called.
const Entry = "page_tool"

// Options is what a Index needs.
type Options struct {
	ToolsPerSite     int // of one origin, those that are gone included
	DescriptionBytes int
	SchemaBytes      int

	Offer   func([]registry.PageTool) // all of them; called by one goroutine at a time
	Problem func(origin, reason string)
}

// Lists change at once at first; a page whose tools keep changing is listed ever more rarely. A call goes by what the
// page has now, in whatever form it was listed.
const (
	soonest = 50 * time.Millisecond // for what comes together
	rarest  = 30 * time.Second
	quiet   = time.Minute // after which a page counts as calm again
)

// Limits of what is looked at, beyond those of what is listed.
const (
	mostDocuments = 64  // of a tab
	mostTools     = 256 // of a document
	mostKey       = 64
	mostSites     = 200
	mostListed    = 512 // of all sites, those that are gone included
)

// Index knows which tools the pages of which tabs have. Its methods may be called concurrently.
type Index struct {
	options Options

	offering lock.Mutex // held while Offer runs

	mu    lock.Mutex                 // guards the rest
	tabs  map[tabKey]map[string]bool // what a tab has, by registry.PageToolID
	sites map[string]*site           // by origin
	count uint64                     // of what was told
	fresh bool                       // a tool has a form that is not offered yet
	timer *time.Timer                // nil: nothing was offered yet
	ended bool
}

type tabKey struct {
	profileID string
	tabID     int
}

// site is the tools of one origin.
type site struct {
	tools   map[string]*known // by the page's name of it
	offered time.Time         // when its list changed last
	pause   time.Duration     // until it may change again
	changed bool              // since then
	warned  bool              // that some are left out
}

// known is a tool of a site, which a page has or had.
type known struct {
	name   string   // full
	listed words    // what is listed
	live   []*words // each form in which a page has it now
	seen   uint64   // when it was told last
}

// words are one form of a tool, and the tabs that have it.
type words struct {
	key  string
	tool registry.PageTool
	tabs map[tabKey]bool
}

// New makes an empty Index.
func New(o Options) *Index {
	return &Index{options: o, tabs: map[tabKey]map[string]bool{}, sites: map[string]*site{}}
}

// Close ends offering.
func (x *Index) Close() {
	x.mu.Lock()
	x.ended = true
	if x.timer != nil {
		x.timer.Stop()
	}
	x.mu.Unlock()
	x.offering.Lock() // what goes on has ended
	defer x.offering.Unlock()
}

// Has reports whether a document of a tab offers a tool; tool is a [registry.PageToolID].
func (x *Index) Has(profileID string, tabID int, tool string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.tabs[tabKey{profileID, tabID}][tool]
}

// Tell takes what the documents of a tab have now. What cannot be read means none.
func (x *Index) Tell(profileID string, tabID int, documents json.RawMessage) {
	var list []document
	if json.Unmarshal(documents, &list) != nil || len(list) > mostDocuments {
		list = nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	at := tabKey{profileID, tabID}
	x.count++
	x.leave(at)
	for i := range list {
		x.take(at, &list[i])
	}
	x.settle()
}

// Gone forgets what a tab has; of all tabs of the profile when tabID is 0.
func (x *Index) Gone(profileID string, tabID int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for at := range x.tabs {
		if at.profileID == profileID && (tabID == 0 || at.tabID == tabID) {
			x.leave(at)
		}
	}
}

// leave forgets what a tab has. What it had stays listed: whoever calls it is told that it is gone.
func (x *Index) leave(at tabKey) {
	if x.tabs[at] == nil {
		return
	}
	delete(x.tabs, at)
	for _, s := range x.sites {
		for _, k := range s.tools {
			for _, w := range k.live {
				delete(w.tabs, at)
			}
			k.live = slices.DeleteFunc(k.live, func(w *words) bool { return len(w.tabs) == 0 })
		}
	}
}

// take notes the tools of one document.
func (x *Index) take(at tabKey, d *document) {
	u, err := url.Parse(d.Origin)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || d.Origin != u.Scheme+"://"+u.Host {
		return
	}
	s := x.sites[d.Origin]
	if s == nil {
		if len(d.Tools) == 0 || !x.roomForSite() {
			return
		}
		s = &site{tools: map[string]*known{}}
		x.sites[d.Origin] = s
	}
	left := d.Dropped > 0 || len(d.Tools) > mostTools
	for i := range d.Tools[:min(len(d.Tools), mostTools)] {
		var t pageTool
		left = json.Unmarshal(d.Tools[i], &t) != nil || !x.takeTool(at, d.Origin, s, &t) || left
	}
	// Once for each site: several tabs of it, and what comes and goes, are no news.
	if left && !s.warned {
		s.warned = true
		x.options.Problem(d.Origin, "some of its tools are left out: there are too many, or their names are unusable")
	}
}

// takeTool notes one tool; false when it cannot be offered.
func (x *Index) takeTool(at tabKey, origin string, s *site, t *pageTool) bool {
	if t.Name == "" || len(t.Name) > mostToolName || t.Key == "" || len(t.Key) > mostKey || t.Annotations.Debugging {
		return t.Annotations.Debugging // tools for developers of the page are not meant for agents
	}
	k := s.tools[t.Name]
	if k == nil {
		if !x.room(s) {
			return false
		}
		k = &known{name: fullName(origin, t.Name)}
		if s.taken(k.name) {
			return false
		}
		s.tools[t.Name] = k
		s.changed = true
	}
	k.seen = x.count
	w := k.form(t.Key)
	if w == nil {
		page := registry.Page{Origin: origin, Name: t.Name, Key: t.Key, Entry: Entry}
		if w = k.kept(t.Key); w == nil {
			w = &words{key: t.Key, tabs: map[tabKey]bool{}}
			page.In = x.in(registry.PageToolID(origin, t.Name, t.Key))
			w.tool = registry.PageTool{Name: k.name, Spec: x.spec(origin, t), Page: page}
		}
		k.live = append(k.live, w)
		x.fresh = true
		s.changed = s.changed || w.key != k.listed.key
	}
	w.tabs[at] = true
	if x.tabs[at] == nil {
		x.tabs[at] = map[string]bool{}
	}
	x.tabs[at][registry.PageToolID(origin, t.Name, t.Key)] = true
	return true
}

// in reports of a tab, in whatever profile, whether it has a tool.
func (x *Index) in(id string) func(int) bool {
	return func(tabID int) bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		for at, tools := range x.tabs {
			if (at.tabID == tabID || tabID == 0) && tools[id] {
				return true
			}
		}
		return false
	}
}

// form is the form of a tool with a key that a page has now, or nil.
func (k *known) form(key string) *words {
	for _, w := range k.live {
		if w.key == key {
			return w
		}
	}
	return nil
}

// kept is the listed form, if it has that key: it comes back.
func (k *known) kept(key string) *words {
	if k.listed.key != key {
		return nil
	}
	w := k.listed
	w.tabs = map[tabKey]bool{}
	return &w
}

// settle has what changed offered as soon as each site may change its list.
func (x *Index) settle() {
	if x.ended {
		return
	}
	now := time.Now()
	wait := time.Duration(-1)
	if x.fresh {
		wait = soonest
	}
	for _, s := range x.sites {
		if s.changed {
			left := max(soonest, s.offered.Add(s.pause).Sub(now))
			if wait < 0 || left < wait {
				wait = left
			}
		}
	}
	if wait < 0 {
		return
	}
	if x.timer == nil {
		x.timer = time.AfterFunc(wait, x.offer)
	} else {
		x.timer.Reset(wait)
	}
}

// offer offers what is known, of each site that may not change its list yet what was offered before.
func (x *Index) offer() {
	x.offering.Lock()
	defer x.offering.Unlock()
	x.mu.Lock()
	if x.ended {
		x.mu.Unlock()
		return
	}
	now := time.Now()
	for _, s := range x.sites {
		if s.changed && now.Sub(s.offered) >= s.pause {
			s.list(now)
		}
	}
	list := x.list()
	x.fresh = false
	x.settle()
	x.mu.Unlock()
	x.options.Offer(list)
}

// list takes over what a site has now.
func (s *site) list(now time.Time) {
	s.pause = min(max(2*s.pause, 2*soonest), rarest)
	if now.Sub(s.offered) > quiet {
		s.pause = 2 * soonest
	}
	s.offered, s.changed = now, false
	for _, k := range s.tools {
		if len(k.live) > 0 && k.form(k.listed.key) == nil {
			k.listed = *k.live[len(k.live)-1]
		}
	}
}

// list is every tool that is listed, with its other forms.
func (x *Index) list() (list []registry.PageTool) {
	for _, s := range x.sites {
		for _, k := range s.tools {
			if k.listed.key == "" {
				continue
			}
			one := k.listed.tool
			one.Also = nil
			for _, w := range k.live {
				if w.key != k.listed.key {
					one.Also = append(one.Also, w.tool)
				}
			}
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b registry.PageTool) int { return strings.Compare(a.Name, b.Name) })
	return list
}
