package dispatch

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/event"
	"tabrelay/relay/fault"
	"tabrelay/relay/pause"
)

// Retry is how often and how fast a call is tried again.
type Retry struct {
	MaxAttempts  int // the first try included
	InitialDelay time.Duration
	MaxDelay     time.Duration
	Multiplier   float64
}

// The results of a call that was tried more than once, as the metrics name them.
const (
	retrySucceeded = "success"
	retryFailed    = "failure"
)

// retrying delivers the call, and again where that is safe and promises something. Whatever happens, at most one
// attempt of a tool that is not idempotent ever starts.
func (r *run) retrying() *fault.Error {
	if r.call.Resume {
		if done, failure := r.resume(); done {
			return failure
		}
	}
	var lost *fault.Error // the link, in the attempt before
	for {
		r.attempts++
		reply, failure := r.attempt()
		if failure == nil {
			r.reply = reply
			return nil
		}
		failure.Outcome = r.truth(failure.Outcome)
		if lost != nil && absent(failure.Code) && failure.Outcome != fault.NotExecuted {
			return r.final(r.judge(lost)) // it did not come back: that it was lost is the news
		}
		failure = r.judge(r.classify(failure))
		elsewhere := r.elsewhere(failure)
		if !elsewhere {
			r.mend(failure)
		}
		wait, again := r.again(failure)
		if elsewhere {
			wait = 0
		}
		if !again {
			return r.final(failure)
		}
		if !r.pause(wait, failure) {
			return r.final(r.judge(failure))
		}
		if lost = nil; failure.Code == fault.ExtensionLost {
			lost = failure
		}
	}
}

// attempt runs the tool once: it finds the tab, waits until the call may run there, and sends it.
func (r *run) attempt() (*call.Reply, *fault.Error) {
	q := r.request()
	defer r.Browser.Leave(q.ID)
	defer r.turn.Yield()
	for {
		at, failure := r.resolve(&q.Selector)
		if failure != nil {
			return nil, failure
		}
		wait, failure := r.enter(at)
		if failure != nil {
			return nil, failure
		}
		if wait == nil {
			return r.Browser.Send(r.clock.ctx, at, q)
		}
		if failure := wait(r.clock.ctx); failure != nil {
			return nil, failure
		}
		q.Stay = at // the person may look at another tab by now: the call has waited for this one
	}
}

// resolve finds the tab of an attempt, and waits for a browser that is on its way.
func (r *run) resolve(s *call.Selector) (at call.Target, failure *fault.Error) {
	ctx := r.clock.ctx
	if ctx.Err() != nil {
		return at, fault.CallEnded(ctx, "before it was sent")
	}
	look := func() (wait time.Duration) {
		at, failure, wait = r.Browser.Resolve(*s)
		return wait
	}
	if s.Stay.TabID != 0 && look() == 0 && failure == nil {
		return at, nil // it came in its session's order before
	}
	if err := r.turn.AwaitTab(ctx, r.ReconnectWait, look, r.Browser.Changed); err != nil {
		return at, fault.CallEnded(ctx, "before it was sent")
	}
	return at, failure
}

// truth is what is certain of the whole call after an attempt: one that never started does not undo what an
// earlier one may have done.
func (r *run) truth(attempt fault.Outcome) fault.Outcome {
	if attempt != fault.NotExecuted {
		r.outcome, r.doubt = attempt, attemptID(r.call.ID, r.attempts)
	} else if r.outcome != "" {
		return r.outcome
	}
	return attempt
}

// again decides by the table of the failure contract whether another attempt is safe and worth it, and after
// how long. Every attempt gets its own id, because the browser may remember the last one as refused.
func (r *run) again(f *fault.Error) (wait time.Duration, again bool) {
	if f.Code == fault.TabUnresponsive {
		r.hung++
	}
	if r.attempts >= r.Retry.MaxAttempts || r.clock.ctx.Err() != nil || r.turn.refused || !r.safe(f) {
		return 0, false
	}
	wait = r.Retry.delay(r.attempts, r.Jitter())
	if f.Code == fault.ExtensionLost {
		wait = 0 // the next attempt waits for the profile to come back, which takes the place of the pause
	}
	if f.RetryAfterMs != nil {
		asked := time.Duration(*f.RetryAfterMs) * time.Millisecond
		if asked > r.Retry.MaxDelay {
			return 0, false // sooner would be against the web app's wish: the agent decides
		}
		wait = max(wait, asked)
	}
	return wait, wait < r.clock.forRetry()
}

// hungTwice is after how many attempts a page that does not take a call is left alone: one that was busy for a
// moment has taken it by then; one that hangs or shows a dialog needs a person.
const hungTwice = 2

// safe reports whether running the tool again cannot do the action twice, and could help.
func (r *run) safe(f *fault.Error) bool {
	switch {
	case f.FromPage:
		return r.tool.Idempotent && f.Retryable
	case f.Code == fault.TimeoutCode:
		return false
	case f.Settled && r.mended != f:
		return false // the page was waited for already
	case r.mended == f:
		return f.Outcome == fault.NotExecuted || f.Outcome == fault.Unknown && r.tool.Idempotent
	case f.Class != fault.Transient, r.hung >= hungTwice:
		return false
	case absent(f.Code):
		return false // Browser has waited for it already, as long as that made sense
	case f.Outcome == fault.NotExecuted:
		return f.Retryable || f.Code == fault.ExtensionLost
	case f.Outcome == fault.Unknown, f.Outcome == fault.Executed: // the latter by an earlier attempt
		return r.tool.Idempotent
	}
	return false
}

