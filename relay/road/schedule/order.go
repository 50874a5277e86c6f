package schedule

import (
	"cmp"
	"context"
	"slices"
	"time"

	"tabrelay/relay/road/call"
)

// order is the positions of one client's calls that have not found their tabs yet, first come first. Guarded by
// Scheduler.mu.
type order struct {
	client    string
	positions []*position
}

// position is one call's in the order of its client. Guarded by Scheduler.mu.
type position struct {
	id      call.Position
	order   *order
	session string        // of the call
	known   bool          // session is
	first   chan struct{} // closed when no call of the session is ahead any more; nil: nobody waits for that
}

// Reserve takes the next position in the order of a client's calls. It is held until the call has joined the queue of
// its tab, or does without one: see [Ticket.Join], [Ticket.Leave] and [Scheduler.Withdraw].
func (s *Scheduler) Reserve(client string) call.Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved++
	p := s.enter(client)
	p.id = s.reserved
	s.positions[p.id] = p
	return p.id
}

// Withdraw gives up a position. It may be called for one that is not held any more.
func (s *Scheduler) Withdraw(id call.Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.positions[id]
	s.withdraw(&p)
}

// enter makes a position behind all others of a client. Called with the lock held.
func (s *Scheduler) enter(client string) *position {
	o := s.orders[client]
	if o == nil {
		o = &order{client: client}
		s.orders[client] = o
	}
	p := &position{order: o}
	o.positions = append(o.positions, p)
	return p
}

// withdraw is Withdraw with the lock held: held is no position afterwards, and may be none before.
func (s *Scheduler) withdraw(held **position) {
	p := *held
	if p == nil {
		return
	}
	*held = nil
	o := p.order
	at := slices.Index(o.positions, p)
	if at < 0 {
		return
	}
	delete(s.positions, p.id)
	if o.positions = slices.Delete(o.positions, at, at+1); len(o.positions) == 0 {
		delete(s.orders, o.client)
	}
	o.wakeFirst()
}

// behind reports whether the call at index i waits for another: one of its session, or one that may yet turn out to be.
func (o *order) behind(i int) bool {
	session := o.positions[i].session
	return slices.ContainsFunc(o.positions[:i], func(p *position) bool { return !p.known || p.session == session })
}

// wakeFirst wakes the calls that nothing is ahead of any more.
func (o *order) wakeFirst() {
	for i, p := range o.positions {
		if !p.known {
			return // those behind it may be of its session
		}
		if p.first != nil && !o.behind(i) {
			close(p.first)
			p.first = nil
		}
	}
}

// lookEvery is how often a call that waits looks even if nothing says that something changed: of some things, such as
// a browser's process that ended, nobody is told.
const lookEvery = 200 * time.Millisecond

// AwaitTab waits until the earlier calls of its session have joined the queues of their tabs, but no longer than most,
// and then until look finds what the call needs. look says how much longer it is worth waiting, 0 when it is not, and
// is asked again whenever changed says so. Until the call has joined a queue or left, the session's later calls stay
// behind it. It fails only when ctx ends: look knows the rest.
func (t *Ticket) AwaitTab(
	ctx context.Context, most time.Duration, look func() (wait time.Duration), changed func() <-chan struct{},
) error {
	if first := t.enterSession(false); first != nil {
		if _, err := t.await(ctx, ForOrder, first, most); err != nil {
			return err
		}
	}
	wait := look()
	if wait <= 0 {
		return nil
	}
	t.enterSession(true)
	t.waitsFor(ForBrowser)
	defer t.waitsFor(NotWaiting)
	late, again := time.NewTimer(wait), time.NewTicker(lookEvery)
	defer late.Stop()
	defer again.Stop()
	for {
		news := changed()
		if wait = look(); wait <= 0 {
			return nil
		}
		late.Reset(wait)
		select {
		case <-news:
		case <-again.C:
		case <-late.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// enterSession says of which session the call is, which lets others pass, and gives a call that has no position one
// where it must wait or others of its client do. It returns what to wait for when calls of the session are ahead.
func (t *Ticket) enterSession(mustWait bool) (first <-chan struct{}) {
	s := t.scheduler
	s.mu.Lock()
	defer s.mu.Unlock()
	t.client = cmp.Or(t.client, t.Session)
	if t.position == nil {
		if !mustWait && s.orders[t.client] == nil {
			return nil
		}
		t.position = s.enter(t.client)
	}
	p := t.position
	p.session, p.known = t.Session, true
	if at := slices.Index(p.order.positions, p); at >= 0 && p.order.behind(at) {
		p.first = make(chan struct{})
		first = p.first
	}
	p.order.wakeFirst()
	return first
}
