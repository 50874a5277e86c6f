package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// Send runs one call in the tab that Resolve chose: it journals a write, sends, and waits for the end, be it an
// outcome, a closed tab or a lost link. When ctx ends first the page is told to abort, and Send returns at once. A
// failure's outcome is not_executed only when it is certain that the tool never started.
func (h *Hub) Send(ctx context.Context, at call.Target, r call.Invocation) (*call.Reply, *fault.Error) {
	t := h.locate(at)
	switch {
	case t.b == nil:
		return nil, h.absent()
	case t.tab == nil:
		return nil, neverSent(t.b)
	}
	if failure := refuseAddress(&r); failure != nil {
		return nil, failure
	}
	if r.Sites != nil && t.conn.protocol < wire.WithSites {
		return nil, outdated(t.b)
	}
	if r.Write {
		if failure := t.b.awaitEarlierWrites(ctx, t.tab.ID); failure != nil {
			return nil, failure
		}
	}
	if t.tab.Discarded {
		t = h.wake(ctx, t, &r.Selector)
	}
	// the tab may have got another owner since Resolve
	if owner := h.leases.claim(&r.Selector, tabRef{t.b.id, t.tab.ID}); owner != nil {
		return nil, h.owned(&r.Selector, t, owner)
	}
	f, failure := h.send(ctx, &r, t, at.Origin)
	if failure != nil {
		return nil, failure
	}
	h.leases.markSent(r.ID)
	reply, failure := t.b.wait(ctx, f)
	if r.Timed != nil {
		var timing *call.Timing
		t.b.peek(func(*calls) { timing = f.timing })
		if timing != nil {
			r.Timed(*timing)
		}
	}
	return reply, failure
}

