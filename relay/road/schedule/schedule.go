// Package schedule is the one place where calls wait, and knows for what: for the calls that their session made before
// them, for a browser that is reconnecting, for their turn in a tab, and for a slot to run in.
//
// The calls of one session find their tabs in the order in which the client made them. In each tab, calls that write
// run one after the other. Calls that only read run beside them, but never before an earlier write of their own
// session. The calls of one session keep their order; sessions take turns. A slot is held only while a call runs:
// waiting for a turn takes none.
package schedule

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
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
	ErrQueueFull = errors.New("as many calls of the session as are allowed already wait for the tab")
	ErrTurnLate  = errors.New("the turn did not come in time")
	ErrNoSlot    = errors.New("as many calls as are allowed already run or wait")
)

// Tab names a tab: its id is unique within a browser profile only.
type Tab struct {
	ProfileID string
	TabID     int
}

// Scheduler lets calls run. Its methods may be called concurrently.
type Scheduler struct {
	limits Limits

	mu        lock.Mutex // guards everything that waits
	reserved  call.Position
	positions map[call.Position]*position // that were reserved and are held
	orders    map[string]*order           // by client
	queues    map[Tab]*tabQueue           // of the tabs in which a write has its turn
	running   int
	perPlugin map[string]int
	forSlot   []*Ticket // that wait for a slot, first come first
}

// New makes a Scheduler.
func New(limits Limits) *Scheduler {
	limits.Running = cmp.Or(limits.Running, 50)
	limits.RunningPerPlugin = cmp.Or(limits.RunningPerPlugin, 25)
	return &Scheduler{
		limits: limits, positions: map[call.Position]*position{}, orders: map[string]*order{},
		queues: map[Tab]*tabQueue{}, perPlugin: map[string]int{},
	}
}

// Ticket is one call in the schedule. Its methods are called from one goroutine, but for Why. [Scheduler.Ticket] makes
// one; the exported fields are set before it waits for anything.
type Ticket struct {
	Session string // calls of one keep their order
	Plugin  string // its slots are counted; empty for the relay's own tools
	Write   bool

	scheduler *Scheduler
	client    string // in whose order it is
	joined    bool   // the queue of tab, or runs there as a read
	tab       Tab
	holdsSlot bool

	// Guarded by Scheduler.mu.
	position *position     // nil: none, or given up
	queue    *tabQueue     // nil: in none, which for a read is a turn too
	turn     chan struct{} // closed when it is the call's turn; nil: it is
	slot     chan struct{} // closed when it got its slot; nil: it does not wait for one
	awaiting Reason
}

// Ticket puts a call into the schedule, at the position that was reserved for it, if any. It waits for nothing yet.
func (s *Scheduler) Ticket(reserved call.Position) Ticket {
	t := Ticket{scheduler: s}
	if reserved != 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		if t.position = s.positions[reserved]; t.position != nil {
			t.client = t.position.order.client
		}
	}
	return t
}

// Leave gives up everything that the call holds or waits for: its position, its turn and its slot. It may be called
// more than once, and the call may come back after it, behind the others.
func (t *Ticket) Leave() {
	t.scheduler.mu.Lock()
	defer t.scheduler.mu.Unlock()
	t.scheduler.withdraw(&t.position)
	t.releaseSlot()
	t.leaveTab()
}

// Reason is what a call waits for.
type Reason string

// The reasons.
const (
	NotWaiting Reason = ""
	ForOrder   Reason = "order"   // earlier calls of its session look for their tabs
	ForBrowser Reason = "browser" // one that was connected a moment ago
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
	case ForOrder:
		if p := t.position; p != nil {
			ahead = max(0, slices.Index(p.order.positions, p))
		}
	case ForTurn:
		if t.queue != nil {
			ahead = t.queue.before(t)
		}
	case ForSlot:
		ahead = s.running + max(0, slices.Index(s.forSlot, t))
	}
	return t.awaiting, ahead
}

// await waits until ready is closed, so long at the most. It fails when ctx ends.
func (t *Ticket) await(
	ctx context.Context, why Reason, ready <-chan struct{}, most time.Duration,
) (late bool, err error) {
	t.waitsFor(why)
	defer t.waitsFor(NotWaiting)
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ready:
		return false, nil
	case <-timer.C:
		return true, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

func (t *Ticket) waitsFor(why Reason) {
	t.scheduler.mu.Lock()
	t.awaiting = why
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

// TakeSlot takes a slot if one is free, and reports whether the call has one. It is for calls that need no turn.
func (t *Ticket) TakeSlot() bool {
	t.scheduler.mu.Lock()
	defer t.scheduler.mu.Unlock()
	return t.takeSlot()
}

// takeSlot is TakeSlot with the lock held.
func (t *Ticket) takeSlot() bool {
	s := t.scheduler
	switch {
	case t.holdsSlot:
		return true
	case s.running >= s.limits.Running, t.Plugin != "" && s.perPlugin[t.Plugin] >= s.limits.RunningPerPlugin:
		return false
	}
	s.running++
	s.perPlugin[t.Plugin]++
	t.holdsSlot = true
	return true
}

// awaitSlot takes a slot as soon as one is free. It fails with ErrNoSlot when too many calls wait already, or after
// the longest wait.
func (t *Ticket) awaitSlot(ctx context.Context) error {
	s := t.scheduler
	s.mu.Lock()
	if t.takeSlot() {
		s.mu.Unlock()
		return nil
	}
	if len(s.forSlot) >= s.limits.Waiting {
		s.mu.Unlock()
		return ErrNoSlot
	}
	t.slot = make(chan struct{})
	s.forSlot = append(s.forSlot, t)
	s.mu.Unlock()
	late, err := t.await(ctx, ForSlot, t.slot, s.limits.Wait)
	if late {
		err = ErrNoSlot
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.holdsSlot { // perhaps in the last moment
		return nil
	}
	s.forSlot = slices.DeleteFunc(s.forSlot, func(other *Ticket) bool { return other == t })
	return err
}

// Yield gives up the position and the slot but keeps the turn: a call is tried again before anything slips between.
func (t *Ticket) Yield() {
	t.scheduler.mu.Lock()
	defer t.scheduler.mu.Unlock()
	t.scheduler.withdraw(&t.position)
	t.releaseSlot()
}

// releaseSlot gives the slot back, and to whoever waits for it. Called with the lock held.
func (t *Ticket) releaseSlot() {
	if !t.holdsSlot {
		return
	}
	s := t.scheduler
	t.holdsSlot = false
	s.running--
	s.perPlugin[t.Plugin]--
	s.forSlot = slices.DeleteFunc(s.forSlot, func(next *Ticket) bool {
		if !next.takeSlot() {
			return false
		}
		close(next.slot)
		return true
	})
}
