package dispatch

import (
	"context"
	"encoding/json"
	"strings"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// sensitiveField is with what the browser's own tools end before they act on a field for passwords, payment or
// one-time codes: the person is asked each time, whatever they have allowed. Only the page knows which fields these
// are.
const sensitiveField fault.Code = "SENSITIVE_FIELD"

const mostOfField = 300 // runes of what the page says of the field

// permitMore asks the person about what only the browser could see that they have to be asked about.
func (r *run) permitMore(at *call.Target, why *fault.Error) (asked bool, failure *fault.Error) {
	if why.Code == siteClosed {
		return r.permitSite(at, why)
	}
	return r.permitField(at, why)
}

// permitField asks the person about a sensitive field that the call is to act on; asked says that they were, and that
// the call is to be sent once more.
func (r *run) permitField(at *call.Target, why *fault.Error) (asked bool, failure *fault.Error) {
	if why.Code != sensitiveField || !r.tool.Browses || r.consent.sensitive || why.Outcome == fault.Executed {
		return false, why
	}
	r.consent.secret = true
	if r.Policy == nil {
		return false, why
	}
	if failure = r.foresee(at); failure != nil {
		return false, failure
	}
	return true, r.askOnce(at, "The page calls the field "+clip.Runes(fault.Sanitize(why.Message), mostOfField)+".")
}

// askOnce asks the person about a call that acts on a sensitive field: whatever else they allowed, and for this time.
// What it types is for nobody to read.
func (r *run) askOnce(at *call.Target, more string) *fault.Error {
	r.consent.secret = true
	access := r.access(at)
	access.Once, access.Arguments = true, withoutTyped(r.args)
	access.Note = strings.TrimSpace("It acts on a sensitive field: for a password, a payment or a one-time code. " +
		more)
	failure := r.ask(func(ctx context.Context) (failure *fault.Error) {
		_, failure = r.Policy.Ask(ctx, access, r.call.Ask, r.reports.announce)
		return failure
	})
	if failure == nil {
		r.consent.sensitive, r.consent.approved = true, r.Policy.BindingOf(r.access(at))
	}
	return failure
}

// recorded is arguments as they may be written down at the end of the call, which f is. What an act of the browser's
// tools was to type is left out, unless the page has typed it and knows the field as an ordinary one; what a tool for
// developers was to set always is.
func (r *run) recorded(arguments json.RawMessage, f *fault.Error) json.RawMessage {
	t := r.tool
	if t != nil && t.Browses && !t.Acts && !t.Develops &&
		f != nil { // a value that was waited for may be a guess of a secret
		return without(arguments, "value")
	}
	if r.consent.secret || t != nil && (t.Develops || f != nil && t.Acts) {
		return withoutTyped(arguments)
	}
	return arguments
}

// without is arguments in which a text is left out.
func without(arguments json.RawMessage, name string) json.RawMessage {
	members, _ := rawjson.Members(arguments)
	for i, m := range members {
		if m.Name == name {
			members[i] = rawjson.Make(name, json.RawMessage(`"[redacted]"`))
			return rawjson.Join(members)
		}
	}
	return arguments
}

// withoutTyped leaves out the values and texts of a browser's tool, also those of its fields and steps.
func withoutTyped(arguments json.RawMessage) json.RawMessage {
	members, ok := rawjson.Members(arguments)
	if !ok {
		return json.RawMessage("{}")
	}
	for i, m := range members {
		switch m.Name {
		case "value", "text", "keys", "dialogs", "files":
			members[i] = rawjson.Make(m.Name, json.RawMessage(`"[redacted]"`))
		case "fields", "steps":
			var each []json.RawMessage
			if json.Unmarshal(m.Value, &each) != nil {
				return json.RawMessage("{}")
			}
			for n := range each {
				each[n] = withoutTyped(each[n])
			}
			members[i] = rawjson.Make(m.Name, rawjson.MustEncode(each))
		}
	}
	return rawjson.Join(members)
}
