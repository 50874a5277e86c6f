// Package schedule is where calls wait: for a browser that is reconnecting, for their turn in a tab, and for a slot to
// run in.
//
// Calls that wait for a browser find their tabs in the order in which the calls of their session came. In each tab,
// calls that write run one after the other. Calls that only read run beside them, but never before an earlier write of
// their own session. The calls of one session keep their order; sessions take turns. A slot is held only while a call
// runs: waiting for a turn takes none.
package schedule

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Limits is how much may go on at once. A zero Running or RunningPerPlugin means the default.
type Limits struct {
	Running          int           // calls that run at once; 50
	RunningPerPlugin int           // of one plugin; 25
	Waiting          int           // calls that wait for a slot
	Wait             time.Duration // for a slot, at the most
	WaitingPerTab    int           // calls of one session that wait for their turn in one tab
}

// Errors of a call that was refused, or gave up waiting. A context that ended is returned as its cause.
var (
	ErrQueueFull = errors.New("as many calls of the session as may do wait for the tab")
	ErrTurnLate  = errors.New("the turn did not come in time")
	ErrNoSlot    = errors.New("as many calls as may do run, and wait to")
)

// Tab names a tab: its id is unique within a browser profile only.
type Tab struct {
	ProfileID string
	TabID     int
}

// Scheduler lets calls run. Its methods may be called concurrently.
type Scheduler struct {
	limits Limits

	mu        sync.Mutex
	queues    map[Tab]*tabQueue // of the tabs in which a write has its turn
	running   int
	perPlugin map[string]int
	forSlot   []*Ticket           // that wait for a slot, first come first
	arrivals  map[string]*arrival // the last call of each session that waits for a browser
}

// New makes a Scheduler.
func New(limits Limits) *Scheduler {
	limits.Running = cmp.Or(limits.Running, 50)
	limits.RunningPerPlugin = cmp.Or(limits.RunningPerPlugin, 25)
	return &Scheduler{
		limits: limits, queues: map[Tab]*tabQueue{}, perPlugin: map[string]int{}, arrivals: map[string]*arrival{},
	}
}

// Ticket is one call in the schedule. Its methods are called from one goroutine, but for Why. [Scheduler.Admit] makes it
// valid.
type Ticket struct {
	Session string // calls of one keep their order
	Plugin  string // its slots are counted; empty for the relay's own tools
	Write   bool

	scheduler *Scheduler
	joined    bool // the queue of tab, or runs there as a read
	tab       Tab
	holdsSlot bool
	arrival   *arrival // nil: it did not have to wait for a browser, or has found its tab

	// Guarded by Scheduler.mu.
	queue    *tabQueue     // nil: in none, which for a read is a turn too
	turn     chan struct{} // closed when it is the call's turn; nil: it is
	slot     chan struct{} // closed when it got its slot; nil: it does not wait for one
	awaiting Reason
}

// Admit puts a call into the schedule. It waits for nothing yet.
func (s *Scheduler) Admit(t *Ticket) { t.scheduler = s }

// Joined is the tab in whose queue the call is, or in which it runs.
func (t *Ticket) Joined() (tab Tab, ok bool) { return t.tab, t.joined }

// Leave ends everything that the call holds or waits for. It may be called more than once.
func (t *Ticket) Leave() {
	t.Arrived()
	t.ReleaseSlot()
	t.LeaveTab()
}

// Reason is what a call waits for.
type Reason string

// The reasons.
const (
	NotWaiting Reason = ""
	ForBrowser Reason = "browser" // one that was connected a moment ago, or the session's calls before it wait for one
	ForTurn    Reason = "turn"    // other calls that write in the tab, or are before it in its session
	ForSlot    Reason = "slot"    // as many calls run as may
)

// Why says what a call waits for, and how many calls are before it there.
func (t *Ticket) Why() (reason Reason, ahead int) {
	s := t.scheduler
	if s == nil {
		return NotWaiting, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch t.awaiting {
	case ForTurn:
		if t.queue != nil {
			ahead = t.queue.before(t)
		}
	case ForSlot:
		ahead = s.running + max(0, slices.Index(s.forSlot, t))
	}
	return t.awaiting, ahead
}

func (t *Ticket) await(reason Reason) {
	t.scheduler.mu.Lock()
	t.awaiting = reason
	t.scheduler.mu.Unlock()
}

// Load is what is going on.
type Load struct {
	Running int       `json:"running"` // calls that hold a slot
	Waiting int       `json:"waiting"` // calls that wait for one
	Tabs    []TabLoad `json:"tabs"`    // those in which a call that writes has its turn
}

// TabLoad is the queue of one tab.
type TabLoad struct {
	ProfileID string `json:"profileId"`
	TabID     int    `json:"tabId"`
	Waiting   int    `json:"waiting"` // for their turn
}

// Load says what is going on at this moment.
func (s *Scheduler) Load() Load {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := Load{Running: s.running, Waiting: len(s.forSlot), Tabs: []TabLoad{}}
	for tab, q := range s.queues {
		l.Tabs = append(l.Tabs, TabLoad{ProfileID: tab.ProfileID, TabID: tab.TabID, Waiting: q.waiting()})
	}
	slices.SortFunc(l.Tabs, func(a, b TabLoad) int {
		return cmp.Or(cmp.Compare(a.ProfileID, b.ProfileID), cmp.Compare(a.TabID, b.TabID))
	})
	return l
}

// TakeSlot takes a slot if one is free, and reports whether the call has one.
func (t *Ticket) TakeSlot() bool {
	if t.holdsSlot {
		return true
	}
	s := t.scheduler
	s.mu.Lock()
	defer s.mu.Unlock()
	t.holdsSlot = s.takeSlot(t.Plugin)
	return t.holdsSlot
}

// AwaitSlot takes a slot as soon as one is free. It fails with ErrNoSlot when too many calls wait already, or after the
// longest wait.
func (t *Ticket) AwaitSlot(ctx context.Context) error {
	if t.TakeSlot() {
		return nil
	}
	s := t.scheduler
	s.mu.Lock()
	if len(s.forSlot) >= s.limits.Waiting {
		s.mu.Unlock()
		return ErrNoSlot
	}
	t.slot, t.awaiting = make(chan struct{}), ForSlot
	s.forSlot = append(s.forSlot, t)
	s.mu.Unlock()
	late := time.NewTimer(s.limits.Wait)
	defer late.Stop()
	var err error
	select {
	case <-t.slot:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-late.C:
		err = ErrNoSlot
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.awaiting = NotWaiting
	if at := slices.Index(s.forSlot, t); at >= 0 {
		s.forSlot = slices.Delete(s.forSlot, at, at+1)
		return err
	}
	t.holdsSlot = true // perhaps in the last moment
	return nil
}

// ReleaseSlot gives the slot back, and to whoever waits for it.
func (t *Ticket) ReleaseSlot() {
	if !t.holdsSlot {
		return
	}
	t.holdsSlot = false
	s := t.scheduler
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	if t.Plugin != "" {
		s.perPlugin[t.Plugin]--
	}
	s.forSlot = slices.DeleteFunc(s.forSlot, func(next *Ticket) bool {
		if !s.takeSlot(next.Plugin) {
			return false
		}
		close(next.slot)
		return true
	})
}

// takeSlot counts a call in, with the lock held, unless too many run.
func (s *Scheduler) takeSlot(plugin string) bool {
	if s.running >= s.limits.Running || plugin != "" && s.perPlugin[plugin] >= s.limits.RunningPerPlugin {
		return false
	}
	s.running++
	if plugin != "" {
		s.perPlugin[plugin]++
	}
	return true
}
