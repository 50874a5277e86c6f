package hub

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/wire"
)

// maxLetters bounds what waits for a caller that is slow to take progress and log lines.
const maxLetters = 64

// letter is progress or a log line on its way to the caller.
type letter struct {
	step     bool
	progress call.Progress
	entry    call.LogEntry
}

// Send runs one call in the tab that Resolve chose: it journals a write, sends, and waits for the end, be it an
// outcome, a closed tab or a lost link. When ctx ends first the page is told to abort, and Send returns at once. A
// failure's outcome is not_executed only when it is certain that the tool never started.
func (h *Hub) Send(ctx context.Context, at call.Target, r call.Invocation) (*call.Reply, *fault.Error) {
	t, failure := h.target(&r.Selector, at)
	if failure != nil {
		return nil, failure
	}
	if r.Write {
		if failure := t.b.settled(ctx, t.tab.ID); failure != nil {
			return nil, failure
		}
	}
	t = h.wake(ctx, t)
	if failure := h.lease(&r.Selector, t); failure != nil { // somebody may have taken the tab away while the call waited
		return nil, failure
	}
	f, failure := h.send(ctx, &r, t, at.Origin)
	if failure != nil {
		return nil, failure
	}
	h.leases.keep(r.ID)
	return t.b.wait(ctx, f)
}

// target is a tab that Resolve chose, over the connection that stands now.
func (h *Hub) target(r *call.Selector, at call.Target) (t target, failure *fault.Error) {
	where, failure := h.pages(r)
	if failure != nil {
		return t, failure
	}
	t, stands := h.stands(r, where, at)
	if !stands && t.b == nil {
		return t, h.absent()
	}
	if !stands {
		return t, neverSent(t.b)
	}
	return t, nil
}

// settled waits for writes of an earlier relay that still run in the tab. Those of this one have had their turn.
func (b *browser) settled(ctx context.Context, tabID int) *fault.Error {
	for {
		var before *flight
		b.peek(func(s *calls) {
			for _, f := range s.open {
				if f.req == nil && f.tabID == tabID {
					before = f
				}
			}
		})
		if before == nil {
			return nil
		}
		select {
		case <-before.done:
		case <-ctx.Done():
			return fault.CallEnded(ctx, "before it was sent")
		}
	}
}

// send journals a write, and puts the call's frame into the connection's queue. The page refuses the call when its
// document has another origin by then.
func (h *Hub) send(ctx context.Context, r *call.Invocation, t target, origin string) (*flight, *fault.Error) {
	args := r.Arguments
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	frame, err := wire.Encode(&wire.Call{
		ID: r.ID, CorrelationID: r.CorrelationID, Plugin: r.Plugin, Hash: r.Hash, Tool: r.Tool, TabID: t.tab.ID, Origin: origin, Write: r.Write,
		TimeoutMs: atLeastOne(r.Timeout), MaxTimeoutMs: atLeastOne(max(r.MaxTimeout, r.Timeout)), ProgressExtends: r.ProgressExtends,
		MaxResultBytes: resultLimit(r), MaxBytes: r.MaxBytes, Settings: r.Settings, Secret: r.Secret, ConsoleTailBytes: r.ConsoleTailBytes, Frames: pageFrames(r.Frames), Trace: r.Trace, ProgressPattern: r.ProgressPattern,
		Client: r.Session.Client, Title: r.Title,
	}, args)
	if err != nil {
		return nil, fault.New(fault.InternalError, "The call could not be written as a frame",
			fault.WithOutcome(fault.NotExecuted), fault.WithCause(err))
	}
	if len(frame) > h.cfg.FrameBytes {
		return nil, tooLargeToSend(len(args), h.cfg.FrameBytes)
	}
	f := &flight{
		id: r.ID, req: r, write: r.Write, tabID: t.tab.ID, epoch: t.conn.hello.Epoch, sent: time.Now(),
		mail: make(chan struct{}, 1), done: make(chan struct{}),
	}
	if failure := h.journal(ctx, f, t.b); failure != nil {
		return nil, failure
	}
	if failure := t.b.launch(f, t.conn, frame); failure != nil {
		if f.write {
			h.record(f.id, nil, failure)
		}
		return nil, failure
	}
	if h.lastTabs.remember(&r.Selector, t) && h.cfg.Moved != nil {
		h.cfg.Moved()
	}
	return f, nil
}

// journal records a writing call before its frame leaves.
func (h *Hub) journal(ctx context.Context, f *flight, b *browser) *fault.Error {
	if !f.write {
		return nil
	}
	err := h.cfg.Journal.Dispatch(ctx, call.Record{
		ID: f.id, Session: f.req.Session, Tool: f.req.ToolName(), ProfileID: b.id, TabID: f.tabID, Epoch: f.epoch,
		Dispatched: f.sent, State: call.Dispatched,
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		failure := fault.CallEnded(ctx, "before it was sent")
		h.record(f.id, nil, failure) // it may have been recorded all the same
		return failure
	}
	return fault.New(fault.InternalError, "The call could not be recorded in the journal, so it was not sent",
		fault.WithOutcome(fault.NotExecuted), fault.WithCause(err),
		fault.WithHint("Ask the person to look at `tabrelay doctor`: the relay cannot write its database."))
}

// wait delivers what the page reports until the call ends.
func (b *browser) wait(ctx context.Context, f *flight) (*call.Reply, *fault.Error) {
	for {
		select {
		case <-f.mail:
			b.deliver(f)
		case <-f.done:
			b.deliver(f)
			return f.reply, f.failure
		case <-ctx.Done():
			if b.abandon(f, reasonOf(ctx)) {
				return nil, abandonedFault(b, f)
			}
			<-f.done
			return f.reply, f.failure
		}
	}
}

// deliver passes letters on, in the caller's own goroutine: a caller that takes its time delays nobody else.
func (b *browser) deliver(f *flight) {
	var letters []letter
	b.peek(func(*calls) { letters, f.letters = f.letters, nil })
	for _, l := range letters {
		switch {
		case l.step && f.req.Progress != nil:
			f.req.Progress(l.progress)
		case !l.step && f.req.Log != nil:
			f.req.Log(l.entry)
		}
	}
}

// reasonOf is what the page is told about a context that ended.
func reasonOf(ctx context.Context) string {
	cause := context.Cause(ctx)
	if errors.Is(cause, call.ErrCancelled) || errors.Is(cause, context.Canceled) {
		return "client"
	}
	return "deadline"
}

func resultLimit(r *call.Invocation) int {
	if r.MaxResultBytes > 0 {
		return r.MaxResultBytes
	}
	return wire.MaxResultBytes
}

// pageFrames is the field as the wire has it: absent means the top frame.
func pageFrames(frames string) string {
	if frames == "all" {
		return frames
	}
	return ""
}

func atLeastOne(d time.Duration) int64 { return max(1, d.Milliseconds()) }
