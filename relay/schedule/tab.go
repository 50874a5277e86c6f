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

// JoinTab puts the call at the end of its session's calls in a tab, or gives it its turn at once. It leaves another
// tab for that. With ErrQueueFull, retry is when there may be room.
func (t *Ticket) JoinTab(tab Tab) (retry time.Duration, err error) {
	if t.joined {
		if t.tab == tab {
			return 0, nil
		}
		t.LeaveTab()
	}
	s := t.scheduler
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[tab]
	mine := q.of(t.Session)
	switch {
	case q == nil && t.Write:
		q = &tabQueue{tab: tab}
		s.queues[tab] = q
		q.begin(t)
		t.queue, t.turn = q, nil
	case q == nil, !t.Write && mine == nil && q.writer.Session != t.Session:
		t.queue, t.turn = nil, nil // nothing is before it
	default:
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

// HasTurn reports whether it is the call's turn in its tab.
func (t *Ticket) HasTurn() bool {
	if t.turn == nil {
		return true
	}
	select {
	case <-t.turn:
		return true
	default:
		return false
	}
}

// AwaitTurn waits for the call's turn, so long at the most.
func (t *Ticket) AwaitTurn(ctx context.Context, most time.Duration) error {
	if t.HasTurn() {
		return nil
	}
	t.await(ForTurn)
	defer t.await(NotWaiting)
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-t.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-late.C:
		return ErrTurnLate
	}
}

// LeaveTab ends the call's turn, or takes it out of the queue. It may be called more than once.
func (t *Ticket) LeaveTab() {
	if !t.joined {
		return
	}
	t.joined = false
	s := t.scheduler
	s.mu.Lock()
	defer s.mu.Unlock()
	q := t.queue
	if q == nil {
		return
	}
	t.queue = nil
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
	if q == nil {
		return nil
	}
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
