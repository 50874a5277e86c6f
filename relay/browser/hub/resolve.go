package hub

import (
	"fmt"
	"slices"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// target is where a call goes: one tab of one browser, over its present connection.
type target struct {
	b    *browser
	conn *conn
	tab  *tab
}

// Resolve finds the tab of a call and leases it to the call's session, until Leave. It never waits: with a failure,
// wait is how long it makes sense to wait for a browser that is on its way and may have the tab; 0: it makes none.
func (h *Hub) Resolve(r call.Selector) (at call.Target, failure *fault.Error, wait time.Duration) {
	where, err := h.sites.of(&r)
	if err != nil {
		return at, fault.New(fault.ConfigError, "The plugin's URL patterns cannot be used: "+err.Error(),
			fault.WithOutcome(fault.NotExecuted)), 0
	}
	var bounds bounds
	if r.Session.Bounds != nil {
		if bounds, failure = boundsOf(r.Session); failure != nil {
			return at, failure, 0
		}
	}
	t := h.locate(r.Stay)
	s := search{hub: h, r: &r, where: where, bounds: bounds}
	if t.tab == nil || !where.mayBeIn(&r, t.tab) || !bounds.cover(t.tab) || !s.offers(t.b, t.tab) {
		s.browsers = h.candidates()
		if t, failure = s.find(); failure != nil {
			switch {
			case s.mayAppear:
				wait = h.patience()
			case failure.Code == fault.ToolGone:
				wait = h.awaitTool(&r)
			case s.mayBeTold:
				_, wait = h.awaitNews(r.ID, tabNewsTime)
			}
			return at, failure, wait
		}
	}
	if owner := h.leases.claim(&r, tabRef{t.b.id, t.tab.ID}); owner != nil {
		return at, h.owned(&r, t, owner), 0
	}
	at = call.Target{
		ProfileID: t.b.id, Profile: t.b.label(), TabID: t.tab.ID, Origin: t.tab.origin, URL: t.tab.URL,
		Title: t.tab.Title,
	}
	if r.TabID == 0 && !r.InFront {
		at.Others = len(sameOrigin(bounds.only(t.b.tabs.Load().of(where)), t.tab.origin)) - 1
	}
	return at, nil, 0
}

// locate returns the tab of at over the present connection of its browser. tab is nil where the browser is not
// connected, has not sent its tabs yet, or has no such tab; the zero target means that the browser is not known.
func (h *Hub) locate(at call.Target) (t target) {
	if at.TabID == 0 {
		return t
	}
	if t.b = h.find(at.ProfileID); t.b == nil {
		return t
	}
	t.b.peek(func(s *calls) { t.conn = s.conn })
	if t.conn != nil && t.conn.ready.Load() {
		t.tab = t.b.tabs.Load().get(at.TabID)
	}
	return t
}

// Leave ends an attempt's lease. Its session keeps the tab when a call was sent there, but not for one that changed
// nothing.
func (h *Hub) Leave(id call.ID, unchanged bool) {
	h.awaited.Delete(id)
	h.leases.release(id, unchanged)
}

// search chooses the tab of one call. It never falls back to another tab, profile or account than the call names or its
// session used last.
type search struct {
	hub       *Hub
	r         *call.Selector
	where     *site
	bounds    bounds
	browsers  []candidate // to choose among
	mayAppear bool        // with a failure: a browser that is connecting may have the tab
	mayBeTold bool        // with a failure: the tab may have been opened, or put in front, a moment ago
}

// tabNewsTime is how long a call waits for a tab that is not there: browsers tell what became of their tabs a moment
// later.
const tabNewsTime = 300 * time.Millisecond

func (s *search) find() (t target, failure *fault.Error) {
	if len(s.browsers) == 0 {
		s.mayAppear = s.hub.starting()
		return t, s.hub.absent()
	}
	if s.r.Profile != "" {
		if failure := s.keepNamedProfile(); failure != nil {
			return t, failure
		}
	}
	if s.r.PageTool != "" {
		return s.tabWithTool()
	}
	if s.r.TabID != 0 {
		return s.namedTab()
	}
	last, opened := s.hub.lastTabs.recall(s.r)
	if !opened.used.IsZero() && !last.used.After(opened.used) {
		if t, failure := s.openedTab(opened); t.tab != nil || failure != nil {
			return t, failure
		}
	}
	if !last.used.IsZero() {
		switch at := slices.IndexFunc(s.browsers, func(c candidate) bool { return c.b.id == last.profileID }); {
		case at >= 0:
			return s.lastUsedTab(s.browsers[at], last)
		case s.r.Profile == "": // it was connected to an earlier relay
			s.mayAppear = s.hub.starting()
			return t, s.hub.away(last.profileID, last.profile, s.mayAppear)
		} // else the call names another profile
	}
	switch {
	case !s.r.InFront:
		return s.bestTab()
	case s.r.Write && !opened.used.IsZero():
		return t, ownTabGone()
	}
	return s.tabInFront()
}

// connected are the browsers that can take calls.
func (s *search) connected() []candidate { return withPresence(s.browsers, present) }

// connecting reports whether a browser is on its way.
func (s *search) connecting() bool { return len(withPresence(s.browsers, onWay)) > 0 }

// keepNamedProfile leaves only the profile that the call names.
func (s *search) keepNamedProfile() *fault.Error {
	name, all := s.r.Profile, s.browsers
	var chosen []candidate
	for _, c := range all {
		if c.b.id == name {
			chosen = []candidate{c}
			break
		}
		if c.b.label() == name {
			chosen = append(chosen, c)
		}
	}
	if here := withPresence(chosen, present); len(here) > 0 {
		chosen = here
	}
	if len(chosen) > 1 {
		return fault.New(fault.ValidationError, fmt.Sprintf("%d browser profiles are called %q", len(chosen), name),
			fault.WithHint("Pass the id of one as `profile`: "+names(chosen, true)+"."))
	}
	if len(chosen) == 1 && chosen[0].is != gone {
		s.browsers = chosen
		return nil
	}
	here := withPresence(all, present)
	if len(here) == 0 && len(chosen) == 0 {
		s.mayAppear = s.connecting() || s.hub.starting()
		return s.hub.absent()
	}
	s.mayAppear = len(chosen) == 0 && s.hub.starting() && s.hub.knew(name)
	return notConnected(name, chosen, here)
}

// namedTab finds the tab that the call names.
func (s *search) namedTab() (t target, failure *fault.Error) {
	here := s.connected()
	var found []target
	for _, c := range here {
		if tab := c.b.tabs.Load().get(s.r.TabID); tab != nil {
			found = append(found, target{c.b, c.conn, tab})
		}
	}
	if len(found) > 1 {
		// Tab ids are unique within a profile only. The session's own profile is the one it means.
		last, _ := s.hub.lastTabs.recall(s.r)
		if own := slices.IndexFunc(found, func(t target) bool { return t.b.id == last.profileID }); own >= 0 {
			found = found[own : own+1]
		}
	}
	switch {
	case len(found) == 0:
		s.mayAppear, s.mayBeTold = s.connecting(), true
		if len(here) == 0 {
			return t, s.hub.absent()
		}
		return t, fault.New(fault.TabNotFound, fmt.Sprintf("There is no tab %d with a web page", s.r.TabID),
			fault.WithHint("Pass a `tabId` that browser__list_tabs lists, or open the page with browser__open_tab. "+
				"Tabs that are blank, or show a page of the browser itself, are not among them."))
	case len(found) > 1:
		return t, fault.New(fault.ValidationError, fmt.Sprintf("Several browser profiles have a tab %d", s.r.TabID),
			fault.WithHint("Pass `profile` too: "+names(here, false)+"."))
	case !s.bounds.cover(found[0].tab):
		return t, s.bounds.refuse(s.r.TabID)
	case !s.where.mayBeIn(s.r, found[0].tab):
		return t, s.elsewhere(found[0])
	}
	return found[0], nil
}

// openedTab takes the tab that the session has opened since it last used this plugin, where the plugin works in it.
// While that tab has no page yet, the call has none either: another tab is not what its caller expects.
func (s *search) openedTab(opened lastTab) (t target, failure *fault.Error) {
	if slices.Contains(s.r.Avoid, opened.tabID) {
		return t, nil
	}
	for _, c := range s.connected() {
		if c.b.id != opened.profileID {
			continue
		}
		tab := c.b.tabs.Load().get(opened.tabID)
		switch {
		case tab != nil && s.where.rule.Matches(tab.URL) && s.bounds.cover(tab):
			return target{c.b, c.conn, tab}, nil
		case tab == nil && opened.pending && s.where.rule.Matches(opened.url) && time.Since(opened.used) <= recently:
			return t, fault.New(fault.AdapterNotReady,
				fmt.Sprintf("Tab %d, which this agent opened, has no page yet", opened.tabID),
				c.b.at(opened.tabID), fault.WithOutcome(fault.NotExecuted))
		}
	}
	return t, nil
}

// lastUsedTab is where the session's last call was: to the same tab, or another of the site in the same profile.
func (s *search) lastUsedTab(c candidate, last lastTab) (t target, failure *fault.Error) {
	if c.is != present {
		s.mayAppear = c.is == onWay
		return t, s.hub.away(c.b.id, c.b.label(), s.mayAppear)
	}
	of := s.of(c.b)
	same := slices.IndexFunc(of, func(t *tab) bool { return t.ID == last.tabID })
	if same >= 0 && (s.r.InFront || of[same].origin == last.origin) && !slices.Contains(s.r.Avoid, last.tabID) {
		return target{c.b, c.conn, of[same]}, nil
	}
	if !s.r.InFront && s.where.rule.Matches(last.url) { // else the call means another instance
		of = sameOrigin(of, last.origin)
	}
	of = preferred(of, s.r.Avoid)
	switch same = slices.IndexFunc(of, func(t *tab) bool { return t.ID == last.tabID }); {
	case same >= 0:
		return target{c.b, c.conn, of[same]}, nil
	case s.r.InFront && s.r.Write:
		return t, ownTabGone()
	case s.r.InFront:
		s.browsers = []candidate{c}
		return s.tabInFront()
	case len(of) > 0:
		tab, _ := s.hub.leases.prefer(s.r.Session, c.b, of)
		return target{c.b, c.conn, tab}, nil
	}
	return t, s.lost(c.b, last)
}

// ownTabGone is the failure of a call that would change something, whose session used another tab than there is: what
// was meant for that one is not done in the person's.
func ownTabGone() *fault.Error {
	return fault.New(fault.TabNotFound, "The tab that this agent used last is closed, or shows no web page now",
		fault.WithHint("Pass the `tabId` of another one, which browser__list_tabs lists, open one with "+
			"browser__open_tab, or look at the tab in front with browser__snapshot first."))
}

// neverTold is the failure of a call with a reference, whose session was in no tab that is still open: in the tab in
// front that reference may be another element's.
func neverTold() *fault.Error {
	return fault.New(fault.TabNotFound, "This session was told no references: it has used no tab that is open",
		fault.WithOutcome(fault.NotExecuted), fault.WithHint("Look at the page first, with browser__snapshot or "+
			"browser__find, and use the references that they tell. Those of another session are for its tab: with "+
			"them goes its `tabId`."))
}

// tabInFront takes the tab the person looks at. A plugin that works on every page has nothing else to tell which one is
// meant, and any other tab is none of the agent's business unless it names it.
func (s *search) tabInFront() (t target, failure *fault.Error) {
	here := s.connected()
	if s.r.Refers && len(here) > 0 {
		return t, neverTold()
	}
	var found []target
	var with []candidate
	for _, c := range here {
		of := s.of(c.b)
		if at := slices.IndexFunc(of, func(t *tab) bool { return t.Active && t.Focused }); at >= 0 {
			found, with = append(found, target{c.b, c.conn, of[at]}), append(with, c)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return t, fault.New(fault.ValidationError, "Several browser profiles have a page in front",
			fault.WithHint("Pass the one you mean as `profile`: "+names(with, false)+"."))
	}
	s.mayAppear = s.connecting()
	if len(here) == 0 {
		return t, s.hub.absent()
	}
	if s.bounds.tabs.Bound() {
		return t, s.bounds.refuse(0)
	}
	s.mayBeTold = true
	return t, fault.New(fault.TabNotFound, "The tab in front shows no web page that may be read",
		fault.WithHint("Open the page with browser__open_tab, or pass a `tabId` that browser__list_tabs lists. A tab "+
			"that is blank, or shows a page of the browser itself, cannot be read."))
}

// bestTab takes the tab of the site that the person most likely means.
func (s *search) bestTab() (t target, failure *fault.Error) {
	here, leases := s.connected(), s.hub.leases
	mine := false // t is a tab that the session owns
	for _, c := range here {
		of := preferred(s.of(c.b), s.r.Avoid)
		if len(of) == 0 {
			continue
		}
		tab, standing := leases.prefer(s.r.Session, c.b, of)
		if standing != own {
			tab = of[0]
		}
		if t.tab == nil || standing == own && !mine || (standing == own) == mine && better(tab, t.tab) < 0 {
			t, mine = target{c.b, c.conn, tab}, standing == own
		}
	}
	if t.tab == nil {
		s.mayAppear = s.connecting()
		if len(here) == 0 {
			return t, s.hub.absent()
		}
		return t, s.none()
	}
	// Another tab than the best one only because nobody works there, and then of the same profile and account.
	of := preferred(sameOrigin(s.of(t.b), t.tab.origin), s.r.Avoid)
	if !mine && len(of) > 0 {
		t.tab, _ = leases.prefer(s.r.Session, t.b, of)
	}
	return t, nil
}
