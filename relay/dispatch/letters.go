package dispatch

import (
	"bytes"
	"encoding/json"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/rawjson"
)

// Graveyard takes the calls whose end nobody saw, and those that failed as often as they may be tried.
type Graveyard interface {
	// AddDeadLetter does not wait for the disk. sent is the id of the attempt whose end would settle the letter; empty
	// when there is none.
	AddDeadLetter(l call.DeadLetter, sent call.ID)
}

// bury writes a dead letter for a call that ended badly in a way that somebody may have to look at.
func (r *run) bury(f *fault.Error) {
	if r.Letters == nil || !r.admitted || !r.lost(f) {
		return
	}
	arguments, redacted := redact(r.call.Arguments)
	failure, err := json.Marshal(f)
	if err != nil {
		failure = nil
	}
	sent := r.doubt
	switch {
	case f.FromPage || f.Outcome != fault.Unknown || r.tool.ReadOnly:
		sent = "" // no other end will come
	case sent == "":
		sent = attemptID(r.call.ID, max(r.attempts, 1))
	}
	r.Letters.AddDeadLetter(call.DeadLetter{
		ID: r.call.ID, Session: r.call.Session, Tool: r.tool.Name, Created: time.Now(), TabID: f.TabID, Profile: f.Profile,
		Arguments: arguments, Redacted: redacted, Attempts: r.attempts, Outcome: call.State(f.Outcome), Failure: failure, ReplayOf: r.call.ReplayOf,
	}, sent)
}

// lost reports whether nobody knows what became of the call, or every try was in vain. A read that its client cancelled
// is neither, and what the relay's end interrupted is asked for by the next relay.
func (r *run) lost(f *fault.Error) bool {
	if r.tool.Run != nil && r.tool.ReadOnly || f.Code == fault.ShuttingDown {
		return false
	}
	if f.Outcome == fault.Unknown {
		return f.Code != fault.Cancelled || !r.tool.ReadOnly
	}
	return r.attempts > 1 && (f.Class == fault.Transient || f.FromPage && f.Retryable)
}

// redactedText stands for what was left out.
const redactedText = "[redacted]"

// redact leaves out of arguments what looks like a credential, and says whether there was something.
func redact(arguments json.RawMessage) (kept json.RawMessage, changed bool) {
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	var value any
	if len(arguments) == 0 || d.Decode(&value) != nil {
		return json.RawMessage("{}"), len(arguments) > 0
	}
	value, changed = redactValue(value)
	if !changed {
		return arguments, false
	}
	return rawjson.MustEncode(value), true
}

func redactValue(value any) (kept any, changed bool) {
	switch value := value.(type) {
	case string:
		kept := fault.Redact(value)
		return kept, kept != value
	case []any:
		for i := range value {
			var c bool
			value[i], c = redactValue(value[i])
			changed = changed || c
		}
	case map[string]any:
		for name, member := range value {
			c := true
			if !fault.SecretName(name) {
				member, c = redactValue(member)
			} else {
				member = redactedText
			}
			value[name], changed = member, changed || c
		}
	}
	return value, changed
}
