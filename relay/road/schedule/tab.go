package schedule

import (
	"context"
	"slices"
	"time"
)

// tabQueue is the calls of one tab in which a write has its turn. Guarded by Scheduler.mu.
type tabQueue struct {
	tab    Tab
	writer *Ticket       // whose turn it is; never nil while the queue is in Scheduler.queues
	since  time.Time     // when it became so
	pace   time.Duration // how long a turn takes, smoothed

	// Those that wait, the next one first. The first call of each is a write, unless the writer is of the same session.
	sessions []*session
}

// session is the calls of one session that wait in a tab's queue, first come first.
type session struct {
	name    string
	tickets []*Ticket
}

// Join puts the call at the end of its session's calls in a tab, or gives it its turn at once, and with it a slot if
// one is free. It leaves another tab for that, and its position in its client's order. Without ErrQueueFull, ready says
// that the call may run, and else it has to [Ticket.Await]; with it, retry is when there may be room.
func (t *Ticket) Join(tab Tab) (ready bool, retry time.Duration, err error) {
	s := t.scheduler
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.joined && t.tab != tab {
		t.leaveTab()
	}
	if !t.joined {
		if retry, err = t.join(tab); err != nil {
			return false, retry, err
		}
		s.withdraw(&t.position)
	}
	if t.turn != nil && t.queue != nil && t.queue.writer != t {
		t.releaseSlot() // of another tab: waiting for a turn takes none
		return false, 0, nil
	}
	return t.takeSlot(), 0, nil
}

// join is Join with the lock held, for a call that is in no tab.
func (t *Ticket) join(tab Tab) (retry time.Duration, err error) {
	s := t.scheduler
	switch q := s.queues[tab]; {
	case q == nil && t.Write:
		q = &tabQueue{tab: tab}
		s.queues[tab] = q
		q.begin(t)
		t.queue, t.turn = q, nil
	case q == nil, !t.Write && q.of(t.Session) == nil && q.writer.Session != t.Session:
		t.queue, t.turn = nil, nil // nothing is before it
	default:
		mine := q.of(t.Session)
		if mine == nil && s.limits.WaitingPerTab > 0 {
			mine = &session{name: t.Session}
			q.sessions = append(q.sessions, mine)
		}
		if mine == nil || len(mine.tickets) >= s.limits.WaitingPerTab {
			return q.relief(), ErrQueueFull
		}
		t.queue, t.turn = q, make(chan struct{})
		mine.tickets = append(mine.tickets, t)
	}
	t.tab, t.joined = tab, true
	return 0, nil
}

// Await waits for the call's turn in its tab, so long at the most, and then for a slot. It is for calls that have
// joined a tab, or need none.
func (t *Ticket) Await(ctx context.Context, most time.Duration) error {
	if t.turn != nil {
		late, err := t.await(ctx, ForTurn, t.turn, most)
		if late {
			err = ErrTurnLate
		}
		if err != nil {
			return err
		}
	}
	return t.awaitSlot(ctx)
}

// leaveTab ends the call's turn, or takes it out of the queue. Called with the lock held.
func (t *Ticket) leaveTab() {
	if !t.joined {
		return
	}
	s, q := t.scheduler, t.queue
	t.joined, t.queue, t.turn = false, nil, nil
	if q == nil {
		return
	}
	mine := q.of(t.Session)
	if q.writer == t {
		q.pace = smooth(q.pace, time.Since(q.since))
		q.writer = nil
	} else {
		at := slices.Index(mine.tickets, t)
		mine.tickets = slices.Delete(mine.tickets, at, at+1)
	}
	q.letRead(mine)
	switch {
	case q.writer != nil:
	case len(q.sessions) == 0:
		delete(s.queues, q.tab)
	default:
		q.next()
	}
}

// of returns the session's calls that wait in a queue; nil when there are none.
func (q *tabQueue) of(name string) *session {
	for _, s := range q.sessions {
		if s.name == name {
			return s
		}
	}
	return nil
}

func (q *tabQueue) begin(t *Ticket) { q.writer, q.since = t, time.Now() }

// letRead gives their turn to the reads at the front of a session's calls, unless a write of that session runs.
func (q *tabQueue) letRead(s *session) {
	if s == nil {
		return
	}
	for len(s.tickets) > 0 && !s.tickets[0].Write && (q.writer == nil || q.writer.Session != s.name) {
		t := s.tickets[0]
		s.tickets = slices.Delete(s.tickets, 0, 1)
		t.queue = nil
		close(t.turn)
	}
	if len(s.tickets) == 0 {
		q.sessions = slices.DeleteFunc(q.sessions, func(other *session) bool { return other == s })
	}
}

// next gives the turn to the first write of the session that comes next. That session goes behind the others.
func (q *tabQueue) next() {
	s := q.sessions[0]
	t := s.tickets[0]
	s.tickets = slices.Delete(s.tickets, 0, 1)
	q.sessions = slices.Delete(q.sessions, 0, 1)
	if len(s.tickets) > 0 {
		q.sessions = append(q.sessions, s)
	}
	q.begin(t)
	close(t.turn)
}

func (q *tabQueue) waiting() (n int) {
	for _, s := range q.sessions {
		n += len(s.tickets)
	}
	return n
}

// before counts the calls that have their turn before one that waits: the writer, and in rounds those of the sessions.
func (q *tabQueue) before(t *Ticket) int {
	mine := q.of(t.Session)
	if mine == nil {
		return 0
	}
	round, n := slices.Index(mine.tickets, t), 1
	if round < 0 {
		return 0
	}
	passed := false
	for _, s := range q.sessions {
		passed = passed || s == mine
		switch most := len(s.tickets); {
		case s == mine:
			n += round
		case passed:
			n += min(round, most)
		default:
			n += min(round+1, most)
		}
	}
	return n
}

// relief is when about half of those who wait will have had their turn.
func (q *tabQueue) relief() time.Duration {
	const least, most = 250 * time.Millisecond, 10 * time.Second
	turn := smooth(q.pace, time.Since(q.since))
	return max(least, min(most, turn*time.Duration(q.waiting())/2))
}

// smooth is the mean of durations of which the later ones count more.
func smooth(mean, next time.Duration) time.Duration {
	if mean == 0 {
		return next
	}
	return mean + (next-mean)/4
}
