package hub

import (
	"fmt"
	"strconv"
	"strings"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/wire"
)

// SessionLeft ends what a session owns, and forgets where it was: its attachment, or its session, has ended.
func (h *Hub) SessionLeft(session string) {
	h.lastTabs.leave(session)
	h.leases.dropAll(func(c *lease) bool { return Within(c.session.ID, session) })
}

// Within reports whether a session is another one, or one that a caller has named inside it.
func Within(session, of string) bool {
	rest, ok := strings.CutPrefix(session, of)
	return ok && (rest == "" || strings.HasPrefix(rest, namedSession))
}

// ClientsLeft ends what the sessions of clients own that came over HTTP, and whose token does not hold any more.
func (h *Hub) ClientsLeft(holds func(client string) bool) {
	h.leases.dropAll(func(c *lease) bool { return c.session.Via == "http" && !holds(c.session.Client) })
}

// Release takes a tab away from its owner, whom it returns; nil when nobody owns the tab.
func (h *Hub) Release(profileID string, tabID int) *Owner {
	ended := h.leases.dropAll(func(c *lease) bool { return c.at == tabRef{profileID, tabID} })
	if len(ended) == 0 {
		return nil
	}
	return ended[0]
}

// Give makes a session the owner of a tab that it has opened.
func (h *Hub) Give(s call.Session, profileID string, tabID int) {
	o := h.leases
	if o.mode != OwnWrites && o.mode != OwnAll {
		return
	}
	id := call.ID(wire.NewID())
	if o.take(&call.Selector{ID: id, Session: s, Write: true}, tabRef{profileID, tabID}) == nil {
		o.keep(id)
		o.leave(id)
	}
}

// lease gets the tab of a call for its session, or fails because another session has it.
func (h *Hub) lease(r *call.Selector, t target) *fault.Error {
	owner := h.leases.take(r, tabRef{t.b.id, t.tab.ID})
	if owner == nil {
		return nil
	}
	since := ", which is about to work there"
	if !owner.Since.IsZero() {
		since = ", which has worked there since " + owner.Since.Local().Format("15:04:05") + " (" + ago(owner.Since) + " ago)"
	}
	return fault.New(fault.TabOwned, fmt.Sprintf("Tab %d belongs to %s%s", t.tab.ID, owner.to(r.Session), since),
		t.b.at(t.tab.ID), fault.WithOutcome(fault.NotExecuted), fault.WithHint(h.wayOut(r, t)))
}

// to names an owner to somebody else: by its client, and where that is theirs too, as another session of it.
func (w *Owner) to(s call.Session) string {
	_, session, named := strings.Cut(w.Session, namedSession)
	switch {
	case w.Client == s.Client && named:
		return fmt.Sprintf("the session %q of this client (%s)", session, w.Client)
	case w.Client == s.Client:
		return fmt.Sprintf("another session of this client (%s)", w.Name)
	}
	return fmt.Sprintf("the client %q", w.Name)
}

// wayOut says what somebody can do who was refused a tab.
func (h *Hub) wayOut(r *call.Selector, t target) string {
	release := "tabrelay tabs release " + strconv.Itoa(t.tab.ID)
	if len(withPresence(h.candidates(), present)) > 1 {
		release += " --profile " + t.b.id
	}
	hint := "Ask the person to release it in tabrelay's side panel or with `" + release + "`; or pass another tabId"
	var others []string
	for _, tab := range sameSite(t.b.tabs.Load().of(t.where), t.tab.URL) {
		if tab.ID != t.tab.ID && h.leases.standing(r.Session, tabRef{t.b.id, tab.ID}) != taken && len(others) < 5 {
			others = append(others, strconv.Itoa(tab.ID))
		}
	}
	switch {
	case len(others) > 0:
		hint += ": nobody else works in " + strings.Join(others, ", ")
	case r.OpenURL != "":
		hint += ", after opening " + r.OpenURL + " in a new tab"
	}
	return hint + "."
}

// standing is what a tab is to who asks, the better the smaller.
func (o *leases) standing(s call.Session, at tabRef) int {
	switch w := o.of(at); {
	case w == nil:
		return free
	case o.share(call.Session{Client: w.Client, ID: w.Session}, s):
		return own
	}
	return taken
}

const (
	own = iota
	free
	taken
)

// prefer returns the first of the tabs that who asks owns, else the first that nobody owns, else the first. There is one.
func (h *Hub) prefer(s call.Session, b *browser, tabs []*wire.Tab) (tab *wire.Tab, standing int) {
	if h.leases.some.Load() == 0 {
		return tabs[0], free
	}
	tab, standing = tabs[0], taken
	for _, t := range tabs {
		if now := h.leases.standing(s, tabRef{b.id, t.ID}); now < standing {
			tab, standing = t, now
		}
	}
	return tab, standing
}

// sameSite keeps the tabs with the origin of an address: another origin may be another instance of the web app, and
// another account. An empty address is not known, and every tab is as good.
func sameSite(tabs []*wire.Tab, address string) []*wire.Tab {
	if address == "" {
		return tabs
	}
	same := true
	for _, t := range tabs {
		same = same && siteOf(t.URL) == siteOf(address)
	}
	if same {
		return tabs
	}
	var some []*wire.Tab
	for _, t := range tabs {
		if siteOf(t.URL) == siteOf(address) {
			some = append(some, t)
		}
	}
	return some
}

// siteOf is the origin of an http or https address as a browser writes it.
func siteOf(address string) string {
	_, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		return address
	}
	return address[:len(address)-len(rest)+end]
}

// tabsOf ends the leases of tabs that a browser does not have any more.
func (o *leases) tabsOf(b *browser) {
	tabs := b.tabs.Load()
	o.dropAll(func(c *lease) bool { return c.at.profileID == b.id && tabs.get(c.at.tabID) == nil })
}

// tabBecame follows a tab to its new id, with whoever works there; 0: it is gone.
func (h *Hub) tabBecame(b *browser, tabID, became int) {
	if became == 0 {
		h.Release(b.id, tabID)
		return
	}
	h.lastTabs.follow(b.id, tabID, became)
	h.leases.follow(tabRef{b.id, tabID}, tabRef{b.id, became})
}

// acting lists the tabs of a browser in which calls run.
func (b *browser) acting() map[int]bool {
	tabs := map[int]bool{}
	b.peek(func(s *calls) {
		for _, f := range s.open {
			tabs[f.tabID] = true
		}
	})
	return tabs
}
