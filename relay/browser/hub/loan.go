package hub

import (
	"slices"
	"strconv"
	"time"

	"tabrelay/relay/road/call"
)

// loan is that a session has handed tabs of its own to an agent that works for it. It counts as a call of the lease,
// which therefore does not expire.
type loan struct {
	from call.Session
}

// Lend hands a bounded session those tabs of its asker that its errand is kept to by their ids. Until back the asker
// cannot change anything there. Tabs that were closed or taken away meanwhile do not come back.
func (h *Hub) Lend(to call.Session) (back func()) {
	asker := call.Session{ID: to.Bounds.Asker, Client: to.Client}
	l, o, lent := &loan{}, h.leases, 0
	o.mu.Lock()
	for _, c := range o.tabs {
		if c.loan == nil && o.share(c.session, asker) &&
			slices.Contains(to.Bounds.Tabs, strconv.Itoa(c.at.tabID)) {
			l.from, c.loan, c.session = c.session, l, to
			c.calls++
			c.ends = time.Time{}
			if c.expiry != nil {
				c.expiry.Stop()
			}
			lent++
		}
	}
	o.mu.Unlock()
	if lent == 0 {
		return func() {}
	}
	o.changed()
	return func() { o.giveBack(func(c *lease) bool { return c.loan == l }) }
}

// giveBack ends loans.
func (o *leases) giveBack(which func(*lease) bool) {
	if o.count.Load() == 0 {
		return
	}
	back := 0
	o.mu.Lock()
	for _, c := range o.tabs {
		if c.loan != nil && which(c) {
			c.session, c.loan = c.loan.from, nil
			o.decrement(c)
			back++
		}
	}
	o.mu.Unlock()
	if back > 0 {
		o.changed()
	}
}
