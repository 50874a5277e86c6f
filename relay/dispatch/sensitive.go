package dispatch

import (
	"context"
	"encoding/json"

	"tabrelay/relay/call"
	"tabrelay/relay/clip"
	"tabrelay/relay/fault"
	"tabrelay/relay/rawjson"
)

// sensitiveField is with what the browser's own tools end before they act on a field for passwords, payment or
// one-time codes: the person is asked each time, whatever they have allowed. Only the page knows which fields these
// are.
const sensitiveField fault.Code = "SENSITIVE_FIELD"

const mostOfField = 300 // runes of what the page says of the field

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
	access := r.access(at)
	access.Once, access.Arguments = true, withoutTyped(r.args)
	access.Note = "It acts on a sensitive field. The page calls it: " +
		clip.Runes(fault.Sanitize(why.Message), mostOfField) + "."
	failure = r.ask(func(ctx context.Context) (failure *fault.Error) {
		_, failure = r.Policy.Ask(ctx, access, r.call.Ask, r.reports.announce)
		return failure
	})
	r.consent.sensitive = failure == nil
	return true, failure
}

// withConsent adds to the arguments of a browser's tool that the person has allowed it to act on sensitive fields. No
// agent can say so: the tools' schemas have no such argument.
func withConsent(arguments json.RawMessage) json.RawMessage {
	members, ok := rawjson.Members(arguments)
	if !ok {
		return arguments
	}
	return rawjson.Join(append(members, rawjson.Make("_", json.RawMessage(`{"sensitive":true}`))))
}

// recorded is arguments as they may be written down at the end of the call, which f is. What an act of the browser's
// tools was to type is left out, unless the page has typed it and knows the field as an ordinary one; what a tool for
// developers was to set always is.
func (r *run) recorded(arguments json.RawMessage, f *fault.Error) json.RawMessage {
	t := r.tool
	if r.consent.secret || t != nil && (t.Develops || f != nil && t.Acts) {
		return withoutTyped(arguments)
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

// actedOn is what an act of the browser's tools says it was done to, by role and name; empty where it says nothing.
func actedOn(reply *call.Reply) string {
	var told struct {
		On string `json:"on"`
	}
	if json.Unmarshal(reply.Output, &told) != nil || told.On == "" {
		return ""
	}
	return "The page calls what was acted on: " + clip.Runes(fault.Sanitize(told.On), mostOfField) + "."
}
