package hub

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/wire"
)

// target is where a call goes: one tab of one browser, over the connection that stands now.
type target struct {
	b     *browser
	conn  *conn
	tab   *wire.Tab
	where *site // of the call
}

// describe is the target as the caller sees it.
func (t target) describe(r *call.Selector) call.Target {
	at := call.Target{
		ProfileID: t.b.id, Profile: t.b.label(), TabID: t.tab.ID,
		Origin: originOf(t.tab.URL), URL: t.tab.URL, Title: t.tab.Title,
	}
	if r.TabID == 0 && !r.InFront {
		at.Others = len(sameSite(t.b.tabs.Load().of(t.where), t.tab.URL)) - 1
	}
	return at
}

// presence is whether a browser can take calls.
type presence int

const (
	gone    presence = iota // and not expected
	onWay                   // it was here a moment ago, or has not told its tabs yet
	present                 // connected, tabs known
)

// candidate is one browser at the moment of routing.
type candidate struct {
	b    *browser
	conn *conn
	is   presence
}

// route chooses the tab of a call. It never falls back to another tab, profile or account than the call, or the session's
// last call, meant. When there is no tab, failure says why, and wait whether that may change in a moment.
func (h *Hub) route(r *call.Selector, where *site) (t target, failure *fault.Error, wait bool) {
	all := h.candidates()
	if len(all) == 0 {
		return t, h.absent(), h.starting()
	}
	chosen, failure, wait := h.choose(r, all)
	if failure != nil {
		return t, failure, wait
	}
	if r.TabID != 0 {
		return h.routeTab(r, where, chosen)
	}
	if t, failure, opened := h.routeOpened(r, where, chosen); opened {
		return t, failure, false
	}
	last, followed := h.lastTabs.recall(r)
	if followed && !among(chosen, last.profileID) {
		if r.Profile == "" { // it was connected to an earlier relay
			return t, h.away(last.profileID, last.profile, h.starting()), h.starting()
		}
		followed = false // the call names another profile
	}
	if followed {
		return h.routeLast(r, where, chosen, last)
	}
	if r.InFront {
		return h.routeFront(r, where, chosen)
	}
	return h.routeBest(r, where, chosen)
}

// candidates lists the browsers that ever connected, or whose calls an earlier relay left open.
func (h *Hub) candidates() []candidate {
	all := h.all()
	list := make([]candidate, 0, len(all))
	for _, b := range all {
		c := candidate{b: b}
		var left time.Time
		b.peek(func(s *calls) { c.conn, left = s.conn, s.left })
		switch {
		case c.conn != nil && c.conn.ready.Load():
			c.is = present
		case c.conn == nil && h.ended(b):
		case c.conn != nil, !left.IsZero() && time.Since(left) <= recently, left.IsZero() && h.starting():
			c.is = onWay
		}
		list = append(list, c)
	}
	return list
}

// starting reports whether browsers that knew an earlier relay may still be on their way to this one.
func (h *Hub) starting() bool {
	return (h.cfg.ConnectedBefore || len(h.all()) > 0) && time.Since(h.started) <= recently
}

// choose narrows the browsers to the profile that the call names.
func (h *Hub) choose(r *call.Selector, all []candidate) (chosen []candidate, failure *fault.Error, wait bool) {
	if r.Profile == "" {
		return all, nil, false
	}
	for _, c := range all {
		if c.b.id == r.Profile {
			chosen = []candidate{c}
			break
		}
		if c.b.label() == r.Profile {
			chosen = append(chosen, c)
		}
	}
	if here := withPresence(chosen, present); len(here) > 0 {
		chosen = here
	}
	if len(chosen) > 1 {
		return nil, fault.New(fault.ValidationError, fmt.Sprintf("%d browser profiles are called %q", len(chosen), r.Profile),
			fault.WithHint("Pass the id of one as `profile`: "+names(chosen, true)+".")), false
	}
	if len(chosen) == 1 && chosen[0].is != gone {
		return chosen, nil, false
	}
	here := withPresence(all, present)
	if len(here) == 0 && len(chosen) == 0 {
		return nil, h.absent(), len(withPresence(all, onWay)) > 0 || h.starting()
	}
	message := fmt.Sprintf("The browser profile %q is not connected", r.Profile)
	if len(chosen) == 1 && !chosen[0].b.lastSeen().IsZero() {
		message += "; it was, " + ago(chosen[0].b.lastSeen()) + " ago"
	}
	hint := "Ask the person to open a window of that profile."
	if len(here) > 0 {
		hint += " Connected: " + names(here, false) + "."
	}
	mayCome := len(chosen) == 0 && h.starting() && (h.cfg.Knew == nil || h.cfg.Knew(r.Profile))
	return nil, fault.New(fault.ProfileNotConnected, message, fault.WithHint(hint)), mayCome
}

