package dispatch

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
)

// Meter counts.
type Meter interface {
	CallDone(plugin, outcome string, took time.Duration)
	ErrorRaised(class fault.Class, source fault.Source, code fault.Code)
	Retry(result string, waited time.Duration)
	Breaker(name string, state int) // 0 closed, 1 half open, 2 open
}

// Audit writes down what was called.
type Audit interface {
	// Record does not wait for the disk. The entry's arguments belong to the caller again once it returns.
	Record(e call.Entry)
}

// DeadLetters takes the calls with unknown outcome, and those that failed as often as they may be tried.
type DeadLetters interface {
	// AddDeadLetter does not wait for the disk. sent is the id of the attempt whose end would settle the letter; empty
	// when there is none.
	AddDeadLetter(l call.DeadLetter, sent call.ID)
}

// The outcomes of calls that succeeded, in the audit log and in the metrics, and the results of those that were tried
// more than once.
const (
	returned       = "returned"
	succeeded      = "ok"
	retrySucceeded = "success"
	retryFailed    = "failure"
)

// record completes the end of a call, counts it, and tells everybody who wants to know. f is nil for a success.
func (r *run) record(f *fault.Error) {
	took := time.Since(r.began)
	plugin, outcome, retried := "", succeeded, retrySucceeded
	if r.tool != nil {
		plugin = r.tool.Group
	}
	if f == nil {
		r.complete(took)
	} else {
		outcome, retried = string(f.Outcome), retryFailed
		r.completeFailure(f)
		r.addDeadLetter(f)
	}
	r.Meter.CallDone(plugin, outcome, took)
	if r.tries.n > 1 {
		r.Meter.Retry(retried, r.tries.waited)
	}
	if f != nil && !f.Ours(fault.Cancelled) { // which is nobody's fault
		r.Meter.ErrorRaised(f.Class, f.Source, f.Code)
		r.announceFailure(f)
	}
	r.noteSignIn(f)
	r.logEnd(f, took)
	if r.tool != nil && r.Calls.Heard() { // nothing is made of it while nobody listens
		r.tellFollowers(f, took)
	}
	r.audit(f, took)
}

// complete says in a result where and how the call ran.
func (r *run) complete(took time.Duration) {
	res := r.result
	r.warnHidden()
	res.Warnings = append(res.Warnings, r.warnings...)
	if res.Structured && len(res.Warnings) > 0 {
		r.annotate()
	} else {
		res.Note = nil
	}
	m := &res.Meta
	m.CorrelationID, m.Attempts, m.Duration = r.call.ID, r.tries.n, took
	if p := r.reply; p != nil {
		m.TabID, m.ProfileID, m.Profile = p.TabID, p.ProfileID, p.Profile
		m.Origin, m.Frame, m.Trust, m.Untrusted = p.Origin, p.Frame, p.Trust, true
	}
}

// busyPause is how long an agent is told to wait for a page that has not ended an earlier call. The relay's own
// attempts come sooner.
const busyPause = 5 * time.Second

// completeFailure says in a failure which call it ended, and adds the tool's own advice to one that only a smaller
// question avoids.
func (r *run) completeFailure(f *fault.Error) {
	f.CorrelationID, f.Attempts = string(r.call.ID), max(f.Attempts, r.tries.n) // a tool may try by itself
	f.Warnings = append(f.Warnings, r.warnings...)
	if f.Ours(fault.TabBusy) && f.Outcome == fault.NotExecuted && f.RetryAfterMs == nil {
		fault.WithRetryAfter(busyPause)(f)
	}
	if f.FromPage {
		f.Origin = r.status.at.Origin
	} else if f.Code == fault.OutputTooLarge && f.Data == nil && r.tool.Spec.NarrowHint != "" {
		fault.WithHint(r.tool.Spec.NarrowHint + "\nThe action itself has happened.")(f)
	}
}

// announceFailure tells of a failure as an event.
func (r *run) announceFailure(f *fault.Error) {
	message := r.call.Tool + " failed with " + string(f.Code) + ": " + f.Message
	r.Events(event.Of(r.call.Session), event.Error, message, map[string]any{
		"correlationId": string(r.call.ID), "tool": r.call.Tool, "code": string(f.Code),
		"class": string(f.Class), "source": string(f.Source), "outcome": string(f.Outcome), "attempts": r.tries.n,
	})
}

