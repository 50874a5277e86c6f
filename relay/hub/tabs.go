package hub

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/match"
	"tabrelay/relay/wire"
)

// tabSet is the tabs of one browser at one moment. It is never changed: an update makes a new one. The zero value has
// no tabs.
type tabSet struct {
	list   []*wire.Tab // by id
	ranked sync.Map    // *site to []*wire.Tab: the tabs that belong to it, best first
}

// tidy takes out of a tab's title and address what nobody sees in them: both are the page's words, and are shown to people
// and agents wherever tabs are.
func tidy(t *wire.Tab) {
	t.Title, t.URL = strings.TrimSpace(fault.Sanitize(t.Title)), fault.Visible(t.URL)
}

func byID(t *wire.Tab, id int) int { return cmp.Compare(t.ID, id) }

func newTabSet(tabs []wire.Tab) *tabSet {
	set := &tabSet{list: make([]*wire.Tab, 0, len(tabs))}
	for _, t := range tabs {
		tidy(&t)
		set.put(t)
	}
	return set
}

// with is the set after a tab was opened or changed.
func (s *tabSet) with(t wire.Tab) *tabSet {
	next := &tabSet{list: slices.Clone(s.list)}
	next.put(t)
	return next
}

// without is the set after a tab was closed.
func (s *tabSet) without(id int) *tabSet {
	return &tabSet{list: slices.DeleteFunc(slices.Clone(s.list), func(t *wire.Tab) bool { return t.ID == id })}
}

func (s *tabSet) put(t wire.Tab) {
	at, found := slices.BinarySearchFunc(s.list, t.ID, byID)
	if found {
		s.list[at] = &t
	} else {
		s.list = slices.Insert(s.list, at, &t)
	}
}

// get returns a tab, or nil.
func (s *tabSet) get(id int) *wire.Tab {
	at, found := slices.BinarySearchFunc(s.list, id, byID)
	if !found {
		return nil
	}
	return s.list[at]
}

// mayBeIn reports whether a call may run in a tab. In a tab that the call names it may be a frame that belongs to the site:
// only the browser knows those.
func (s *site) mayBeIn(r *call.Selector, tab *wire.Tab) bool {
	return s.rule.Matches(tab.URL) || r.Frames == "all" && r.TabID == tab.ID
}

// of lists the tabs that belong to a site, the best first.
func (s *tabSet) of(site *site) []*wire.Tab {
	if tabs, ok := s.ranked.Load(site); ok {
		return tabs.([]*wire.Tab)
	}
	var tabs []*wire.Tab
	for _, t := range s.list {
		if site.rule.Matches(t.URL) {
			tabs = append(tabs, t)
		}
	}
	slices.SortStableFunc(tabs, func(a, b *wire.Tab) int { return better(a, b) })
	s.ranked.Store(site, tabs)
	return tabs
}

// better orders tabs by how likely a person means them: the one they look at, one they can see, the last they used. A
// tab that Chrome has unloaded comes last, because a tool in it cannot start.
func better(a, b *wire.Tab) int {
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

// site is where a plugin may run, compiled once.
type site struct {
	rule match.Rule
}

// sites keeps what was compiled. Requests bring their patterns as text; a plugin's hardly ever change.
type sites struct {
	mu    sync.Mutex
	known map[string]*site
}

const maxSites = 1024

// of compiles patterns, or finds them compiled.
func (k *sites) of(matches, excludes []string) (*site, error) {
	key := make([]byte, 0, 128)
	for _, list := range [...][]string{matches, excludes} {
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
	rule, err := match.NewRule(matches, excludes)
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
