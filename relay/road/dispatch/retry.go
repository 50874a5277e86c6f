package dispatch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/lib/async"
	"tabrelay/relay/road/breaker"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/deed"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// Retry is how often and how fast a call is tried again.
type Retry struct {
	MaxAttempts  int // the first try included
	InitialDelay time.Duration
	MaxDelay     time.Duration
	Multiplier   float64
}

// tries is the state of the attempts so far.
type tries struct {
	n         int           // how many there were
	waited    time.Duration // between them
	outcome   fault.Outcome // empty while none has started
	unsettled call.ID       // id of the last attempt that may have started; empty: none
	hung      int           // attempts that the page did not respond to
	avoid     []int         // tabs that were not ready
	recovered *fault.Error  // the failure for which a configured recovery was done; nil: none yet
}

// sendWithRetries sends the call, and again where that is safe and may help. Of a tool that is not idempotent at most
// one attempt ever starts.
func (r *run) sendWithRetries() *fault.Error {
	if r.call.Resume {
		if done, failure := r.resume(); done {
			return failure
		}
	}
	var lost *fault.Error // the link, in the attempt before
	for {
		r.tries.n++
		reply, failure := r.attempt()
		if failure == nil {
			r.reply = reply
			return nil
		}
		r.ticket.Yield()
		failure.Outcome = r.callOutcome(failure.Outcome)
		if lost != nil && noBrowser(failure) && failure.Outcome != fault.NotExecuted {
			hint := failure.Hint // what brings it back
			if failure = r.forAgent(r.failureByCause(lost)); failure.Ours(fault.ExtensionLost) {
				failure.Hint += " " + hint
			}
			return failure // it did not come back: report that it was lost, not that it is absent
		}
		failure = r.failureByCause(r.classify(failure))
		avoided := r.avoidTab(failure)
		if !avoided {
			r.recoverFrom(failure)
		}
		wait, again := r.retryAfter(failure)
		if avoided {
			wait = 0
		}
		if !again {
			return r.forAgent(failure)
		}
		if !r.pause(wait, failure) {
			return r.forAgent(r.failureByCause(failure))
		}
		if lost = nil; failure.Ours(fault.ExtensionLost) {
			lost = failure
		}
	}
}