// signIn is the person being signed in to the web app of a plugin, in a browser profile.
type signIn struct{ plugin, profileID string }

// noteSignIn notes what the end of a call tells about the person being signed in: only what a page answered does.
func (r *run) noteSignIn(f *fault.Error) {
	changed := false
	switch {
	case f == nil && r.reply != nil:
		_, changed = r.signedOut.LoadAndDelete(signIn{r.tool.Group, r.reply.ProfileID})
	case f != nil && f.FromPage && f.Code == fault.AuthError && r.tool.Plugin != nil:
		_, was := r.signedOut.LoadOrStore(signIn{r.tool.Group, r.status.at.ProfileID}, nil)
		changed = !was
	}
	if changed {
		r.TopicsChanged(event.TopicPlugins)
	}
}

// SignedOut reports whether the web app of a plugin told the last call in a profile to sign in; an empty one means any.
func (d *Dispatcher) SignedOut(plugin, profileID string) (out bool) {
	for key := range d.signedOut.Range {
		at, _ := key.(signIn)
		out = out || at.plugin == plugin && (profileID == "" || at.profileID == profileID)
	}
	return out
}

// logEnd writes the line of the log.
func (r *run) logEnd(f *fault.Error, took time.Duration) {
	level := zerolog.DebugLevel
	switch {
	case f != nil && f.Source == fault.SourceInternal && !f.FromPage && f.Code != fault.Cancelled:
		level = zerolog.ErrorLevel
	case f != nil:
		level = zerolog.InfoLevel
	}
	e := r.Log.WithLevel(level).Str("correlationId", string(r.call.ID)).Str("tool", r.call.Tool).
		Str("client", r.call.Session.Client).Int("attempts", r.tries.n).Dur("took", took)
	if r.call.Script != "" {
		e.Str("script", string(r.call.Script))
	}
	if t := r.call.Trace; t.ID != "" {
		e.Str("trace", t.ID).Str("parentSpan", t.Span).Str("span", call.TraceOf(r.ctx).Span)
	}
	if f == nil {
		e.Int("tab", r.result.Meta.TabID).Msg("call succeeded")
		return
	}
	e.Str("code", string(f.Code)).Str("class", string(f.Class)).Str("source", string(f.Source)).
		Str("outcome", string(f.Outcome)).Str("failure", f.Message).AnErr("cause", f.Err).Msg("call failed")
}

// tellFollowers tells how a call ended to whoever writes its plugin, and follows its calls.
func (r *run) tellFollowers(f *fault.Error, took time.Duration) {
	after := took.Round(time.Millisecond).String()
	message, data := r.call.Tool+" answered in "+after, r.trail()
	data["durationMs"] = took.Milliseconds()
	if f != nil {
		message = r.call.Tool + " failed after " + after + " with " + string(f.Code) + ": " + f.Message
		data["code"], data["at"] = f.Code, f.Places
	}
	r.Calls.Publish(event.Of(r.call.Session), event.Call, message, data)
}

// trail is what an event says about the call it belongs to.
func (r *run) trail() map[string]any {
	return map[string]any{"plugin": r.tool.Group, "tool": r.call.Tool, "correlationId": string(r.call.ID)}
}

