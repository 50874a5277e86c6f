package dispatch

import (
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
)

// reasons says, besides what may run, what the rules say about it.
type reasons interface {
	Mode(a call.Access) (mode call.Mode, why string)
}

// returned is the outcome of a call that succeeded.
const returned = "returned"

// audit writes the end of the call down; f is nil for one that succeeded.
func (r *run) audit(f *fault.Error, took time.Duration) {
	if r.Audit == nil {
		return
	}
	e := call.Entry{
		At: time.Now(), Kind: call.EntryCall, Session: r.call.Session, Tool: r.call.Tool, Arguments: r.args, Outcome: returned, Duration: took, CallID: r.call.ID,
		ProfileID: r.turn.at.ProfileID, Profile: r.turn.at.Profile, TabID: r.turn.at.TabID, Origin: r.turn.at.Origin,
	}
	if r.args == nil {
		e.Arguments = r.call.Arguments
	}
	if r.tool != nil {
		e.Plugin = r.tool.PluginName()
		e.Decision, e.DecidedBy = r.reason(f)
	}
	if p := r.reply; p != nil {
		e.ProfileID, e.Profile, e.TabID, e.Origin = p.ProfileID, p.Profile, p.TabID, p.Origin
	}
	if f != nil {
		e.Outcome, e.Code, e.Detail = string(f.Outcome), string(f.Code), f.Message
		if e.TabID == 0 {
			e.TabID, e.Profile = f.TabID, f.Profile
		}
	}
	if id := r.call.ReplayOf; id != "" {
		e.Detail = joined("It repeats the call "+string(id), e.Detail)
	}
	r.Audit.Record(e)
}

func joined(first, second string) string {
	if second == "" {
		return first
	}
	return first + ". " + second
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
	case mine && refusal(f.Code):
		return "not allowed", byRelay
	case r.Policy == nil || f != nil && !r.ran():
		return "", ""
	case r.consent.confirmed:
		return "allowed", "person"
	}
	rules, ok := r.Policy.(reasons)
	if !ok {
		return "", ""
	}
	switch mode, why := rules.Mode(r.access(r.turn.place())); mode {
	case call.Auto:
		return string(mode) + ": " + why, byRule
	case call.Ask:
		return "allowed before", byGrant
	}
	return "", ""
}

// ran reports whether the tool was let run, be it that it never started.
func (r *run) ran() bool { return r.attempts > 0 }

// place is where the call is to run, nil when that is not known.
func (t *turn) place() *call.Target {
	if t.at.TabID == 0 {
		return nil
	}
	return &t.at
}

func refusal(code fault.Code) bool {
	return code == fault.ApprovalDenied || code == fault.ApprovalTimeout
}