// routeTab finds the tab that the call names.
func (h *Hub) routeTab(r *call.Selector, where *site, chosen []candidate) (t target, failure *fault.Error, wait bool) {
	var found []target
	for _, c := range withPresence(chosen, present) {
		if tab := c.b.tabs.Load().get(r.TabID); tab != nil {
			found = append(found, target{b: c.b, conn: c.conn, tab: tab})
		}
	}
	if len(found) > 1 {
		// Tab ids are unique within a profile only. The session's own profile is the one it means.
		if last, ok := h.lastTabs.recall(r); ok {
			for _, t := range found {
				if t.b.id == last.profileID {
					found = []target{t}
					break
				}
			}
		}
	}
	switch {
	case len(found) == 0:
		if len(withPresence(chosen, present)) == 0 {
			return t, h.absent(), len(withPresence(chosen, onWay)) > 0
		}
		return t, fault.New(fault.TabNotFound, fmt.Sprintf("There is no tab %d with a web page", r.TabID),
			fault.WithHint("Leave `tabId` out, or pass the id of an open tab.")), len(withPresence(chosen, onWay)) > 0
	case len(found) > 1:
		return t, fault.New(fault.ValidationError, fmt.Sprintf("Several browser profiles have a tab %d", r.TabID),
			fault.WithHint("Pass `profile` too: "+names(withPresence(chosen, present), false)+".")), false
	}
	t = found[0]
	if !where.mayBeIn(r, t.tab) {
		return target{}, fault.New(fault.TabChanged,
			fmt.Sprintf("Tab %d shows %s, which does not belong to %s", r.TabID, originOf(t.tab.URL), r.Plugin),
			t.b.at(r.TabID), fault.WithOutcome(fault.NotExecuted),
			fault.WithHint(openHint(r))), false
	}
	return t, nil, false
}

// routeBest takes the tab of the site that the person most likely means.
func (h *Hub) routeBest(r *call.Selector, where *site, chosen []candidate) (t target, failure *fault.Error, wait bool) {
	here := withPresence(chosen, present)
	mine := false // t is a tab that the session owns
	for _, c := range here {
		of := preferred(c.b.tabs.Load().of(where), r.Avoid)
		if len(of) == 0 {
			continue
		}
		tab, standing := h.prefer(r.Session, c.b, of)
		if standing != own {
			tab = of[0]
		}
		if t.tab == nil || standing == own && !mine || (standing == own) == mine && better(tab, t.tab) < 0 {
			t, mine = target{b: c.b, conn: c.conn, tab: tab}, standing == own
		}
	}
	switch {
	case t.tab != nil:
		// Another tab than the best one only because nobody works there, and then of the same profile and account.
		if of := preferred(sameSite(t.b.tabs.Load().of(where), t.tab.URL), r.Avoid); !mine && len(of) > 0 {
			t.tab, _ = h.prefer(r.Session, t.b, of)
		}
		return t, nil, false
	case len(here) == 0:
		return t, h.absent(), len(withPresence(chosen, onWay)) > 0
	}
	return t, noTab(r, ""), len(withPresence(chosen, onWay)) > 0
}

// preferred leaves out the tabs that a call avoids, unless there are no others.
func preferred(tabs []*wire.Tab, avoid []int) []*wire.Tab {
	if len(avoid) == 0 {
		return tabs
	}
	var others []*wire.Tab
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

func noTab(r *call.Selector, in string) *fault.Error {
	return fault.New(fault.TabNotFound, "No open tab belongs to "+r.Plugin+in, fault.WithHint(openHint(r)))
}

// openHint says how to get a tab of the site.
func openHint(r *call.Selector) string {
	switch {
	case r.OpenURL != "":
		return "Open " + r.OpenURL + " in the browser, then repeat the call."
	case len(r.Matches) > 0:
		return "Open a page that matches " + strings.Join(r.Matches, " or ") + " in the browser, then repeat the call."
	}
	return "It works on no pages yet: ask the person to say where, as tabrelay plugin list shows, then repeat the call."
}

func among(list []candidate, profileID string) bool {
	for _, c := range list {
		if c.b.id == profileID {
			return true
		}
	}
	return false
}

// withPresence filters. Nearly always all browsers are present, and then nothing is copied.
func withPresence(list []candidate, want presence) []candidate {
	same := true
	for _, c := range list {
		same = same && c.is == want
	}
	if same {
		return list
	}
	var some []candidate
	for _, c := range list {
		if c.is == want {
			some = append(some, c)
		}
	}
	return some
}

// names lists profiles, with their ids where labels do not tell them apart.
func names(list []candidate, ids bool) string {
	count := map[string]int{}
	for _, c := range list {
		count[c.b.label()]++
	}
	texts := make([]string, len(list))
	for i, c := range list {
		texts[i] = fmt.Sprintf("%q", c.b.label())
		if ids || count[c.b.label()] > 1 {
			texts[i] = fmt.Sprintf("%q (%s)", c.b.id, c.b.label())
		}
	}
	return strings.Join(texts, ", ")
}

// originOf keeps what a stranger may see of an address.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "another page"
	}
	return u.Scheme + "://" + u.Host
}

// ended reports whether the process of a browser is known to have ended.
func (h *Hub) ended(b *browser) bool { return h.cfg.Ended != nil && h.cfg.Ended(b.id) }