// audit writes the end of the call down; f is nil for one that succeeded.
func (r *run) audit(f *fault.Error, took time.Duration) {
	if r.Audit == nil {
		return
	}
	at := &r.status.at
	e := call.Entry{
		At: time.Now(), Kind: call.EntryCall, Session: r.call.Session, Tool: r.call.Tool,
		Arguments: r.auditArguments(r.args, f), Outcome: returned, Duration: took, CallID: r.call.ID,
		ProfileID: at.ProfileID, Profile: at.Profile, TabID: at.TabID, Origin: at.Origin,
	}
	if r.args == nil {
		e.Arguments = r.auditArguments(r.call.Arguments, f)
	}
	if r.tool != nil {
		e.Plugin = r.tool.Group
		e.Decision, e.DecidedBy = r.reason(f)
	}
	if p := r.reply; p != nil {
		e.ProfileID, e.Profile, e.TabID, e.Origin = p.ProfileID, p.Profile, p.TabID, p.Origin
		if p.Origin != "" && p.Origin != at.Origin && p.TabID == at.TabID {
			e.Detail = "It was in a frame of " + at.Origin + "."
		}
	} else if r.closedFrame != nil {
		e.Origin = r.closedFrame.Origin
	}
	if f != nil {
		e.Outcome, e.Code, e.Detail = string(f.Outcome), string(f.Code), f.Message
		if e.TabID == 0 {
			e.TabID, e.Profile = f.TabID, f.Profile
		}
	}
	if done := r.auditDetail(f); done != "" {
		e.Detail = strings.TrimSpace(strings.TrimSuffix(done, ".") + ". " + e.Detail)
	}
	if id := r.call.Script; id != "" {
		e.Detail = strings.TrimSuffix("The script "+string(id)+" made it. "+e.Detail, ". ")
	}
	if id := r.call.ReplayOf; id != "" {
		e.Detail = strings.TrimSuffix("It repeats the call "+string(id)+". "+e.Detail, ". ")
	}
	if t := r.call.Trace; t.ID != "" {
		e.Detail = strings.TrimSuffix("It is in the trace "+t.ID+" under "+t.Span+". "+e.Detail, ". ")
	}
	r.Audit.Record(e)
}

// Who decided that a call may run, where the decision has no entry of its own.
const (
	byRule  = "rule"
	byGrant = "grant" // a person, who allowed it earlier for more than one call
	byRelay = "relay"
)

// reason says why the call was let run, or was not, as far as the rules know. What a person answered to this very call
// is an entry of its own.
func (r *run) reason(f *fault.Error) (decision, by string) {
	switch mine := f != nil && !f.FromPage; {
	case mine && f.Code == fault.PermissionDenied:
		return "refused", byRule
	case mine && (f.Code == fault.ApprovalDenied || f.Code == fault.ApprovalTimeout):
		return "not allowed", byRelay
	case r.Policy == nil || f != nil && r.tries.n == 0:
		return "", ""
	case r.consent.confirmed:
		return "allowed", "person"
	}
	switch r.verdict.Mode {
	case call.Auto:
		return string(call.Auto) + ": " + r.verdict.Why, byRule
	case call.Ask:
		return "allowed before", byGrant
	}
	return "", ""
}

// addDeadLetter keeps a call that ended badly in a way that somebody may have to look at.
func (r *run) addDeadLetter(f *fault.Error) {
	if r.DeadLetters == nil || !r.admitted || !r.lost(f) {
		return
	}
	audited := r.auditArguments(r.call.Arguments, f)
	arguments, redacted := fault.RedactArguments(audited)
	redacted = redacted || !bytes.Equal(audited, r.call.Arguments)
	failure, err := json.Marshal(f)
	if err != nil {
		failure = nil
	}
	sent := r.tries.unsettled
	switch {
	case f.FromPage || f.Outcome != fault.Unknown || r.tool.ReadOnly:
		sent = "" // no other end will come
	case sent == "":
		sent = attemptID(r.call.ID, max(r.tries.n, 1))
	}
	r.DeadLetters.AddDeadLetter(call.DeadLetter{
		ID: r.call.ID, Session: r.call.Session, Tool: r.tool.Name, Created: time.Now(), TabID: f.TabID,
		Profile: f.Profile, Arguments: arguments, Redacted: redacted, Attempts: r.tries.n, Deeds: r.intended(),
		Outcome: call.State(f.Outcome), Failure: failure, ReplayOf: r.call.ReplayOf,
	}, sent)
}

// lost reports whether nobody knows what became of the call, or every try was in vain. A read that its client cancelled
// is neither, one that an earlier call kept out of its tab has only to be repeated, and what the relay's end
// interrupted is asked for by the next relay.
func (r *run) lost(f *fault.Error) bool {
	if r.tool.Run != nil && r.tool.ReadOnly || f.Ours(fault.ShuttingDown) {
		return false
	}
	if f.Outcome == fault.Unknown {
		return !f.Ours(fault.Cancelled) || !r.tool.ReadOnly
	}
	return r.tries.n > 1 && !f.Ours(fault.TabBusy) && (f.Class == fault.Transient || f.FromPage && f.Retryable)
}
