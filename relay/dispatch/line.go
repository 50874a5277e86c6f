package dispatch

import (
	"slices"
	"sync"
	"time"
)

// lines are the lines of calls before tabs. In each tab, calls that write run one after the other; calls that only
// read run beside them, but never before an earlier write of their own lane. Calls of one lane go in the order in
// which they came; lanes take turns. A tab has a line only while a write runs in it.
type lines struct {
	perLane int // how many may wait in one line

	mu   sync.Mutex
	tabs map[tabKey]*line
}

// tabKey names a tab: its id is unique within a profile only.
type tabKey struct {
	profileID string
	tabID     int
}

// line is the line before one tab. Guarded by lines.mu.
type line struct {
	at     tabKey
	writer *stand        // whose turn it is; never nil while the line is in lines.tabs
	since  time.Time     // when it became so
	pace   time.Duration // how long a turn takes, smoothed
	queues []*queue      // the lanes that wait, the next one first; the first of each queue is a write
	// unless the writer is of the same lane
}

// queue is the calls of one lane that wait in a line, first come first.
type queue struct {
	lane   string
	stands []*stand
}

// stand is one call's place in a line. The zero value stands in none.
type stand struct {
	line  *line // nil: in none, which for a read is a turn too
	lane  string
	write bool
	turn  chan struct{} // closed when the call may go; nil: it may go
}

// join puts a call at the end of its lane's queue before a tab, or lets it go at once: then s.turn is nil. full is
// true when the lane has as many calls waiting there as it may; retry is then when there may be room.
func (l *lines) join(s *stand, at tabKey, lane string, write bool) (full bool, retry time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*s = stand{lane: lane, write: write}
	ln := l.tabs[at]
	switch {
	case ln != nil:
	case write:
		if l.tabs == nil {
			l.tabs = map[tabKey]*line{}
		}
		ln = &line{at: at}
		l.tabs[at] = ln
		s.line = ln
		ln.begin(s)
		return false, 0
	default:
		return false, 0
	}
	q := ln.queueOf(lane)
	if !write && q == nil && ln.writer.lane != lane {
		return false, 0
	}
	if q == nil && l.perLane > 0 {
		q = &queue{lane: lane}
		ln.queues = append(ln.queues, q)
	}
	if q == nil || len(q.stands) >= l.perLane {
		return true, ln.relief()
	}
	s.line, s.turn = ln, make(chan struct{})
	q.stands = append(q.stands, s)
	return false, 0
}

// leave ends a call's turn, or takes it out of the queue it waits in. It may be called more than once.
func (l *lines) leave(s *stand) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := s.line
	if ln == nil {
		return
	}
	s.line = nil
	q := ln.queueOf(s.lane)
	if ln.writer == s {
		ln.pace = smooth(ln.pace, time.Since(ln.since))
		ln.writer = nil
	} else {
		at := slices.Index(q.stands, s)
		q.stands = slices.Delete(q.stands, at, at+1)
	}
	ln.letRead(q)
	if ln.writer != nil {
		return
	}
	if len(ln.queues) == 0 {
		delete(l.tabs, ln.at)
		return
	}
	ln.next()
}

// has reports whether it is the call's turn.
func (s *stand) has() bool {
	if s.turn == nil {
		return true
	}
	select {
	case <-s.turn:
		return true
	default:
		return false
	}
}

func (ln *line) queueOf(lane string) *queue {
	for _, q := range ln.queues {
		if q.lane == lane {
			return q
		}
	}
	return nil
}

func (ln *line) begin(s *stand) { ln.writer, ln.since = s, time.Now() }

// letRead lets the reads go that have come to the front of their lane's queue, unless a write of that lane runs.
func (ln *line) letRead(q *queue) {
	if q == nil {
		return
	}
	for len(q.stands) > 0 && !q.stands[0].write && (ln.writer == nil || ln.writer.lane != q.lane) {
		s := q.stands[0]
		q.stands = slices.Delete(q.stands, 0, 1)
		s.line = nil
		close(s.turn)
	}
	if len(q.stands) == 0 {
		ln.queues = slices.DeleteFunc(ln.queues, func(other *queue) bool { return other == q })
	}
}

// next gives the turn to the first write of the lane that comes next. That lane goes behind the others.
func (ln *line) next() {
	q := ln.queues[0]
	s := q.stands[0]
	q.stands = slices.Delete(q.stands, 0, 1)
	ln.queues = slices.Delete(ln.queues, 0, 1)
	if len(q.stands) > 0 {
		ln.queues = append(ln.queues, q)
	}
	ln.begin(s)
	close(s.turn)
}

func (ln *line) waiting() (n int) {
	for _, q := range ln.queues {
		n += len(q.stands)
	}
	return n
}

// relief is when about half of those who wait will have had their turn.
func (ln *line) relief() time.Duration {
	const least, most = 250 * time.Millisecond, 10 * time.Second
	turn := smooth(ln.pace, time.Since(ln.since))
	return max(least, min(most, turn*time.Duration(ln.waiting())/2))
}

// smooth is the mean of durations of which the later ones count more.
func smooth(mean, next time.Duration) time.Duration {
	if mean == 0 {
		return next
	}
	return mean + (next-mean)/4
}

// load lists the lines there are, in no order.
func (l *lines) load() []TabLoad {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]TabLoad, 0, len(l.tabs))
	for at, ln := range l.tabs {
		list = append(list, TabLoad{ProfileID: at.profileID, TabID: at.tabID, Waiting: ln.waiting()})
	}
	return list
}
