package dispatch

import (
	"context"
	"errors"
	"slices"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/event"
	"tabrelay/relay/fault"
)

// Mender does something about what made a call fail.
type Mender interface {
	// Mend carries out one action: "reload_tab" and "reinject_adapter" at the place where the call was to run,
	// "open_url" in the profile it was meant for.
	Mend(ctx context.Context, action string, at call.Target, r call.Invocation) *fault.Error
}

// mendTime is how long that may take.
const mendTime = 5 * time.Second

// mending says to people what an action does.
var mending = map[string]string{
	"reload_tab": "reloading the tab", "reinject_adapter": "putting the adapter into the page again", "open_url": "opening the web app",
}

// mend does what a person configured about a failure, at most once for each call. It may let the call be tried again
// where that is safe; where it is not, it is done for the call that comes next.
func (r *run) mend(f *fault.Error) {
	action := r.Recovery[f.Code]
	switch {
	case action == "", r.Mender == nil, r.mended != nil, f.FromPage, r.turn.refused:
		return
	case r.ctx.Err() != nil, r.stop.Err() != nil:
		return // nobody waits for it, or the relay ends
	case action == "open_url" && r.target.tab != 0, action != "open_url" && r.turn.at.TabID == 0:
		return // it would not help
	}
	r.mended = f
	r.feed.announce("recovery: " + mending[action])
	ctx, cancel := context.WithTimeout(r.ctx, mendTime)
	defer cancel()
	problem := r.Mender.Mend(ctx, action, r.turn.at, r.request())
	ok := problem == nil
	r.Log.Info().Str("correlationId", string(r.call.ID)).Str("tool", r.tool.Name).Str("code", string(f.Code)).
		Str("action", action).Bool("ok", ok).AnErr("problem", asError(problem)).Msg("recovery")
	news := r.tool.Name + " failed with " + string(f.Code) + ": " + mending[action]
	if !ok {
		r.mended = &fault.Error{} // nothing has changed, and it is not done twice
		news += " did not work"
	}
	r.tell(event.Of(r.call.Session), event.Retry, news, map[string]any{
		"correlationId": string(r.call.ID), "tool": r.tool.Name, "code": string(f.Code), "action": action, "ok": ok,
	})
}

// elsewhere reports whether the next attempt goes to another tab of the site: the page of this one is not ready, the
// caller named none, and nothing can have started.
func (r *run) elsewhere(f *fault.Error) bool {
	at := r.turn.at
	if f.FromPage || f.Code != fault.AdapterNotReady || f.Outcome != fault.NotExecuted || r.target.tab != 0 || at.TabID == 0 {
		return false
	}
	if !slices.Contains(r.avoid, at.TabID) {
		r.avoid = append(r.avoid, at.TabID)
	}
	if len(r.avoid) > at.Others {
		r.avoid = nil // all of them were asked: begin again with the best
		return false
	}
	return true
}

// report tells that a call failed.
func (r *run) report(f *fault.Error) {
	if f.Code == fault.Cancelled {
		return // nobody's fault
	}
	r.tell(event.Of(r.call.Session), event.Error, r.call.Tool+" failed with "+string(f.Code)+": "+f.Message, map[string]any{
		"correlationId": string(r.call.ID), "tool": r.call.Tool, "code": string(f.Code),
		"class": string(f.Class), "source": string(f.Source), "outcome": string(f.Outcome), "attempts": r.attempts,
	})
}

// asFault is the failure in an error that a caller's question returned.
func asFault(err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	return fault.New(fault.InternalError, "The call was not let in", fault.WithOutcome(fault.NotExecuted), fault.WithCause(err))
}

// asError keeps a nil failure from becoming an error that is not nil.
func asError(f *fault.Error) error {
	if f == nil {
		return nil
	}
	return f
}
