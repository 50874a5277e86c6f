package hub

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// keptOutput is the largest output the journal keeps.
const keptOutput = wire.StoredOutcomeBytes

// outcome ends the call of an outcome frame. One that is not open any more is still journalled.
func (b *browser) outcome(o *wire.Outcome, payload json.RawMessage) {
	f := b.lookup(o.ID)
	if f == nil {
		b.hub.lateOutcome(b, o, payload)
		return
	}
	reply, failure := b.decodeOutcome(f, o, payload)
	var timing *call.Timing
	if f.req != nil && f.req.Timed != nil {
		timing = &call.Timing{Sent: f.queued, Answered: time.Now(), Steps: o.Times}
	}
	late := false
	b.update(func(s *calls) {
		late = f.abandoned
		f.timing = timing
		s.end(f, reply, failure)
		if s.conn != nil {
			s.conn.queue.ack(o.ID)
		}
	})
	if late {
		b.hub.cfg.Meter.LateAnswer()
	}
}

// decodeOutcome turns an outcome frame into what Send returns.
func (b *browser) decodeOutcome(f *flight, o *wire.Outcome, payload json.RawMessage) (*call.Reply, *fault.Error) {
	switch o.Status {
	case wire.Threw:
		e, repairs := fault.FromPage(o.Error)
		b.hub.logRepairs(f, repairs)
		e.Warnings = repairs
		e.TabID, e.Profile = f.tabID, b.label()
		if f.req == nil || !f.req.Trace {
			e.TraceLine = "" // nobody has asked for it
		}
		return nil, withTail(e, o.ConsoleTail)
	case wire.Refused:
		return nil, withTail(b.refusalFault(f, o.Refusal), o.ConsoleTail)
	}
	if len(payload) == 0 {
		return nil, withTail(fault.New(fault.InvalidOutput, "The tool ended without a value", b.at(f.tabID)),
			o.ConsoleTail)
	}
	limit := wire.MaxResultBytes
	if f.req != nil {
		limit = cmp.Or(f.req.MaxResultBytes, limit)
	}
	if len(payload) > limit {
		message := fmt.Sprintf("The result has %d bytes; the limit is %d", len(payload), limit)
		return nil, withTail(fault.New(fault.OutputTooLarge, message, b.at(f.tabID)), o.ConsoleTail)
	}
	return &call.Reply{
		Output: bytes.Clone(payload), TabID: f.tabID, ProfileID: b.id, Profile: b.label(), Origin: o.Origin,
		Frame: o.Frame,
		Trust: o.Trust, ConsoleTail: o.ConsoleTail, DurationMs: o.DurationMs,
	}, nil
}

// refusable are the codes that an extension may refuse a call with. Its frames are untrusted input.
var refusable = map[fault.Code]bool{
	fault.TabNotFound: true, fault.TabChanged: true, fault.TabUnresponsive: true, fault.TabBusy: true,
	fault.AdapterNotReady: true, fault.InjectionFailed: true, fault.OutputTooLarge: true, fault.InvalidOutput: true,
	fault.Cancelled: true,
}

// refusalFault is the failure of a call that the extension or the page runtime refused or ended.
func (b *browser) refusalFault(f *flight, r *wire.Refusal) *fault.Error {
	outcome := fault.WithOutcome(fault.Outcome(r.Outcome)) // one of the three: Decode has checked
	code := fault.Code(r.Code)
	switch {
	case code == fault.TimeoutCode:
		return b.timedOut(f, r, outcome)
	case r.Code == tabClosed:
		return closedFault(b, f, fault.Sanitize(r.Message), fault.Outcome(r.Outcome))
	}
	if !refusable[code] {
		return fault.New(fault.InternalError, fault.Sanitize("The extension ended the call: "+r.Message), b.at(f.tabID),
			outcome)
	}
	options := []fault.Option{b.at(f.tabID), outcome}
	switch row, _ := fault.Lookup(code); {
	case row.Outcome == fault.NotExecuted && r.Outcome != string(fault.NotExecuted):
		// The row is about a call that never started; this one may have.
		options = append(options, fault.WithRetryable(false),
			fault.WithHint("The action may have happened: read the page before repeating it."))
	case code == fault.TabUnresponsive && r.Outcome == string(fault.NotExecuted):
		options = append(options, fault.WithRetryable(true))
	case code == fault.AdapterNotReady && r.Reason == wire.Withheld:
		options = append(options, fault.AlreadyWaited(), fault.WithRetryable(false), fault.WithHint(reopenHint))
	case code == fault.AdapterNotReady && r.Reason == wire.NotReady:
		options = append(options, fault.AlreadyWaited(), fault.WithHint(signInHint(f, r.SignIn)))
	}
	return fault.New(code, fault.Sanitize(r.Message), options...)
}

// reopenHint is the advice for a page that another document could have tampered with.
const reopenHint = "Open the page's address anew with browser__open_tab and pass its tabId; a tab that is only " +
	"older than the plugin can be reloaded instead. A plugin that runs in the isolated world has no such limit."

// signInHint says where a person may have to sign in: what the plugin says, else where the web app begins.
func signInHint(f *flight, said string) string {
	where := ""
	if u, err := url.Parse(said); err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") {
		where = fault.Sanitize(u.String())
	} else if f.req != nil {
		where = f.req.OpenURL
	}
	if where == "" {
		return "Ask the person to look at the tab and to sign in there if nobody is, then repeat the call."
	}
	return "Ask the person to look at the tab and, if nobody is signed in, to sign in at " + where +
		", then repeat the call."
}

func (b *browser) timedOut(f *flight, r *wire.Refusal, outcome fault.Option) *fault.Error {
	reason := fault.Reason(r.Reason)
	switch reason {
	case fault.Fixed, fault.Idle, fault.MaxExceeded:
	default:
		reason = fault.Fixed
	}
	var timeout, longest time.Duration
	extends := false
	if f.req != nil {
		timeout, longest, extends = f.req.Timeout, f.req.MaxTimeout, f.req.ProgressExtends
	}
	return fault.TimedOut(reason, timeout, longest, extends, "", outcome, b.at(f.tabID))
}

// journalEnd records in the journal how a call ended.
func (h *Hub) journalEnd(id call.ID, reply *call.Reply, failure *fault.Error) {
	if failure != nil {
		state := call.Unknown
		switch failure.Outcome {
		case fault.NotExecuted:
			state = call.NotExecuted
		case fault.Executed:
			state = call.Executed
		}
		if failure.FromPage {
			state = call.Executed // it ran to its end, whatever it says about the web app behind it
		}
		h.cfg.Journal.RecordEnd(id, state, nil, pack(failure))
		return
	}
	output := reply.Output
	if len(output) > keptOutput {
		output = nil
	}
	h.cfg.Journal.RecordEnd(id, call.Executed, output, nil)
}

// logRepairs logs, once for each plugin version, that a thrown error had invalid fields that were repaired.
func (h *Hub) logRepairs(f *flight, repairs []string) {
	if len(repairs) == 0 || f.req == nil {
		return
	}
	h.cfg.Meter.Repaired(f.req.Plugin, len(repairs))
	if _, told := h.repairsLogged.LoadOrStore(f.req.Plugin+"\n"+f.req.Hash, true); told {
		return
	}
	h.cfg.Log.Warn().Str("plugin", f.req.Plugin).Str("hash", f.req.Hash).Str("tool", f.req.Tool).
		Str("correlationId", string(f.id)).Strs("repairs", repairs).Msg("a plugin throws errors that do not keep to " +
		"the contract")
}
