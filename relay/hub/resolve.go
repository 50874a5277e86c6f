package hub

import (
	"sync"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
)

// news wakes who waits for a browser to connect, or for one of its tabs to change.
type news struct {
	mu   sync.Mutex
	next chan struct{} // closed, and replaced, when something changed; nil while nobody waits

	waitEnds time.Time // until when calls wait for browsers that knew an earlier relay; zero: none has yet
}

// watch returns a channel that is closed at the next change.
func (n *news) watch() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next == nil {
		n.next = make(chan struct{})
	}
	return n.next
}

// changed wakes everyone who waits.
func (n *news) changed() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next != nil {
		close(n.next)
		n.next = nil
	}
}

// Changed returns a channel that is closed when Resolve may answer something else.
func (h *Hub) Changed() <-chan struct{} { return h.news.watch() }

// Resolve finds the tab of a call and leases it to the call's session, until Leave. It never waits: with a failure,
// wait is how long it makes sense to wait for a browser that is on its way and may have the tab; 0: it makes none.
func (h *Hub) Resolve(r call.Selector) (at call.Target, failure *fault.Error, wait time.Duration) {
	where, failure := h.pages(&r)
	if failure != nil {
		return at, failure, 0
	}
	t, stands := h.stands(&r, where, r.Stay)
	if !stands {
		var expected bool
		if t, failure, expected = h.route(&r, where); failure != nil {
			if expected {
				wait = h.patience()
			}
			return at, failure, wait
		}
		t.where = where
	}
	if failure := h.lease(&r, t); failure != nil {
		return at, failure, 0
	}
	return t.describe(&r), nil, 0
}

// patience is how long a call waits from now on for the browsers that are on their way. The first call of an outage
// begins the wait, and those after it have what is left of it: whoever calls again and again does not wait each time.
func (h *Hub) patience() (rest time.Duration) {
	now := time.Now()
	left := func(ends *time.Time) {
		if ends.IsZero() {
			*ends = now.Add(h.cfg.GapWait)
		}
		rest = max(rest, ends.Sub(now))
	}
	expected := false
	for _, c := range h.candidates() {
		if c.is == onWay {
			expected = true
			c.b.update(func(s *calls) { left(&s.waitEnds) })
		}
	}
	if !expected { // browsers of an earlier relay
		h.news.mu.Lock()
		defer h.news.mu.Unlock()
		left(&h.news.waitEnds)
	}
	return rest
}

// Leave ends an attempt's lease. Its session keeps the tab when the call was sent there.
func (h *Hub) Leave(id call.ID) { h.leases.leave(id) }

// pages are those that a call may run in.
func (h *Hub) pages(r *call.Selector) (*site, *fault.Error) {
	where, err := h.sites.of(r.Matches, r.Excludes)
	if err != nil {
		return nil, fault.New(fault.ConfigError, "The plugin's URL patterns cannot be used: "+err.Error(),
			fault.WithOutcome(fault.NotExecuted))
	}
	return where, nil
}

// stands finds a tab again, over the connection there is now, if there is one and the tab still belongs to the site.
func (h *Hub) stands(r *call.Selector, where *site, at call.Target) (t target, stands bool) {
	if at.TabID == 0 {
		return t, false
	}
	for _, b := range h.all() {
		if b.id == at.ProfileID {
			t.b = b
			break
		}
	}
	if t.b == nil {
		return t, false
	}
	t.where = where
	t.b.peek(func(s *calls) { t.conn = s.conn })
	if t.conn == nil || !t.conn.ready.Load() {
		return t, false
	}
	t.tab = t.b.tabs.Load().get(at.TabID)
	return t, t.tab != nil && where.mayBeIn(r, t.tab)
}
