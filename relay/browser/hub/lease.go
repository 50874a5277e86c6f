package hub

import (
	"cmp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/lib/lock"

	"tabrelay/relay/road/call"
)

// What makes a session the owner of a tab.
const (
	OwnNothing = "off"    // nothing: all sessions share all tabs
	OwnWrites  = "writes" // a call that may change something; others may still read
	OwnAll     = "all"    // any call; others may not even read
)

// Who may share a tab that one of them owns.
const (
	OwnedBySession = "session" // nobody
	OwnedByClient  = "client"  // all sessions of one client, but those that a caller has named
)

// leases knows which session works in which tab. A lease begins when a call has chosen its tab, before it waits for a
// person or for its turn, so that of two sessions that come together exactly one gets the tab. It is kept once a call
// was sent, until the session was idle for a while or has ended, the tab was closed, or a person took it away.
type leases struct {
	mode    string
	by      string
	idle    time.Duration
	changed func() // a tab got an owner, or lost it; called without the lock

	count atomic.Int32 // len(tabs), to skip the lock while there are none

	mu    lock.Mutex
	tabs  map[tabRef]*lease
	calls map[call.ID]*lease // by attempt
}

// tabRef names a tab: its id is unique within a profile only.
type tabRef struct {
	profileID string
	tabID     int
}

// lease is one session's hold on one tab. Guarded by leases.mu, except for what is static: at, number.
type lease struct {
	at         tabRef
	session    call.Session // the last that called there, of those that may share the tab
	number     int          // tells the sessions of one client apart, from 1
	ownedSince time.Time    // the first call was sent; zero: none was yet
	calls      int          // that wait or run
	onlyCall   call.ID      // the only call that was sent so far; empty when there were others
	expiry     *time.Timer
	ends       time.Time // when it expires, while no call is on its way
	loan       *loan     // nil: it is lent to nobody
}

func newLeases(mode, by string, idle time.Duration, changed func()) *leases {
	return &leases{
		mode: mode, by: by, idle: cmp.Or(idle, lastTabTime), changed: changed,
		tabs: map[tabRef]*lease{}, calls: map[call.ID]*lease{},
	}
}

// canOwn reports whether a session can own tabs: a command line without one ends after one call, and the panel is the
// person.
func canOwn(s call.Session) bool {
	return s.ID != "" && s.Via != call.ViaPanel && (s.Via != call.ViaSocket || s.ID != s.Client)
}

// share reports whether two sessions may work in the same tab.
func (o *leases) share(a, b call.Session) bool {
	if a.ID == b.ID {
		return true
	}
	_, one, _ := strings.Cut(a.ID, call.NamedSession)
	_, other, _ := strings.Cut(b.ID, call.NamedSession)
	return o.by == OwnedByClient && a.Client == b.Client && one == other
}

