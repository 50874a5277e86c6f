package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/road/result"
)

// readResultTool reads results that were too large for an answer, to the client whose call it was.
func (s *Sources) readResultTool() registry.Tool {
	return registry.Tool{
		Name: result.Reader,
		Spec: plugin.Tool{
			Name: "read_result", DisplayName: "Read a kept result",
			Description: "Reads a result that was too large for an answer and is kept: the items of a list, the " +
				"characters of a text, or what a jq expression selects. An answer that is truncated itself has " +
				"nextOffset: pass it as offset to go on.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"id":{"type":"string","minLength":1,"maxLength":80,"description":"Of the result, as the truncated ` +
				`answer or the failure gives it."},` +
				`"offset":{"type":"integer","minimum":0,"description":"First item or character to read. Default: ` +
				`0."},` +
				`"limit":{"type":"integer","minimum":1,"description":"Most items or characters to read. Default: as ` +
				`many as fit."},` +
				`"arrayPath":{"type":"string","description":"What to read of the result, such as .data.items. ` +
				`Default: all of it."},` +
				`"jq":{"type":"string","description":"A jq expression in place of arrayPath, such as: .items | ` +
				`map(select(.open)) | map({id, title})"},` +
				`"maxBytes":{"type":"integer","minimum":1,"description":"Largest answer, in bytes."}},` +
				`"required":["id"],"additionalProperties":false}`),
			Annotations: plugin.Annotations{ReadOnlyHint: &yes, OpenWorldHint: &no},
		},
		Run: fromPages(s.readResult),
	}
}

func (s *Sources) readResult(ctx context.Context, c call.Call, raw json.RawMessage) (*call.Result, *fault.Error) {
	var a result.Arguments
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fault.New(fault.ValidationError, "The arguments cannot be read: "+err.Error())
	}
	stored, found, err := s.Store.Result(ctx, strings.TrimPrefix(a.ID, result.URI("")))
	found = found && mayRead(c.Session, stored.Session)
	switch {
	case err != nil:
		return nil, fault.New(fault.InternalError, "The kept result could not be read", fault.WithCause(err),
			fault.WithOutcome(fault.NotExecuted), fault.WithRetryable(true),
			fault.WithHint("Repeat the call; `tabrelay doctor` looks at the database."))
	case !found:
		return nil, fault.New(fault.NotFoundCode, "No result of this client is kept under the id "+fault.Excerpt(a.ID),
			fault.WithOutcome(fault.NotExecuted),
			fault.WithHint("Results are kept for a day, and the oldest go first when there are too many. Call the "+
				"tool again if that changes nothing; otherwise read the page."))
	}
	most := cmp.Or(a.MaxBytes, c.MaxBytes, s.MaxBytes)
	piece, failure := result.Read(ctx, stored, a, min(most, s.ResultBytes))
	if failure != nil {
		return nil, failure
	}
	text, err := json.Marshal(string(piece))
	if err != nil {
		return nil, fault.New(fault.InternalError, "The answer cannot be encoded", fault.WithCause(err))
	}
	// With content of its own, the answer is not shortened once more.
	return &call.Result{Output: piece, Content: []call.Content{call.Content(`{"type":"text","text":` + string(text) +
		`}`)}}, nil
}

// Kept is what the relay has kept, as agents read it by URI: results and dead letters of their own.
type Kept struct{ Of *DeadLetters }

// Result returns a kept result of the client that asks.
func (k Kept) Result(ctx context.Context, s call.Session, id string) (call.StoredResult, bool, error) {
	r, found, err := k.Of.Store.Result(ctx, id)
	if err != nil || !found || !mayRead(s, r.Session) {
		return call.StoredResult{}, false, err
	}
	return r, true, nil
}

// Letters returns the newest dead letters that a session may see.
func (k Kept) Letters(ctx context.Context, s call.Session, limit int) ([]call.DeadLetter, error) {
	return k.Of.Store.DeadLetters(ctx, ownerOf(s), "", limit)
}

// Letter returns a dead letter as clients see it, if there is one and the session may see it.
func (k Kept) Letter(ctx context.Context, s call.Session, id call.ID) (view any, found bool, err error) {
	l, failure := k.Of.Find(ctx, s, id)
	switch {
	case failure == nil:
		return k.Of.View(l, false), true, nil
	case failure.Code == fault.NotFoundCode:
		return nil, false, nil
	}
	return nil, false, failure
}