// awaitEarlierWrites waits for writes of an earlier relay that still run in the tab. Those of this one have had
// their turn.
func (b *browser) awaitEarlierWrites(ctx context.Context, tabID int) *fault.Error {
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

// wakeTime is how long a tab that Chrome has unloaded may take to load again.
const wakeTime = 10 * time.Second

// wake reloads, in the background, a tab that Chrome has discarded to save memory: its page has no state to lose. When
// that fails, the extension refuses the call with the reason.
func (h *Hub) wake(ctx context.Context, t target, r *call.Selector) target {
	where, err := h.sites.of(r)
	if err != nil {
		return t
	}
	at := tabRef{t.b.id, t.tab.ID}
	id, failed := t.tab.ID, false
	if _, busy := h.waking.LoadOrStore(at, true); !busy { // one reload serves all calls that wait
		defer h.waking.Delete(at)
		id, failed = h.reload(ctx, at)
	}
	if failed {
		return t
	}
	late := time.NewTimer(wakeTime)
	defer late.Stop()
	for {
		news := h.Changed()
		tab := t.b.tabs.Load().get(id)
		if tab != nil && !tab.Discarded && tab.Status == "complete" && where.rule.Matches(tab.URL) {
			t.tab = tab
			return t
		}
		select {
		case <-news:
		case <-late.C:
			return t
		case <-ctx.Done():
			return t
		}
	}
}

// reload loads a tab, and returns its id, which is another one where Chrome had to replace the tab.
func (h *Hub) reload(ctx context.Context, at tabRef) (id int, failed bool) {
	raw, failure := h.Command(ctx, at.profileID, "tabs.reload", map[string]any{"tabId": at.tabID})
	var renewed struct {
		TabID int `json:"tabId"`
	}
	if failure != nil || json.Unmarshal(raw, &renewed) != nil || renewed.TabID == 0 {
		return at.tabID, failure != nil
	}
	return renewed.TabID, false
}

// send journals a write, and puts the call's frame into the connection's queue. The page refuses the call when its
// document has another origin by then.
func (h *Hub) send(ctx context.Context, r *call.Invocation, t target, origin string) (*flight, *fault.Error) {
	args := r.Arguments
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	timeout := max(1, r.Timeout.Milliseconds())
	c := &wire.Call{
		ID: r.ID, Plugin: cmp.Or(r.Adapter, r.Plugin), Tool: cmp.Or(r.Entry, r.Tool), TabID: t.tab.ID, Origin: origin,
		Client: r.Session.Client, Write: r.Write, TimeoutMs: timeout, Order: r.Order,
		MaxTimeoutMs: max(timeout, r.MaxTimeout.Milliseconds()),
	}
	c.MaxResultBytes = cmp.Or(r.MaxResultBytes, wire.MaxResultBytes)
	if r.Frames == "all" {
		c.Frames = r.Frames // absent means the top frame
	}
	frame, err := wire.Encode(c, args)
	if err != nil {
		return nil, fault.New(fault.InternalError, "The call could not be written as a frame",
			fault.WithOutcome(fault.NotExecuted), fault.WithCause(err))
	}
	if len(frame) > h.cfg.FrameBytes {
		return nil, tooLargeToSend(len(args), h.cfg.FrameBytes)
	}
	f := &flight{
		id: r.ID, req: r, write: r.Write, tabID: t.tab.ID, epoch: t.conn.hello.Epoch, sent: time.Now(),
		reported: make(chan struct{}, 1), done: make(chan struct{}),
	}
	if f.write {
		if failure := h.journal(ctx, f, t.b); failure != nil {
			return nil, failure
		}
	}
	if r.Timed != nil {
		f.queued = time.Now()
	}
	if failure := t.b.enqueueCall(f, t.conn, frame); failure != nil {
		if f.write {
			h.journalEnd(f.id, nil, failure)
		}
		return nil, failure
	}
	h.workedIn(r.Session, family(&r.Selector), lastTab{
		profileID: t.b.id, profile: t.b.label(), tabID: t.tab.ID, url: t.tab.URL, origin: t.tab.origin,
	})
	return f, nil
}

// journal records a writing call before its frame leaves.
func (h *Hub) journal(ctx context.Context, f *flight, b *browser) *fault.Error {
	err := h.cfg.Journal.RecordSent(ctx, call.Record{
		ID: f.id, Session: f.req.Session, Tool: f.req.Plugin + "__" + f.req.Tool,
		ProfileID: b.id, TabID: f.tabID, Epoch: f.epoch,
		Dispatched: f.sent, State: call.Dispatched,
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		failure := fault.CallEnded(ctx, "before it was sent")
		h.journalEnd(f.id, nil, failure) // it may have been recorded all the same
		return failure
	}
	return fault.New(fault.InternalError, "The call could not be recorded in the journal, so it was not sent",
		fault.WithOutcome(fault.NotExecuted), fault.WithCause(err),
		fault.WithHint("Ask the person to look at `tabrelay doctor`: the relay cannot write its database."))
}

// maxReports is how many progress and log reports are queued for a slow caller.
const maxReports = 64

// report is progress or a log line on its way to the caller.
type report struct {
	step     bool
	progress call.Progress
	entry    call.LogEntry
}

// wait passes on reports of the page until the call ends, and returns its result.
func (b *browser) wait(ctx context.Context, f *flight) (*call.Reply, *fault.Error) {
	for {
		select {
		case <-f.reported:
			b.deliver(f)
		case <-f.done:
			if len(f.reports) > 0 { // nothing is added any more
				b.deliver(f)
			}
			return f.reply, f.failure
		case <-ctx.Done():
			if b.abandon(f, cancelReason(ctx)) {
				return nil, abandonedFault(b, f)
			}
			<-f.done
			return f.reply, f.failure
		}
	}
}

// deliver passes reports on, in the caller's own goroutine: a caller that takes its time delays nobody else.
func (b *browser) deliver(f *flight) {
	var reports []report
	b.peek(func(*calls) { reports, f.reports = f.reports, nil })
	for _, one := range reports {
		switch {
		case one.step && f.req.Progress != nil:
			f.req.Progress(one.progress)
		case !one.step && f.req.Log != nil:
			f.req.Log(one.entry)
		}
	}
}

// cancelReason is the reason in the cancel frame for a context that ended.
func cancelReason(ctx context.Context) string {
	cause := context.Cause(ctx)
	if errors.Is(cause, call.ErrCancelled) || errors.Is(cause, context.Canceled) {
		return "client"
	}
	return "deadline"
}
