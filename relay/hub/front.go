package hub

import (
	"tabrelay/relay/call"
	"tabrelay/relay/fault"
)

// routeFront takes the tab the person looks at. A plugin that works on every page has nothing else to tell which one is
// meant, and any other tab is none of the agent's business unless it names it.
func (h *Hub) routeFront(r *call.Selector, where *site, chosen []candidate) (t target, failure *fault.Error, wait bool) {
	here := withPresence(chosen, present)
	var found []target
	var with []candidate
	for _, c := range here {
		for _, tab := range c.b.tabs.Load().of(where) {
			if tab.Active && tab.Focused {
				found, with = append(found, target{b: c.b, conn: c.conn, tab: tab}), append(with, c)
				break
			}
		}
	}
	coming := len(withPresence(chosen, onWay)) > 0
	switch {
	case len(found) == 1:
		return found[0], nil, false
	case len(found) > 1:
		return t, fault.New(fault.ValidationError, "Several browser profiles have a page in front",
			fault.WithHint("Pass the one that is meant as `profile`: "+names(with, false)+".")), false
	case len(here) == 0:
		return t, h.absent(), coming
	}
	return t, fault.New(fault.TabNotFound, "The tab in front shows no page that "+r.Plugin+" may read",
		fault.WithHint("Pass the id of an open tab as `tabId`, or ask the person to bring the page to the front.")), coming
}