// claim leases the tab for a call, or returns its owner where only the owner may make the call. It is called again when
// the call's turn has come: meanwhile the call may have another tab, and the tab another owner.
func (o *leases) claim(r *call.Selector, at tabRef) (owner *Owner) {
	claiming := o.mode == OwnAll || o.mode == OwnWrites && r.Write
	if !claiming && o.count.Load() == 0 {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	c, held := o.tabs[at], o.calls[r.ID]
	if held != nil && held != c {
		o.releaseLocked(r.ID, held)
		held = nil
	}
	switch {
	case held != nil:
		return nil
	case c != nil && !o.share(c.session, r.Session):
		if claiming {
			return c.owner()
		}
		return nil
	case c == nil && (!claiming || !canOwn(r.Session)):
		return nil
	case c == nil:
		c = &lease{at: at, session: r.Session, number: o.numberOf(r.Session)}
		o.tabs[at] = c
		o.count.Add(1)
	}
	c.session = r.Session
	c.calls++
	c.ends = time.Time{}
	if c.expiry != nil {
		c.expiry.Stop()
	}
	o.calls[r.ID] = c
	return nil
}

// markSent notes that a call was sent: from the first one on its session owns the tab.
func (o *leases) markSent(id call.ID) {
	o.mu.Lock()
	c := o.calls[id]
	first := c != nil && c.ownedSince.IsZero()
	if first {
		c.ownedSince, c.onlyCall = time.Now(), id
	} else if c != nil && c.onlyCall != id {
		c.onlyCall = ""
	}
	o.mu.Unlock()
	if first {
		o.changed()
	}
}

// release ends a call's share in a lease. The session still owns the tab if a call was sent there, unless that was the
// only one and has changed nothing.
func (o *leases) release(id call.ID, unchanged bool) {
	o.mu.Lock()
	c := o.calls[id]
	freed := c != nil && unchanged && c.onlyCall == id
	if freed {
		c.ownedSince, c.onlyCall = time.Time{}, ""
	}
	if c != nil {
		o.releaseLocked(id, c)
	}
	o.mu.Unlock()
	if freed {
		o.changed()
	}
}

// releaseLocked is release with the lock held, for a call that may have changed something.
func (o *leases) releaseLocked(id call.ID, c *lease) {
	delete(o.calls, id)
	o.decrement(c)
}

// decrement counts one call less in a lease; the last one starts its expiry. Called with the lock held.
func (o *leases) decrement(c *lease) {
	if c.calls--; c.calls > 0 || o.tabs[c.at] != c {
		return
	}
	if c.ownedSince.IsZero() {
		o.drop(c)
		return
	}
	c.ends = time.Now().Add(o.idle)
	if c.expiry == nil {
		c.expiry = time.AfterFunc(o.idle, func() { o.expire(c) })
	} else {
		c.expiry.Reset(o.idle)
	}
}

// expire ends a lease whose session was idle for long enough. A call may have come while the timer was about to run.
func (o *leases) expire(c *lease) {
	o.dropAll(func(other *lease) bool { return other == c && c.calls == 0 })
}

// drop forgets a lease. The calls in it go on, and find out when their turn comes.
func (o *leases) drop(c *lease) {
	if c.expiry != nil {
		c.expiry.Stop()
	}
	delete(o.tabs, c.at)
	o.count.Add(-1)
}

// dropAll ends leases, and returns those of sessions that owned their tab.
func (o *leases) dropAll(which func(*lease) bool) (ended []*Owner) {
	if o.count.Load() == 0 {
		return nil
	}
	o.mu.Lock()
	for _, c := range o.tabs {
		if !which(c) {
			continue
		}
		o.drop(c)
		if !c.ownedSince.IsZero() {
			ended = append(ended, c.owner())
		}
	}
	o.mu.Unlock()
	if len(ended) > 0 {
		o.changed()
	}
	return ended
}

// follow moves the lease on a tab to the id that the tab has now. The calls in it go on under the old one.
func (o *leases) follow(from, to tabRef) {
	if o.count.Load() == 0 {
		return
	}
	o.mu.Lock()
	c := o.tabs[from]
	if c != nil {
		o.drop(c)
		if now := o.tabs[to]; now != nil {
			o.drop(now) // of a session that was faster than the news
		}
		moved := &lease{at: to, session: c.session, number: c.number, ownedSince: c.ownedSince, calls: 1, loan: c.loan}
		o.tabs[to] = moved
		o.count.Add(1)
		if moved.loan == nil {
			o.decrement(moved)
		}
	}
	o.mu.Unlock()
	if c != nil {
		o.changed()
	}
}

// numberOf is the session's number among those of its client that own a tab.
func (o *leases) numberOf(s call.Session) int {
	taken := map[int]bool{}
	for _, c := range o.tabs {
		switch {
		case o.share(c.session, s):
			return c.number
		case c.session.Client == s.Client:
			taken[c.number] = true
		}
	}
	n := 1
	for taken[n] {
		n++
	}
	return n
}

// of returns the owner of a tab, or the session that is about to become it; nil when there is none.
func (o *leases) of(at tabRef) *Owner {
	if o.count.Load() == 0 {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if c := o.tabs[at]; c != nil {
		return c.owner()
	}
	return nil
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

// prefer returns the first of the tabs that who asks owns, else the first that nobody owns, else the first. There is
// one.
func (o *leases) prefer(s call.Session, b *browser, tabs []*tab) (best *tab, standing int) {
	if o.count.Load() == 0 {
		return tabs[0], free
	}
	best, standing = tabs[0], taken
	for _, t := range tabs {
		if now := o.standing(s, tabRef{b.id, t.ID}); now < standing {
			best, standing = t, now
		}
	}
	return best, standing
}

// Owner is the session that works in a tab.
type Owner struct {
	Client  string        `json:"client"`
	Session string        `json:"session"`
	Agent   string        `json:"agent,omitempty"` // the one that works for the client
	Name    string        `json:"name"`            // for people: of the client, numbered after its first session
	Since   time.Time     `json:"since"`           // its first call there; zero while that waits for its turn
	free    time.Duration // from now, if it makes no call until then
	number  int
	color   string // of its groups; empty: that of its client
}

// owner is the lease for others to read. Called with the lock held.
func (c *lease) owner() *Owner {
	w := &Owner{Client: c.session.Client, Session: c.session.ID, Name: c.session.Client, Since: c.ownedSince,
		free: time.Until(c.ends), number: c.number}
	if d := c.session.Bounds; d != nil {
		w.Agent, w.color, w.Name = d.Agent, d.Color, d.Agent+" for "+c.session.Client
	}
	if c.number > 1 {
		w.Name += " " + strconv.Itoa(c.number)
	}
	return w
}

// in lists the owners of a profile's tabs.
func (o *leases) in(profileID string) map[int]*Owner {
	list := map[int]*Owner{}
	o.mu.Lock()
	defer o.mu.Unlock()
	for at, c := range o.tabs {
		if at.profileID == profileID && !c.ownedSince.IsZero() {
			list[at.tabID] = c.owner()
		}
	}
	return list
}

// SessionLeft ends what a session owns, and forgets where it was: its attachment, or its session, has ended. It returns
// the sessions that it has forgotten: this one, and those inside it.
func (h *Hub) SessionLeft(session string) (forgotten []string) {
	forgotten = h.lastTabs.leave(session)
	h.leases.giveBack(func(c *lease) bool {
		return Within(c.session.ID, session) && !Within(c.loan.from.ID, session)
	})
	h.leases.dropAll(func(c *lease) bool { return Within(c.session.ID, session) })
	return forgotten
}

// Within reports whether a session is another one, or one that a caller has named inside it.
func Within(session, of string) bool {
	rest, ok := strings.CutPrefix(session, of)
	return ok && (rest == "" || strings.HasPrefix(rest, call.NamedSession))
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
	if o.claim(&call.Selector{ID: id, Session: s, Write: true}, tabRef{profileID, tabID}) == nil {
		o.markSent(id)
		o.release(id, false)
	}
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
	for _, moved := range h.lastTabs.follow(b.id, tabID, became) {
		h.cfg.LastTabChanged(moved)
	}
	h.leases.follow(tabRef{b.id, tabID}, tabRef{b.id, became})
}
