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

// Options is what a Book needs.
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

// Book knows which tools the pages of which tabs have. Its methods may be called concurrently.
type Book struct {
	options Options

	offering lock.Mutex // held while Offer runs

	mu    lock.Mutex                // guards the rest
	tabs  map[place]map[string]bool // what a tab has, by registry.PageToolID
	sites map[string]*site          // by origin
	count uint64                    // of what was told
	fresh bool                      // a tool has a form that is not offered yet
	timer *time.Timer               // nil: nothing was offered yet
	ended bool
}

type place struct {
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
	tabs map[place]bool
}

// New makes an empty Book.
func New(o Options) *Book {
	return &Book{options: o, tabs: map[place]map[string]bool{}, sites: map[string]*site{}}
}

// Close ends offering.
func (b *Book) Close() {
	b.mu.Lock()
	b.ended = true
	if b.timer != nil {
		b.timer.Stop()
	}
	b.mu.Unlock()
	b.offering.Lock() // what goes on has ended
	defer b.offering.Unlock()
}

// Has reports whether a document of a tab offers a tool; tool is a [registry.PageToolID].
func (b *Book) Has(profileID string, tabID int, tool string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tabs[place{profileID, tabID}][tool]
}

// Tell takes what the documents of a tab have now. What cannot be read means none.
func (b *Book) Tell(profileID string, tabID int, documents json.RawMessage) {
	var list []document
	if json.Unmarshal(documents, &list) != nil || len(list) > mostDocuments {
		list = nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	at := place{profileID, tabID}
	b.count++
	b.leave(at)
	for i := range list {
		b.take(at, &list[i])
	}
	b.settle()
}

// Gone forgets what a tab has; of all tabs of the profile when tabID is 0.
func (b *Book) Gone(profileID string, tabID int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for at := range b.tabs {
		if at.profileID == profileID && (tabID == 0 || at.tabID == tabID) {
			b.leave(at)
		}
	}
}

// leave forgets what a tab has. What it had stays listed: whoever calls it is told that it is gone.
func (b *Book) leave(at place) {
	if b.tabs[at] == nil {
		return
	}
	delete(b.tabs, at)
	for _, s := range b.sites {
		for _, k := range s.tools {
			for _, w := range k.live {
				delete(w.tabs, at)
			}
			k.live = slices.DeleteFunc(k.live, func(w *words) bool { return len(w.tabs) == 0 })
		}
	}
}

// take notes the tools of one document.
func (b *Book) take(at place, d *document) {
	u, err := url.Parse(d.Origin)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || d.Origin != u.Scheme+"://"+u.Host {
		return
	}
	s := b.sites[d.Origin]
	if s == nil {
		if len(d.Tools) == 0 || !b.roomForSite() {
			return
		}
		s = &site{tools: map[string]*known{}}
		b.sites[d.Origin] = s
	}
	left := d.Dropped > 0 || len(d.Tools) > mostTools
	for i := range d.Tools[:min(len(d.Tools), mostTools)] {
		var t pageTool
		left = json.Unmarshal(d.Tools[i], &t) != nil || !b.takeTool(at, d.Origin, s, &t) || left
	}
	// Once for each site: several tabs of it, and what comes and goes, are no news.
	if left && !s.warned {
		s.warned = true
		b.options.Problem(d.Origin, "some of its tools are left out: there are too many, or their names are unusable")
	}
}

// takeTool notes one tool; false when it cannot be offered.
func (b *Book) takeTool(at place, origin string, s *site, t *pageTool) bool {
	if t.Name == "" || len(t.Name) > mostToolName || t.Key == "" || len(t.Key) > mostKey || t.Annotations.Debugging {
		return t.Annotations.Debugging // tools for developers of the page are not meant for agents
	}
	k := s.tools[t.Name]
	if k == nil {
		if !b.room(s) {
			return false
		}
		k = &known{name: fullName(origin, t.Name)}
		if s.taken(k.name) {
			return false
		}
		s.tools[t.Name] = k
		s.changed = true
	}
	k.seen = b.count
	w := k.form(t.Key)
	if w == nil {
		page := registry.Page{Origin: origin, Name: t.Name, Key: t.Key, Entry: Entry}
		if w = k.kept(t.Key); w == nil {
			w = &words{key: t.Key, tabs: map[place]bool{}}
			page.In = b.in(registry.PageToolID(origin, t.Name, t.Key))
			w.tool = registry.PageTool{Name: k.name, Spec: b.spec(origin, t), Page: page}
		}
		k.live = append(k.live, w)
		b.fresh = true
		s.changed = s.changed || w.key != k.listed.key
	}
	w.tabs[at] = true
	if b.tabs[at] == nil {
		b.tabs[at] = map[string]bool{}
	}
	b.tabs[at][registry.PageToolID(origin, t.Name, t.Key)] = true
	return true
}

// in reports of a tab, in whatever profile, whether it has a tool.
func (b *Book) in(id string) func(int) bool {
	return func(tabID int) bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		for at, tools := range b.tabs {
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
	w.tabs = map[place]bool{}
	return &w
}

// settle has what changed offered as soon as each site may change its list.
func (b *Book) settle() {
	if b.ended {
		return
	}
	now := time.Now()
	wait := time.Duration(-1)
	if b.fresh {
		wait = soonest
	}
	for _, s := range b.sites {
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
	if b.timer == nil {
		b.timer = time.AfterFunc(wait, b.offer)
	} else {
		b.timer.Reset(wait)
	}
}

// offer offers what is known, of each site that may not change its list yet what was offered before.
func (b *Book) offer() {
	b.offering.Lock()
	defer b.offering.Unlock()
	b.mu.Lock()
	if b.ended {
		b.mu.Unlock()
		return
	}
	now := time.Now()
	for _, s := range b.sites {
		if s.changed && now.Sub(s.offered) >= s.pause {
			s.list(now)
		}
	}
	list := b.list()
	b.fresh = false
	b.settle()
	b.mu.Unlock()
	b.options.Offer(list)
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
func (b *Book) list() (list []registry.PageTool) {
	for _, s := range b.sites {
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
