package delegation

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/fault"
)

// Turn is one prompt of a session while its agent works on it: what the agent may take, and what it has done.
type Turn struct {
	session *Session
	prompt  Prompt
	budget  Budget
	number  int // in the session, from 1
	ctx     context.Context
	cancel  context.CancelCauseFunc
	stop    context.CancelFunc
	asking  chan struct{} // holds one while a person is asked
	running sync.WaitGroup

	mu        lock.Mutex
	ended     bool
	actions   []*action
	calls     int // that were let in
	refused   int
	questions int
	exceeded  bool // the budget
	needs     *NeedsInput
	said      *said // nil: nothing is written down

	telling chan struct{} // holds one while the client is told; it guards the rest
	steps   int
	silent  bool
}

// Begin begins a turn. Its context ends with ctx, by the deadline of the prompt, or when the time of its budget is
// over. Until End the session has no other turn.
func (s *Session) Begin(ctx context.Context, p Prompt, b Budget) *Turn {
	t := &Turn{
		session: s, prompt: p, budget: b, stop: func() {},
		asking: make(chan struct{}, 1), telling: make(chan struct{}, 1),
	}
	if p.Keep {
		t.said = &said{}
	}
	if !p.Deadline.IsZero() {
		ctx, t.stop = context.WithDeadline(ctx, p.Deadline)
	}
	if b.MaxMs > 0 {
		stop, after := t.stop, context.CancelFunc(nil)
		most := min(b.MaxMs, math.MaxInt64/int64(time.Millisecond)) // a caller's may be any number
		ctx, after = context.WithTimeoutCause(ctx, time.Duration(most)*time.Millisecond, ErrTimeBudget)
		t.stop = func() { after(); stop() }
	}
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns++
	t.number, s.turn = s.turns, t
	return t
}

// Turn is the turn that the agent works on, nil when it has none.
func (s *Session) Turn() *Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn
}

// Context is that of the turn.
func (t *Turn) Context() context.Context { return t.ctx }

// Cancel ends the turn's context.
func (t *Turn) Cancel(cause error) { t.cancel(cause) }

// Budget is what the turn may take.
func (t *Turn) Budget() Budget { return t.budget }

// patience is how long End waits for calls that it has cancelled. Their pages are told at once, whatever they do.
const patience = 500 * time.Millisecond

// End ends the turn, and the calls that still run, and says what the agent has done. Nothing is told to the client
// afterwards, and nobody is asked.
func (t *Turn) End() Summary {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.cancel(ErrTurnOver)
	t.stop()
	over := make(chan struct{})
	go func() {
		t.running.Wait()
		close(over)
	}()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-over:
	case <-late.C:
	}
	t.telling <- struct{}{}
	t.silent = true
	<-t.telling
	s := t.session
	s.mu.Lock()
	if s.turn == t {
		s.turn = nil
	}
	s.mu.Unlock()
	return t.Summary()
}

// Summary is what the agent has done in a turn.
type Summary struct {
	Actions   []Action // in the order in which they began
	Untrusted bool     // the session has read words of a page, or of somebody else whom nobody vouches for
	Exceeded  bool     // a call was refused because no more may be made
}

// Summary is what the agent has done so far. What runs has the outcome unknown.
func (t *Turn) Summary() Summary {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Summary{Actions: make([]Action, len(t.actions)), Untrusted: t.session.untrusted.Load(), Exceeded: t.exceeded}
	for i, a := range t.actions {
		s.Actions[i] = a.Action
	}
	return s
}

// Outcome is the actions of a turn by what is known of them.
type Outcome struct {
	Executed    []Action `json:"executed"`
	NotExecuted []Action `json:"notExecuted"`
	Unknown     []Action `json:"unknown"`
}

// Outcome sorts the actions by what is known of them.
func (s Summary) Outcome() Outcome {
	o := Outcome{Executed: []Action{}, NotExecuted: []Action{}, Unknown: []Action{}}
	for _, a := range s.Actions {
		switch a.Outcome {
		case fault.Executed:
			o.Executed = append(o.Executed, a)
		case fault.NotExecuted:
			o.NotExecuted = append(o.NotExecuted, a)
		default:
			o.Unknown = append(o.Unknown, a)
		}
	}
	return o
}

// Wrote reports whether the agent may have changed something.
func (s Summary) Wrote() bool {
	return slices.ContainsFunc(s.Actions, func(a Action) bool { return a.Writes && a.Outcome != fault.NotExecuted })
}

// Tell says in a failure that ended a turn what is known of the turn's actions: it is as uncertain as the least certain
// of them, and the errand can be repeated only if nothing was changed.
func (s Summary) Tell(f *fault.Error) {
	o := s.Outcome()
	switch {
	case len(o.Unknown) > 0:
		f.Outcome = fault.Unknown
	case len(o.Executed) > 0:
		f.Outcome = fault.Executed
	}
	if s.Wrote() {
		f.Retryable, f.RetryAfterMs = false, nil
		warning := "The errand has changed something, or may have: look at toolCalls, and read the pages before it " +
			"is " +
			"delegated again."
		if f.Hint != "" {
			warning += "\n" + f.Hint
		}
		fault.WithHint(warning)(f)
	}
}

// Doing is what a session does now.
type Doing struct {
	Turn  int      `json:"turn"`            // which one it is, or was last; 0: there was none
	Busy  bool     `json:"-"`               // one is under way
	Tools []string `json:"tools,omitempty"` // that run, the one that began first before the others
	Tabs  []int    `json:"tabs"`            // in which it worked
	Calls int      `json:"calls"`           // of tools, in this turn
	Most  int      `json:"most,omitempty"`  // that it may make
}

// Doing is what the agent of a session does now.
func (s *Session) Doing() Doing {
	s.mu.Lock()
	t, d := s.turn, Doing{Turn: s.turns}
	s.mu.Unlock()
	d.Tabs = s.tabs.list()
	if t == nil {
		return d
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	d.Busy, d.Calls, d.Most = true, t.calls, t.budget.MaxToolCalls
	for _, a := range t.actions {
		if a.open {
			d.Tools = append(d.Tools, a.Tool)
		}
	}
	return d
}

// tabList is the tabs in which a session worked.
type tabList struct {
	mu  lock.Mutex
	ids []int
}

// mostTabs is how many a session remembers.
const mostTabs = 100

func (l *tabList) add(id int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ids) < mostTabs && !slices.Contains(l.ids, id) {
		l.ids = append(l.ids, id)
	}
}

func (l *tabList) list() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]int{}, l.ids...)
}
