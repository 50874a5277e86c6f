package builtin

import (
	"context"
	"encoding/json"
	"fmt"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// lettersOnAPage is how many letters a page of the tool's list has.
const lettersOnAPage = 20

// replayTimeoutMs leaves the clock to the call that is repeated.
const replayTimeoutMs = 600_000

// deadLettersTool shows an agent its calls with unknown outcome, and repeats them.
func (s *Sources) deadLettersTool() registry.Tool {
	return registry.Tool{
		Name: "relay__dead_letters", Unqueued: true,
		Spec: plugin.Tool{
			Name: "dead_letters", DisplayName: "Dead letters", TimeoutMs: replayTimeoutMs,
			Description: "Your calls with unknown outcome, or that failed at every attempt. list shows " +
				"them, the newest first; show returns one with its arguments, its error and, if it became known " +
				"late, the outcome (lateOutcome); replay calls the tool again, and asks the person first unless " +
				"the tool only reads. Look at the page before replaying: the action may have happened.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"action":{"enum":["list","show","replay"]},` +
				`"id":{"type":"string","description":"Of the letter, for show and replay: the correlationId of the ` +
				`call."},` +
				`"cursor":{"type":"string","description":"nextCursor of the page before, for list."}},` +
				`"required":["action"],"additionalProperties":false}`),
			Annotations: plugin.Annotations{ReadOnlyHint: &no, OpenWorldHint: &yes},
		},
		Run: fromPages(s.deadLetters),
	}
}

func (s *Sources) deadLetters(ctx context.Context, c call.Call, raw json.RawMessage) (*call.Result, *fault.Error) {
	var a struct {
		Action     string
		ID, Cursor call.ID
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fault.New(fault.ValidationError, "The arguments cannot be read: "+err.Error())
	}
	if a.Action == "list" {
		page, failure := s.Letters.List(ctx, c.Session, a.Cursor, lettersOnAPage)
		if failure != nil {
			return nil, failure
		}
		return encoded(page)
	}
	if a.ID == "" {
		return nil, fault.New(fault.ValidationError, "The action "+a.Action+" needs the id of a dead letter",
			fault.WithHint("The action list shows the ids."))
	}
	l, failure := s.Letters.Find(ctx, c.Session, a.ID)
	if failure != nil {
		return nil, failure
	}
	if a.Action == "show" {
		return encoded(s.Letters.View(l, false))
	}
	t, failure := s.Letters.Replayable(l)
	if failure != nil {
		return nil, failure
	}
	if !t.ReadOnly {
		c.Note = question(l)
		c.Confirm = func(ctx context.Context, asked bool) error {
			if asked {
				return nil
			}
			return confirmRepeat(ctx, c, l)
		}
	}
	c.Consent = false // what allowed this tool named no call that it would repeat
	return s.Letters.Replay(ctx, l, c)
}

// repeatForm is what the person is asked before a change is repeated.
var repeatForm = json.RawMessage(`{"type":"object","properties":{"repeat":{"type":"boolean","title":"Repeat the ` +
	`call","default":false}},"required":["repeat"]}`)

// confirmRepeat asks the person whether a call that may change something is to be repeated.
func confirmRepeat(ctx context.Context, c call.Call, l *call.DeadLetter) error {
	if c.Ask == nil {
		return fault.New(fault.PermissionDenied, "Repeating "+l.Tool+" may change something twice, and this client "+
			"cannot ask the person",
			fault.WithHint("Ask the person to run in a terminal: tabrelay dead-letters replay "+string(l.ID)))
	}
	answer, err := c.Ask(ctx, call.Question{Message: question(l), Schema: repeatForm})
	var form struct{ Repeat bool }
	switch {
	case err != nil:
		return fault.New(fault.ApprovalTimeout, "The person did not say whether "+l.Tool+" is to be repeated",
			fault.WithCause(err))
	case answer.Action != "accept" || json.Unmarshal(answer.Content, &form) != nil || !form.Repeat:
		return fault.New(fault.ApprovalDenied, "The person does not want "+l.Tool+" to be repeated")
	}
	return nil
}

// question says what repeating the call could do.
func question(l *call.DeadLetter) string {
	when := l.Created.Local().Format("2 January 15:04:05")
	if l.Deeds != "" {
		return fmt.Sprintf("Repeat a call of %s from %s, which was to do this: %s? %s.", l.Tool, when, l.Deeds,
			KnownOf(l))
	}
	return fmt.Sprintf("Repeat a call of %s from %s with %s? %s.", l.Tool, when, fault.Excerpt(string(l.Arguments)),
		KnownOf(l))
}

// KnownOf says whether the action of a dead letter happened, as far as that is known.
func KnownOf(l *call.DeadLetter) string {
	switch {
	case l.LateOutcome == call.Executed:
		return "By now it is known that it HAS happened, and would happen a second time"
	case l.LateOutcome == call.NotExecuted, l.Outcome == call.NotExecuted:
		return "It is known that it has not happened"
	}
	return "Nobody knows whether it happened"
}
