package dispatch

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// codeSensitiveField is the code with which the browser's own tools refuse to act on a field for passwords, payment or
// one-time codes until the person has allowed it: they are asked each time, whatever the rules say. Only the page knows
// which fields these are.
const codeSensitiveField fault.Code = "SENSITIVE_FIELD"

const maxFieldText = 300 // runes of what the page says of the field

// permitAfterRefusal asks the person where the extension or the page refused the call because it needs a question that
// only they could know of: the site of a frame, or a sensitive field.
func (r *run) permitAfterRefusal(at *call.Target, why *fault.Error) (asked bool, failure *fault.Error) {
	if why.Code == codeSiteClosed {
		return r.permitSite(at, why)
	}
	return r.permitField(at, why)
}

// permitField asks the person about a sensitive field that the call is to act on; asked: the call is to be sent once
// more.
func (r *run) permitField(at *call.Target, why *fault.Error) (asked bool, failure *fault.Error) {
	if why.Code != codeSensitiveField || !r.tool.Browses || r.consent.sensitive || why.Outcome == fault.Executed {
		return false, why
	}
	r.consent.redact = true
	if r.Policy == nil {
		return false, why
	}
	if failure = r.preview(at); failure != nil {
		return false, failure
	}
	said := clip.Runes(fault.Sanitize(why.Message), maxFieldText)
	return true, r.askAboutSensitiveField(at, "The page calls the field "+said+".")
}

// askAboutSensitiveField asks the person about a call that acts on a sensitive field, for this time only and whatever
// the rules say. The question leaves out what it types.
func (r *run) askAboutSensitiveField(at *call.Target, more string) *fault.Error {
	r.consent.redact = true
	access := r.access(at)
	access.Once, access.Arguments = true, redactTypedText(r.args)
	access.Note = strings.TrimSpace("It acts on a sensitive field: for a password, a payment or a one-time code. " +
		more)
	failure := r.ask(func(ctx context.Context) (failure *fault.Error) {
		_, failure = r.Policy.Ask(ctx, access, r.call.Ask, r.tellAsked)
		return failure
	})
	if failure == nil {
		r.consent.sensitive, r.consent.approved = true, r.Policy.BindingOf(r.access(at))
	}
	return failure
}

// auditArguments returns the arguments as the audit log gets them, after the call ended with f (nil: a success). Text
// that an act of the browser's tools was to type is left out, unless the page has typed it into a field that is not
// sensitive. Values that a tool for developers was to set are always left out.
func (r *run) auditArguments(arguments json.RawMessage, f *fault.Error) json.RawMessage {
	t := r.tool
	if t != nil && t.Browses && !t.Acts && !t.Develops &&
		f != nil { // a value that was waited for may be a guess of a secret
		return redactMember(arguments, "value")
	}
	if r.consent.redact || t != nil && (t.Develops || f != nil && t.Acts) {
		return redactTypedText(arguments)
	}
	return arguments
}

// redactMember replaces each value of a member of the arguments by "[redacted]".
func redactMember(arguments json.RawMessage, name string) json.RawMessage {
	members, _ := rawjson.Members(arguments)
	named := func(m rawjson.Member) bool { return m.Name == name }
	if !slices.ContainsFunc(members, named) {
		return arguments
	}
	for i, m := range members {
		if named(m) {
			members[i] = rawjson.Make(name, json.RawMessage(`"[redacted]"`))
		}
	}
	return rawjson.Join(members)
}

// redactTypedText redacts the texts that a browser's tool is to type, also in its fields and steps. Arguments without
// any are returned as they are.
func redactTypedText(arguments json.RawMessage) json.RawMessage {
	members, ok := rawjson.Members(arguments)
	if !ok {
		return json.RawMessage("{}")
	}
	changed := false
	for i, m := range members {
		switch m.Name {
		case "value", "text", "keys", "dialogs", "files":
			members[i], changed = rawjson.Make(m.Name, json.RawMessage(`"[redacted]"`)), true
		case "fields", "steps":
			var each []json.RawMessage
			if json.Unmarshal(m.Value, &each) != nil {
				return json.RawMessage("{}")
			}
			for n, one := range each {
				each[n] = redactTypedText(one)
				changed = changed || !bytes.Equal(each[n], one)
			}
			members[i] = rawjson.Make(m.Name, rawjson.MustEncode(each))
		}
	}
	if !changed {
		return arguments
	}
	return rawjson.Join(members)
}
