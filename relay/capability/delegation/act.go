package delegation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// Do is the one way in which the agent of a session calls a tool: with the session's own identity, within the budget of
// the turn, seen by the client that waits for its answer. The call ends with the turn at the latest. Do may be called
// concurrently.
func (s *Session) Do(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
	t := s.Turn()
	if t == nil {
		return nil, fault.New(fault.PermissionDenied, "The agent "+s.AgentID+" has no errand at the moment, so it "+
			"may call no tool", fault.WithHint("Wait for the next prompt of the session."))
	}
	c.Session, c.Resume, c.Consent = s.Acts, false, false
	if c.Trace.ID == "" {
		c.Trace = call.TraceOf(t.ctx) // of the prompt, where the agent is a program that says none
	}
	if c.ID == "" {
		c.ID = call.NewID()
	}
	a, failure := t.begin(&c)
	if failure != nil {
		return nil, failure
	}
	defer t.leave()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })()
	t.tell(a.at() + ": started")
	own := c.Progress
	c.Progress = func(p call.Progress) {
		if p.Message != "" {
			t.tell(a.at() + ": " + p.Message)
		}
		if own != nil {
			own(p)
		}
	}
	c.Ask = t.asker() // never the program that acts: a person is asked
	result, failure := s.Tools.Do(ctx, c)
	t.settle(a, result, failure)
	return result, failure
}

// RecordRefusal writes down that the agent wanted a call that is not carried out: its arguments are no JSON, for one.
func (s *Session) RecordRefusal(tool string, why *fault.Error) {
	t := s.Turn()
	if t == nil {
		return
	}
	a, failure := t.begin(&call.Call{ID: call.NewID(), Tool: tool})
	if failure != nil {
		return // which is written down
	}
	defer t.leave()
	t.settle(a, nil, why)
}

// action is one that a turn knows. What is not set when it begins belongs to Turn.mu.
type action struct {
	Action
	began time.Time
	open  bool
}

// at names an action for people, such as “wiki__edit_page in tab 3”.
func (a *action) at() string {
	if a.TabID == 0 {
		return a.Tool
	}
	return a.Tool + " in tab " + strconv.Itoa(a.TabID)
}

// begin lets a call in and writes it down, or writes down that it was refused.
func (t *Turn) begin(c *call.Call) (*action, *fault.Error) {
	writes := t.writes(c.Tool)
	t.mu.Lock()
	defer t.mu.Unlock()
	a := &action{Action: Action{ID: c.ID, Tool: c.Tool, Outcome: fault.Unknown, Writes: writes}, began: time.Now()}
	most := t.budget.MaxToolCalls
	switch {
	case t.ended || t.ctx.Err() != nil:
		return nil, t.refuse(a, fault.CallEnded(t.ctx, "before it began, because its errand has ended"))
	case most > 0 && t.calls >= most:
		t.exceeded = true
		return nil, t.refuse(a, fault.New(codes.BudgetExceeded,
			fmt.Sprintf("This errand may make at most %d tool calls", most),
			fault.WithHint("Call no more tools: answer with what is known, and say what is missing.")))
	}
	t.calls++
	a.TabID, a.open = tabOf(c.Arguments), true
	t.actions = append(t.actions, a)
	t.running.Add(1)
	return a, nil
}

// mostRefused is how many refused calls a turn writes down besides those that it lets in.
const mostRefused = 100

// refuse writes down a call that is not let in. It is called while mu is held.
func (t *Turn) refuse(a *action, why *fault.Error) *fault.Error {
	if t.refused < mostRefused {
		t.refused++
		a.Outcome, a.Code = fault.NotExecuted, why.Code
		t.actions = append(t.actions, a)
	}
	return why
}

// leave ends what begin began.
func (t *Turn) leave() { t.running.Done() }

// settle writes down how a call ended.
func (t *Turn) settle(a *action, r *call.Result, f *fault.Error) {
	said := "done"
	t.mu.Lock()
	a.open, a.Ms = false, time.Since(a.began).Milliseconds()
	if f != nil {
		a.Outcome, a.Code = f.Outcome, f.Code
		a.Outcome = cmp.Or(a.Outcome, fault.Unknown)
		said = "failed with " + string(f.Code)
		t.session.reads(f.FromPage || f.ConsoleTail != "")
		t.work(a, f.TabID)
	} else {
		a.Outcome, a.OK = fault.Executed, true
		t.session.reads(r.Meta.Untrusted)
		t.work(a, r.Meta.TabID)
	}
	message := a.at() + ": " + said
	t.mu.Unlock()
	t.tell(message)
}

// reads notes whether words of a page have come into a session. They stay in what its agent remembers.
func (s *Session) reads(untrusted bool) {
	if untrusted {
		s.untrusted.Store(true)
	}
}

// work notes the tab that an action was in. It is called while mu is held.
func (t *Turn) work(a *action, tab int) {
	if tab != 0 {
		a.TabID = tab
	}
	if a.TabID != 0 && a.Outcome != fault.NotExecuted {
		t.session.tabs.add(a.TabID)
	}
}

// writes reports whether a tool may change something: it does not say that it only reads.
func (t *Turn) writes(tool string) bool {
	known, ok := t.session.Tools.Find(tool)
	return !ok || !known.ReadOnly
}

// tabOf is the tab that arguments name, 0 for none.
func tabOf(arguments json.RawMessage) int {
	members, ok := rawjson.Members(arguments)
	if !ok {
		return 0
	}
	id, err := strconv.Atoi(string(rawjson.Get(members, "tabId")))
	if err != nil {
		return 0
	}
	return id
}

// tell lets the client hear of a step. Its steps come one after the other.
func (t *Turn) tell(message string) {
	if t.prompt.Tell == nil {
		return
	}
	t.telling <- struct{}{}
	defer func() { <-t.telling }()
	if t.silent {
		return
	}
	t.steps++
	t.prompt.Tell(call.Progress{Progress: float64(t.steps), Message: message})
}

// asker asks the person behind the client that waits for the turn, one question at a time; nil when that cannot.
func (t *Turn) asker() func(context.Context, call.Question) (call.Answer, error) {
	if t.prompt.Ask == nil {
		return nil
	}
	return func(ctx context.Context, q call.Question) (call.Answer, error) {
		select {
		case t.asking <- struct{}{}:
		case <-ctx.Done():
			return call.Answer{}, context.Cause(ctx)
		}
		defer func() { <-t.asking }()
		return t.prompt.Ask(ctx, q)
	}
}

// Causes of the end of a turn's context, besides those of its caller's.
var (
	// ErrTurnOver is that the agent has answered: calls that still run are of no use.
	ErrTurnOver = errors.New("the errand has ended")
	// ErrTimeBudget is that maxMs of the budget is over.
	ErrTimeBudget = errors.New("the time of the errand's budget is over")
)