// absent tells failures that only a person ends, by starting or connecting a browser.
func absent(code fault.Code) bool {
	switch code {
	case fault.ExtensionNotConnected, fault.BrowserNotRunning, fault.ExtensionNotInstalled, fault.WorkerAsleep, fault.ProfileNotConnected:
		return true
	}
	return false
}

// delay is the pause after attempt n: growing, bounded, and up to half as long again at random, so that calls
// that failed together do not come back together.
func (p Retry) delay(n int, jitter float64) time.Duration {
	ms := float64(p.InitialDelay.Milliseconds()) * math.Pow(p.Multiplier, float64(n-1))
	ms = min(ms, float64(p.MaxDelay.Milliseconds()))
	return min(time.Duration(ms*(1+jitter/2)*float64(time.Millisecond)), p.MaxDelay)
}

// pause waits before the next attempt and tells the caller why. It reports whether there still is one.
func (r *run) pause(wait time.Duration, f *fault.Error) bool {
	r.Log.Info().Str("correlationId", string(r.call.ID)).Str("tool", r.tool.Name).Str("code", string(f.Code)).
		Int("attempt", r.attempts).Dur("wait", wait).Msg("trying again")
	when := "now"
	if wait > 0 {
		when = "in " + strconv.FormatFloat(wait.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
	}
	message := fmt.Sprintf("retry %d/%d %s", r.attempts+1, r.Retry.MaxAttempts, when)
	r.feed.announce(message)
	r.tell(event.Of(r.call.Session), event.Retry, fmt.Sprintf("%s failed with %s: %s", r.tool.Name, f.Code, message), map[string]any{
		"correlationId": string(r.call.ID), "tool": r.tool.Name, "code": string(f.Code),
		"attempt": r.attempts + 1, "maxAttempts": r.Retry.MaxAttempts, "waitMs": wait.Milliseconds(),
	})
	r.waited += wait
	return wait == 0 || pause.For(r.clock.ctx, wait)
}

// final is the failure as the agent gets it once no attempt follows. An action that may have happened is never
// called retryable unless repeating it is harmless.
func (r *run) final(f *fault.Error) *fault.Error {
	if !f.FromPage && f.Outcome == fault.Unknown {
		f.Retryable = r.tool.Idempotent && f.Class == fault.Transient // a tab that is gone does not come back
		if f.Code == fault.ExtensionLost && r.tool.Idempotent {
			f.Hint = harmless
		}
	}
	return f
}

// request is the next attempt.
func (r *run) request() call.Invocation {
	t, site := r.tool, r.tool.Site
	timeout, longest := r.clock.left()
	q := call.Invocation{
		Selector: call.Selector{
			ID: attemptID(r.call.ID, r.attempts), Session: r.call.Session, Plugin: t.Plugin.Manifest.Name,
			Matches: site.Matches, Excludes: site.Excludes, TabID: r.target.tab, InFront: site.EveryPage,
			Profile: r.target.profile, Write: !t.ReadOnly, OpenURL: site.Homepage, Frames: t.Spec.Frames,
		},
		Hash: t.Plugin.Hash, Tool: t.Spec.Name, Title: t.Spec.DisplayName,
		Arguments: r.args, Settings: site.Settings, Secret: site.Secret,
		Timeout: timeout, MaxTimeout: longest, ProgressExtends: r.clock.extends,
		MaxResultBytes: r.MaxResultBytes, MaxBytes: r.room(), ConsoleTailBytes: r.ConsoleTailBytes,
		Progress: r.progress, Log: r.feed.log, Started: r.start, Trace: r.Trace, ProgressPattern: t.Spec.ProgressPattern,
	}
	if q.ID != r.call.ID {
		q.CorrelationID = r.call.ID
	}
	if len(r.avoid) > 0 {
		q.Profile, q.Avoid = r.turn.at.ProfileID, r.avoid
	}
	if in, ok := site.Instance(r.target.instance); ok {
		q.Matches, q.OpenURL = []string{in.Match}, in.URL
	}
	return q
}

// resume finds out what became of a call that may have been sent before. done is true when it needs no running:
// it has an end, or nobody can tell. A read, and a write that is proven never to have started, is run.
func (r *run) resume() (done bool, failure *fault.Error) {
	for n := 1; n <= r.Retry.MaxAttempts; n++ {
		reply, f, known := r.Browser.Recover(r.clock.ctx, attemptID(r.call.ID, n))
		if !known {
			if r.tool.ReadOnly {
				r.outcome = fault.Unknown // reads are not journalled: an earlier relay may have run it
			}
			return false, nil
		}
		r.attempts = n
		if f == nil {
			r.reply = reply
			return true, nil
		}
		if f = r.judge(r.classify(f)); f.Outcome != fault.NotExecuted || r.clock.ctx.Err() != nil {
			return true, r.final(f)
		}
	}
	return false, nil
}

// attemptID is the id under which attempt n is sent: the call's own at first, then with another last byte. A
// relay that is asked for the call again finds every attempt by it.
func attemptID(id call.ID, n int) call.ID {
	if n <= 1 || len(id) < 2 {
		return id
	}
	at := len(id) - 2
	last, err := strconv.ParseUint(string(id[at:]), 16, 8)
	if err != nil {
		return id + call.ID("-"+strconv.Itoa(n))
	}
	return id[:at] + call.ID(fmt.Sprintf("%02x", byte(last)+byte(n-1)))
}
