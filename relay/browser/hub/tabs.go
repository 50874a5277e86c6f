package hub

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"sync"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/match"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// tab is one open tab with a web page.
type tab struct {
	wire.Tab
	origin string // of its page; empty: it has none
}

// newTab makes a tab without invisible characters in title and address: both come from the page, and are shown to
// people and agents.
func newTab(t wire.Tab) *tab {
	t.Title, t.URL = strings.TrimSpace(fault.Sanitize(t.Title)), fault.Visible(t.URL)
	return &tab{t, originOf(t.URL)}
}

// originOf is the origin of an address; empty when it has none.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// tabSet is the tabs of one browser at one moment. It is never changed: an update makes a new one. The zero value has
// no tabs.
type tabSet struct {
	list   []*tab   // by id
	ranked sync.Map // *site to []*tab: the tabs that belong to it, best first
}

func newTabSet(tabs []wire.Tab) *tabSet {
	set := &tabSet{list: make([]*tab, 0, len(tabs))}
	for _, t := range tabs {
		set.put(newTab(t))
	}
	return set
}

// with is the set after a tab was opened or changed.
func (s *tabSet) with(t *tab) *tabSet {
	next := &tabSet{list: slices.Clone(s.list)}
	next.put(t)
	return next
}

// without is the set after a tab was closed.
func (s *tabSet) without(id int) *tabSet {
	return &tabSet{list: slices.DeleteFunc(slices.Clone(s.list), func(t *tab) bool { return t.ID == id })}
}

func (s *tabSet) put(t *tab) {
	at, found := slices.BinarySearchFunc(s.list, t, func(a, b *tab) int { return cmp.Compare(a.ID, b.ID) })
	if found {
		s.list[at] = t
	} else {
		s.list = slices.Insert(s.list, at, t)
	}
}

// get returns a tab, or nil.
func (s *tabSet) get(id int) *tab {
	at, found := slices.BinarySearchFunc(s.list, id, func(t *tab, id int) int { return cmp.Compare(t.ID, id) })
	if !found {
		return nil
	}
	return s.list[at]
}

// mayBeIn reports whether a call may run in a tab. A tab that the call names may have a frame of the site: only the
// browser knows its frames.
func (s *site) mayBeIn(r *call.Selector, tab *tab) bool {
	return s.rule.Matches(tab.URL) || r.Frames == "all" && r.TabID == tab.ID
}

// of lists the tabs that belong to a site, the best first.
func (s *tabSet) of(site *site) []*tab {
	if tabs, ok := s.ranked.Load(site); ok {
		return tabs.([]*tab)
	}
	var tabs []*tab
	for _, t := range s.list {
		if site.rule.Matches(t.URL) {
			tabs = append(tabs, t)
		}
	}
	slices.SortStableFunc(tabs, better)
	s.ranked.Store(site, tabs)
	return tabs
}

// better orders tabs by how likely a person means them: the one they look at, one they can see, the last they used. A
// tab that Chrome has unloaded comes last, because a tool in it cannot start.
func better(a, b *tab) int {
	yes := func(v bool) int {
		if v {
			return 0
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(yes(!a.Discarded), yes(!b.Discarded)),
		cmp.Compare(yes(a.Active && a.Focused), yes(b.Active && b.Focused)),
		cmp.Compare(yes(a.Active), yes(b.Active)),
		-cmp.Compare(a.LastUsed, b.LastUsed),
		cmp.Compare(a.ID, b.ID),
	)
}

// preferred leaves out the tabs that a call avoids, unless there are no others.
func preferred(tabs []*tab, avoid []int) []*tab {
	if len(avoid) == 0 {
		return tabs
	}
	var others []*tab
	for _, tab := range tabs {
		if !slices.Contains(avoid, tab.ID) {
			others = append(others, tab)
		}
	}
	if len(others) == 0 {
		return tabs
	}
	return others
}

// sameOrigin keeps the tabs of one origin: another one may be another instance of the web app, and another account. Of
// an empty origin nothing is known, and every tab is as good.
func sameOrigin(tabs []*tab, origin string) []*tab {
	other := func(t *tab) bool { return t.origin != origin }
	if origin == "" || !slices.ContainsFunc(tabs, other) {
		return tabs
	}
	return slices.DeleteFunc(slices.Clone(tabs), other)
}

// site is where a plugin may run, compiled once.
type site struct {
	rule match.Rule
}

// sites keeps what was compiled. Requests bring their patterns as text; a plugin's hardly ever change.
type sites struct {
	mu    lock.Mutex
	known map[string]*site
}

const maxSites = 1024

// of compiles the patterns of a call's site, or finds them compiled.
func (k *sites) of(r *call.Selector) (*site, error) {
	key := make([]byte, 0, 128)
	for _, list := range [...][]string{r.Matches, r.Excludes} {
		for _, pattern := range list {
			key = append(append(key, pattern...), '\n')
		}
		key = append(key, '\n')
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if s, ok := k.known[string(key)]; ok {
		return s, nil
	}
	rule, err := match.NewRule(r.Matches, r.Excludes)
	if err != nil {
		return nil, err
	}
	if k.known == nil || len(k.known) >= maxSites {
		k.known = map[string]*site{}
	}
	s := &site{rule: rule}
	k.known[string(key)] = s
	return s, nil
}

// TabNews is a change of a tab.
type TabNews struct {
	ProfileID string
	TabID     int  // 0: any tab of the profile, which connected or was lost
	Page      bool // the tab shows another page, loaded it anew, or was closed
	Closed    bool // the tab was closed
	Console   bool // its console has grown; only after it was read
}

// OnTabs calls listener with every change of a tab, in the order of its connection, until stop. It must not block.
func (h *Hub) OnTabs(listener func(TabNews)) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	entry := &listener
	h.tabListeners = append(slices.Clone(h.tabListeners), entry)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.tabListeners = slices.DeleteFunc(slices.Clone(h.tabListeners),
			func(l *func(TabNews)) bool { return l == entry })
	}
}

func (h *Hub) tabNews(n TabNews) {
	h.mu.Lock()
	listeners := h.tabListeners
	h.mu.Unlock()
	for _, listener := range listeners {
		(*listener)(n)
	}
}

// otherPage reports whether what a tab shows has changed, and not merely which tab a person looks at.
func otherPage(before, now *tab) bool {
	return before == nil || before.URL != now.URL || before.Title != now.Title || before.Discarded != now.Discarded ||
		before.Status != now.Status
}

// HasTab reports whether a page that matches is open in a browser that is connected, or that was a moment ago.
func (h *Hub) HasTab(matches, excludes []string) bool {
	where, err := h.sites.of(&call.Selector{Matches: matches, Excludes: excludes})
	if err != nil {
		return false
	}
	return slices.ContainsFunc(h.candidates(), func(c candidate) bool {
		return c.is != gone && len(c.b.tabs.Load().of(where)) > 0
	})
}
