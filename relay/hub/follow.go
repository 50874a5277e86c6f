package hub

import (
	"fmt"
	"slices"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
)

// routeLast follows the session's last call: to the same tab, or another of the site in the same profile.
func (h *Hub) routeLast(r *call.Selector, where *site, chosen []candidate, last lastTab) (t target, failure *fault.Error, wait bool) {
	for _, c := range chosen {
		if c.b.id != last.profileID {
			continue
		}
		switch c.is {
		case onWay:
			return t, h.away(c.b.id, c.b.label(), true), true
		case gone:
			return t, h.away(c.b.id, c.b.label(), false), false
		}
		of := c.b.tabs.Load().of(where)
		if !r.InFront && where.rule.Matches(last.url) { // else the call means another instance
			of = sameSite(of, last.url)
		}
		of = preferred(of, r.Avoid)
		for _, tab := range of {
			if tab.ID == last.tabID {
				return target{b: c.b, conn: c.conn, tab: tab}, nil, false
			}
		}
		if r.InFront {
			return h.routeFront(r, where, []candidate{c})
		}
		if len(of) > 0 {
			tab, _ := h.prefer(r.Session, c.b, of)
			return target{b: c.b, conn: c.conn, tab: tab}, nil, false
		}
		return t, h.lost(r, where, chosen, c.b, last), false
	}
	return h.routeBest(r, where, chosen)
}

// Opened makes a tab the one that the next call of a session goes to, whichever plugin of its page that is for, and makes
// the session its owner. pending says that the tab may not show its page yet.
func (h *Hub) Opened(s call.Session, profileID, profile string, tabID int, url string, pending bool) {
	h.Give(s, profileID, tabID)
	place := lastTab{profileID: profileID, profile: profile, tabID: tabID, url: url, pending: pending}
	if h.lastTabs.put(s, opened, place) && h.cfg.Moved != nil {
		h.cfg.Moved()
	}
}

// routeOpened takes the tab that the session has opened since it last used this plugin, where the plugin works in it. While
// that tab has no page yet, the call has none either: another tab is not what its caller expects.
func (h *Hub) routeOpened(r *call.Selector, where *site, chosen []candidate) (t target, failure *fault.Error, ok bool) {
	place, ok := h.lastTabs.get(r.Session.ID, opened)
	if last, used := h.lastTabs.recall(r); !ok || used && last.used.After(place.used) || slices.Contains(r.Avoid, place.tabID) {
		return t, nil, false
	}
	for _, c := range withPresence(chosen, present) {
		if c.b.id != place.profileID {
			continue
		}
		tab := c.b.tabs.Load().get(place.tabID)
		switch {
		case tab != nil && where.rule.Matches(tab.URL):
			return target{b: c.b, conn: c.conn, tab: tab}, nil, true
		case tab == nil && place.pending && where.rule.Matches(place.url) && time.Since(place.used) <= recently:
			return t, fault.New(fault.AdapterNotReady, fmt.Sprintf("Tab %d, which this agent opened, has no page yet", place.tabID),
				c.b.at(place.tabID), fault.WithOutcome(fault.NotExecuted)), true
		}
	}
	return t, nil, false
}

// lost is the failure of a call whose session's tab is gone, and with it every other tab of the same origin there: those
// of another origin, or in another profile, may be of another account, so they have to be named.
func (h *Hub) lost(r *call.Selector, where *site, chosen []candidate, b *browser, last lastTab) *fault.Error {
	if tab := b.tabs.Load().get(last.tabID); tab != nil && where.rule.Matches(tab.URL) {
		return fault.New(fault.TabChanged,
			fmt.Sprintf("Tab %d, where this agent worked before, shows %s now, and not %s", tab.ID, originOf(tab.URL), originOf(last.url)),
			b.at(tab.ID), fault.WithOutcome(fault.NotExecuted),
			fault.WithHint(fmt.Sprintf("That may be another account. Pass tabId %d to go on there, or open %s in the browser.", tab.ID, originOf(last.url))))
	}
	failure := noTab(r, fmt.Sprintf(" in the browser profile %q, where this agent worked before", b.label()))
	if of := b.tabs.Load().of(where); len(of) > 0 {
		failure = fault.New(fault.TabNotFound, fmt.Sprintf("The tab with %s, where this agent worked before, is gone", originOf(last.url)), b.at(0),
			fault.WithHint(fmt.Sprintf("Open %s in the browser. Or pass tabId %d to work with %s, which may be another account.", originOf(last.url), of[0].ID, originOf(of[0].URL))))
	}
	if others := h.elsewhere(where, chosen, b); others != "" {
		failure.Hint += " Other profiles have one; pass `profile` to work there: " + others + "."
	}
	return failure
}

// away is the failure of a call whose session works in a profile that is not here. A profile that is gone has not been
// waited for, so others that are on their way are as good an offer as those that are here.
func (h *Hub) away(id, label string, waited bool) *fault.Error {
	var others []candidate
	for _, c := range h.candidates() {
		if c.is == present || c.is == onWay && !waited && c.b.id != id {
			others = append(others, c)
		}
	}
	if len(others) == 0 {
		return h.absent()
	}
	return fault.New(fault.ProfileNotConnected,
		fmt.Sprintf("The browser profile %q, where this agent worked before, is not connected", label), fault.WithTab(0, label),
		fault.WithHint("Ask the person to open a window of that profile. To work in another one, pass `profile`: "+names(others, false)+"."))
}

// elsewhere names the other profiles with a tab of the site.
func (h *Hub) elsewhere(where *site, chosen []candidate, not *browser) string {
	var others []candidate
	for _, c := range withPresence(chosen, present) {
		if c.b != not && len(c.b.tabs.Load().of(where)) > 0 {
			others = append(others, c)
		}
	}
	return names(others, false)
}
