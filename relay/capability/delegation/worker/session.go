package worker

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/capability/delegation/picture"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

const (
	cancelTime = 400 * time.Millisecond // for a program to end a cancelled turn before the caller has its answer
	lateTime   = 10 * time.Second       // for it to end it at all
	goodbye    = 300 * time.Millisecond // for it to take note that a session is over
)

// Tools are our own tools, as a program of the Agent Client Protocol gets them: over HTTP if it can, else through a
// stdio proxy. Without a token it gets none.
type Tools struct {
	Token   string
	URL     string   // of MCP
	Command string   // absolute, of the stdio proxy
	Args    []string //
	Env     map[string]string
}

// Session is one conversation with a program. Its methods may be called concurrently.
type Session struct {
	worker  *Worker
	program *program
	id      string        // the program's
	free    chan struct{} // has one element while no turn is taken
	turn    atomic.Pointer[turn]
	stuck   atomic.Bool // a turn that was cancelled did not end
}

// Turn is one prompt.
type Turn struct {
	Text   string
	Images []picture.Picture                                 // the program is only asked if it takes them
	Tell   func(step string)                                 // hears what the program does; nil: nobody does
	Permit func(ctx context.Context, wanted Permission) bool // asks the person; nil: nothing is permitted

	// Ask asks whoever prompts; its error is for the program. nil: every question is cancelled.
	Ask func(ctx context.Context, q call.Question) (call.Answer, error)
}

// Reply is how a turn ended.
type Reply struct {
	Text       string
	Images     []picture.Picture // the text has the mark of each
	StopReason string
	RequestID  string
	Usage      *Usage // nil: not known
}

// Usage is how many tokens a turn took. Cached ones are among the Input.
type Usage struct{ Input, Output, Cached int }

// Cancelled is the stop reason of a turn that was ended early.
const Cancelled = "cancelled"

// Prompt takes a turn. When ctx ends, the program is asked to end it, and what is known is answered within half a
// second: as [Cancelled], or as a failure where the time is over.
func (s *Session) Prompt(ctx context.Context, one Turn) (Reply, *fault.Error) {
	w := s.worker
	if failure := s.usable(); failure != nil {
		return Reply{}, failure
	}
	select {
	case <-s.free:
	case <-ctx.Done():
		return Reply{}, w.ended(ctx, "while an earlier turn of the session was ending", fault.NotExecuted)
	}
	if failure := s.usable(); failure != nil {
		s.free <- struct{}{}
		return Reply{}, failure
	}
	if len(one.Images) > 0 && !s.program.speaks.sees() {
		s.free <- struct{}{}
		return Reply{}, fault.New(fault.ConfigError, "The worker "+w.options.ID+" takes no pictures",
			fault.WithOutcome(fault.NotExecuted), fault.WithHint("Leave images out, or delegate to another agent."))
	}
	t := newTurn(ctx, one)
	s.turn.Store(t)
	ended := make(chan ending, 1)
	working, abandon := context.WithCancel(context.Background())
	go func() {
		reply, err := s.program.speaks.prompt(working, s, t, one)
		abandon()
		s.turn.Store(nil)
		s.free <- struct{}{}
		ended <- ending{reply, err}
	}()
	defer t.end()
	for {
		select {
		case e := <-ended:
			return s.conclude(ctx, t, e)
		case step := <-t.steps:
			if one.Tell != nil {
				one.Tell(step)
			}
		case <-ctx.Done():
			return s.cancel(ctx, t, ended, abandon)
		}
	}
}

// ending is how the program ended a turn.
type ending struct {
	reply Reply
	err   error
}

// usable says why the session cannot go on.
func (s *Session) usable() *fault.Error {
	var failure *fault.Error
	switch {
	case s.stuck.Load():
		failure = fault.New(codes.WorkerFailed,
			"The worker "+s.worker.options.ID+" does not end a turn that was cancelled",
			fault.WithOutcome(fault.NotExecuted), fault.WithHint("Close the session and create another one."))
	case s.program.ended():
		failure = fault.New(codes.WorkerFailed,
			"The worker "+s.worker.options.ID+" ended since, and the session with it",
			fault.WithOutcome(fault.NotExecuted),
			fault.WithHint("Create another session: that starts the worker anew."))
	default:
		return nil
	}
	failure.SessionValid = new(false)
	return failure
}

// conclude is the answer to a turn that the program ended.
func (s *Session) conclude(ctx context.Context, t *turn, e ending) (Reply, *fault.Error) {
	if e.err != nil {
		outcome := fault.Unknown // what could not be read may have told of a tool
		if _, refused := errors.AsType[*acp.RequestError](e.err); refused {
			outcome = t.outcome(s.program.speaks)
		}
		return Reply{}, s.worker.failed(ctx, s.program, e.err, "it was working on the prompt", outcome)
	}
	return e.reply, nil
}

// cancel asks the program to end a turn, and answers what is known of it.
func (s *Session) cancel(ctx context.Context, t *turn, ended <-chan ending, abandon func()) (Reply, *fault.Error) {
	t.end() // nothing more is asked of the person
	s.worker.track(func() { s.program.speaks.cancel(s) })
	patience := time.NewTimer(cancelTime)
	defer patience.Stop()
	late := errors.Is(context.Cause(ctx), context.DeadlineExceeded)
	select {
	case e := <-ended:
		if e.err == nil && !late {
			return e.reply, nil
		}
		if errors.Is(e.err, errEnded) {
			return s.conclude(ctx, t, e)
		}
	case <-patience.C:
		s.await(ended, abandon)
	}
	if late {
		return Reply{}, s.worker.ended(ctx, "while it was working on the prompt", t.outcome(s.program.speaks))
	}
	return t.reply(Cancelled), nil
}

// await gives the program a while to end a turn that nobody waits for any more. If it does not, the session is of no
// use; and if it was the only one, the program is neither.
func (s *Session) await(ended <-chan ending, abandon func()) {
	s.worker.track(func() {
		defer abandon()
		late := time.NewTimer(lateTime)
		defer late.Stop()
		select {
		case <-ended:
		case <-s.program.process.exited:
		case <-late.C:
			s.stuck.Store(true)
			if s.program.delist(s) {
				s.program.process.blame("it was ended, because it did not end a turn that was cancelled")
				s.program.process.stop()
			}
		}
	})
}

// Close ends the session. A turn that is under way is cancelled by its own context.
func (s *Session) Close() {
	s.program.delist(s)
	if s.program.ended() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	s.program.speaks.end(ctx, s)
}
