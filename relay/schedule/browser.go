package schedule

import (
	"context"
	"time"
)

// arrival is one call among those of its session that wait for a browser.
type arrival struct {
	ahead <-chan struct{} // closed when the calls before it have arrived; nil: nobody is before
	done  chan struct{}   // closed when it and those before it have
}

// lookEvery is how often a call that waits looks even if nothing says that something changed: of some things, such as
// a browser's process that ended, nobody is told.
const lookEvery = 200 * time.Millisecond

// AwaitBrowser waits until look finds what the call needs, and the calls of its session that waited before have
// arrived. look says how much longer it is worth waiting, 0 when it is not, and is asked again whenever changed says
// so. A call that is only behind others of its session waits for most. Until [Ticket.Arrived], the session's later
// calls stay behind. It fails only when ctx ends: look knows the rest.
func (t *Ticket) AwaitBrowser(
	ctx context.Context, most time.Duration, look func() (wait time.Duration), changed func() <-chan struct{},
) error {
	if !t.arrive(look() > 0) {
		return nil
	}
	t.await(ForBrowser)
	defer t.await(NotWaiting)
	late := time.NewTimer(most)
	defer late.Stop()
	again := time.NewTicker(lookEvery)
	defer again.Stop()
	ahead := t.arrival.ahead
	for {
		news := changed()
		wait := look()
		if ahead == nil && wait <= 0 {
			return nil
		}
		if wait > 0 {
			late.Reset(wait)
		}
		select {
		case <-news:
		case <-again.C:
		case <-ahead:
			ahead = nil
		case <-late.C:
			look() // one that has found its tab was only behind another, which has had its time
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// arrive puts the call behind those of its session that wait for a browser, when it must wait itself or there are some.
func (t *Ticket) arrive(must bool) (waits bool) {
	t.Arrived()
	s := t.scheduler
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.arrivals[t.Session]
	if last == nil && !must {
		return false
	}
	t.arrival = &arrival{done: make(chan struct{})}
	if last != nil {
		t.arrival.ahead = last.done
	}
	s.arrivals[t.Session] = t.arrival
	return true
}

// Arrived lets the calls behind it go on: the call has joined its tab's queue, or does without.
func (t *Ticket) Arrived() {
	a := t.arrival
	if a == nil {
		return
	}
	t.arrival = nil
	s := t.scheduler
	s.mu.Lock()
	if s.arrivals[t.Session] == a {
		delete(s.arrivals, t.Session)
	}
	s.mu.Unlock()
	select {
	case <-a.ahead:
		close(a.done)
	default:
		if a.ahead == nil {
			close(a.done)
			return
		}
		go func() { // it gave up in the middle: those behind it still wait for those before it
			<-a.ahead
			close(a.done)
		}()
	}
}