// attempt runs the tool once: it finds the tab, asks for permission, waits until the call may run there, and sends it.
func (r *run) attempt() (_ *call.Reply, failure *fault.Error) {
	q := r.invocation()
	defer func() { r.Browser.Leave(q.ID, failure != nil && failure.Outcome == fault.NotExecuted) }()
	for {
		at, failure := r.resolve(&q.Selector)
		if failure != nil {
			return nil, failure
		}
		r.step("resolved", "tab %d of profile %q at %s", at.TabID, at.Profile, at.Origin)
		waited, failure := r.permit(&at)
		if waited {
			r.step("asked", "the person was asked")
		} else if failure == nil {
			if waited, failure = r.enter(at); waited {
				r.step("queued", "waited for its turn")
			}
		}
		switch {
		case failure != nil:
			return nil, failure
		case !waited:
			r.step("allowed", "allowed; sent as attempt %d", r.tries.n)
			q.Sites = r.sites(&at)
			r.noteSites(q.Sites)
			if r.tool.Acts {
				q.Arguments = r.withConsent()
			}
			reply, failure := r.send(at, q)
			if failure == nil {
				r.step("answered", "answered")
				return reply, nil
			}
			asked, failure := r.permitAfterRefusal(&at, failure)
			if !asked || failure != nil {
				return nil, failure
			}
			r.Browser.Leave(q.ID, false)
			r.tries.n++ // another id: the page keeps the outcome of the refused attempt under the first
			q = r.invocation()
		}
		q.Stay = at // the tab in front may be another one by now: the call has waited for this one
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
	// An attempt that has waited in a tab has passed the order of its session already.
	if s.Stay.TabID == 0 || look() > 0 || failure != nil {
		if err := r.ticket.AwaitTab(ctx, r.ReconnectWait, look, r.Browser.Changed); err != nil {
			return at, fault.CallEnded(ctx, "before it was sent")
		}
	}
	if failure == nil {
		if at.ProfileID != r.status.at.ProfileID {
			r.reportToBreaker(breaker.Nothing)
		}
		r.status.mu.Lock()
		r.status.at, r.status.started, r.status.sites = at, false, nil
		r.status.mu.Unlock()
	}
	return at, failure
}

// callOutcome is what is certain of the whole call after an attempt: one that never started does not undo what an
// earlier one may have done.
func (r *run) callOutcome(attempt fault.Outcome) fault.Outcome {
	if attempt != fault.NotExecuted {
		r.tries.outcome, r.tries.unsettled = attempt, attemptID(r.call.ID, r.tries.n)
	} else if r.tries.outcome != "" {
		return r.tries.outcome
	}
	return attempt
}

// retryAfter decides by the table of the failure contract whether another attempt is safe and worth it, and after
// how long. Every attempt gets its own id, because the browser may remember the last one as refused.
func (r *run) retryAfter(f *fault.Error) (wait time.Duration, again bool) {
	if f.Ours(fault.TabUnresponsive) {
		r.tries.hung++
	}
	if r.tries.n >= r.Retry.MaxAttempts || r.clock.ctx.Err() != nil || r.refused || !r.mayRetry(f) {
		return 0, false
	}
	wait = r.Retry.delay(r.tries.n, r.Jitter())
	if f.Ours(fault.ExtensionLost) {
		wait = 0 // the next attempt waits for the profile to come back, which takes the place of the pause
	}
	if f.RetryAfterMs != nil {
		asked := time.Duration(*f.RetryAfterMs) * time.Millisecond
		if asked > r.Retry.MaxDelay {
			return 0, false // sooner would be against the web app's wish: the agent decides
		}
		wait = max(wait, asked)
	}
	return wait, wait < r.clock.remainingForRetry()
}

// maxHung is how many attempts a page may leave without a response. One that was busy for a moment responds to the
// second; one that hangs or shows a dialog needs a person.
const maxHung = 2

// mayRetry reports whether another attempt could help and cannot do the action twice.
func (r *run) mayRetry(f *fault.Error) bool {
	recovered := r.tries.recovered == f
	switch {
	case f.FromPage:
		return r.tool.Idempotent && f.Retryable
	case f.Code == fault.TimeoutCode:
		return false
	case recovered:
		return f.Outcome == fault.NotExecuted || f.Outcome == fault.Unknown && r.tool.Idempotent
	case f.AlreadyWaited: // the page was waited for already
		return false
	case f.Class != fault.Transient, r.tries.hung >= maxHung:
		return false
	case noBrowser(f): // the browser was waited for already, as long as that made sense
		return false
	case f.Outcome == fault.NotExecuted:
		return f.Retryable || f.Code == fault.ExtensionLost
	case f.Outcome == fault.Unknown, f.Outcome == fault.Executed: // the latter by an earlier attempt
		return r.tool.Idempotent
	}
	return false
}

// noBrowser reports whether a failure means that no suitable browser is connected.
func noBrowser(f *fault.Error) bool {
	if f.FromPage {
		return false
	}
	switch f.Code {
	case fault.ExtensionNotConnected, fault.BrowserNotRunning, fault.ExtensionNotInstalled, fault.WorkerAsleep,
		fault.ProfileNotConnected:
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
		Int("attempt", r.tries.n).Dur("wait", wait).Msg("trying again")
	when := "now"
	if wait > 0 {
		when = "in " + strconv.FormatFloat(wait.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
	}
	news := fmt.Sprintf("retry %d/%d %s", r.tries.n+1, r.Retry.MaxAttempts, when)
	r.step("failed", "failed with %s, outcome %s; %s", f.Code, f.Outcome, news)
	r.reports.announce(news)
	news = r.tool.Name + " failed with " + string(f.Code) + ": " + news
	r.Events(event.Of(r.call.Session), event.Retry, news, map[string]any{
		"correlationId": string(r.call.ID), "tool": r.tool.Name, "code": string(f.Code),
		"attempt": r.tries.n + 1, "maxAttempts": r.Retry.MaxAttempts, "waitMs": wait.Milliseconds(),
	})
	r.tries.waited += wait
	return wait == 0 || async.Sleep(r.clock.ctx, wait)
}

// recoveryTime is how long a recovery may take.
const recoveryTime = 5 * time.Second

// recoveryWords are the names of recoveries in messages.
var recoveryWords = map[string]string{
	"reload_tab":       "reloading the tab",
	"reinject_adapter": "putting the adapter into the page again",
	"open_url":         "opening the web app",
}

// recoverFrom does the recovery that is configured for a failure, at most once for each call. The call is tried again
// where that is safe; otherwise only the next call benefits.
func (r *run) recoverFrom(f *fault.Error) {
	action := r.Recovery[f.Code]
	switch {
	case action == "", r.tries.recovered != nil, f.FromPage, r.refused:
		return
	case r.ctx.Err() != nil, r.stop.Err() != nil:
		return // nobody waits for it, or the relay ends
	case action == "open_url" && r.relayArgs.tab != 0, action != "open_url" && r.status.at.TabID == 0:
		return // it would not help
	}
	r.tries.recovered = f
	r.reports.announce("recovery: " + recoveryWords[action])
	ctx, cancel := context.WithTimeout(r.ctx, recoveryTime)
	defer cancel()
	problem := r.Browser.Recover(ctx, action, r.status.at, r.invocation())
	ok := problem == nil
	r.Log.Info().Str("correlationId", string(r.call.ID)).Str("tool", r.tool.Name).Str("code", string(f.Code)).
		Str("action", action).Bool("ok", ok).AnErr("problem", asError(problem)).Msg("recovery")
	news := r.tool.Name + " failed with " + string(f.Code) + ": " + recoveryWords[action]
	if !ok {
		r.tries.recovered = &fault.Error{} // no reason to retry, and not nil: it is not done twice
		news += " did not work"
	}
	r.Events(event.Of(r.call.Session), event.Retry, news, map[string]any{
		"correlationId": string(r.call.ID), "tool": r.tool.Name, "code": string(f.Code), "action": action, "ok": ok,
	})
}

// asError keeps a nil failure from becoming an error that is not nil.
func asError(f *fault.Error) error {
	if f == nil {
		return nil
	}
	return f
}

// avoidTab marks the tab as not ready and reports whether another tab of the site can be tried: the page of this one is
// not ready, the caller named none, and nothing can have started.
func (r *run) avoidTab(f *fault.Error) bool {
	at := r.status.at
	unready := !f.FromPage && f.Code == fault.AdapterNotReady && f.Outcome == fault.NotExecuted
	if !unready || r.relayArgs.tab != 0 || at.TabID == 0 {
		return false
	}
	if !slices.Contains(r.tries.avoid, at.TabID) {
		r.tries.avoid = append(r.tries.avoid, at.TabID)
	}
	if len(r.tries.avoid) > at.Others {
		r.tries.avoid = nil // all of them were asked: begin again with the best
		return false
	}
	return true
}

// invocation makes the next attempt.
func (r *run) invocation() call.Invocation {
	t, site := r.tool, r.tool.Site
	timeout, longest := r.clock.remaining()
	most := r.maxBytes - r.spoken() // of the page's answer, so that nothing of it has to be cut
	if t.Wrapped {
		most -= wrapping
	}
	followed := r.Calls.Heard()
	q := call.Invocation{
		Selector: call.Selector{
			ID: r.call.ID, Session: r.call.Session, Plugin: t.Plugin.Manifest.Name,
			Matches: site.Matches, Excludes: site.Excludes, TabID: r.relayArgs.tab, InFront: site.EveryPage,
			Profile: r.relayArgs.profile, Write: !t.ReadOnly, OpenURL: site.Homepage, Frames: t.Spec.Frames,
			Hides: r.hides,
		},
		Order: call.Order{
			Hash: t.Plugin.Hash, Title: t.Spec.DisplayName, Settings: site.Settings, Secret: site.Secret,
			ProgressExtends: r.clock.extends, ProgressPattern: t.Spec.ProgressPattern,
			MaxResultBytes: r.MaxResultBytes, MaxBytes: max(1, most), ConsoleTailBytes: r.ConsoleTailBytes,
			Trace: r.Trace || followed, Follow: followed && !t.Browses && t.Page == nil,
		},
		Tool: t.Spec.Name, Arguments: r.args, Timeout: timeout, MaxTimeout: longest,
		Progress: r.progressed, Log: r.reports.log, Started: r.start, Hidden: r.clock.noteHidden,
	}
	if r.call.Step != nil {
		q.Timed, q.Order.Timed = r.timed, true
	}
	if t.Browses {
		q.Viewer, q.Refers = viewerID(r.call.Session.ID), deed.Refers(r.args)
	}
	if page := t.Page; page != nil {
		q.PageTool, q.InFront, q.Adapter, q.Entry = page.ID(), false, registry.PageAdapter, page.Entry
		q.Tool, q.Arguments = strings.TrimPrefix(t.Name, registry.Web+"__"), page.Arguments(r.args)
	}
	if r.tries.n > 1 {
		q.ID, q.CorrelationID = attemptID(r.call.ID, r.tries.n), r.call.ID
	}
	if len(r.tries.avoid) > 0 {
		q.Profile, q.Avoid = r.status.at.ProfileID, r.tries.avoid
	}
	if len(site.Instances) > 1 {
		q.OpenURL = "" // the home page is that of one of them
	}
	if r.relayArgs.instance != "" {
		if in, ok := site.Instance(r.relayArgs.instance); ok {
			q.Matches, q.OpenURL = []string{in.Match}, in.URL
		}
	}
	return q
}

// viewerID is a hash of the session: a page can tell viewers apart by it, and learns nothing else of them.
func viewerID(session string) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:8])
}

// resume looks up a call that an earlier relay may have sent. done: it must not be sent, because it has ended, or it is
// unknown whether it ran. A read, and a write that is proven never to have started, is sent.
func (r *run) resume() (done bool, failure *fault.Error) {
	for n := 1; n <= r.Retry.MaxAttempts; n++ {
		reply, f, known := r.Browser.FindOutcome(r.clock.ctx, attemptID(r.call.ID, n))
		if !known {
			if r.tool.ReadOnly {
				r.tries.outcome = fault.Unknown // reads are not journalled: an earlier relay may have run it
			}
			return false, nil
		}
		r.tries.n = n
		if f == nil {
			r.reply = reply
			return true, nil
		}
		if f = r.failureByCause(r.classify(f)); f.Outcome != fault.NotExecuted || r.clock.ctx.Err() != nil {
			return true, r.forAgent(f)
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
