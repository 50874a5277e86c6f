package delegation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// What an agent may ask its caller, in one turn.
const (
	mostQuestions     = 5
	mostQuestionBytes = 4 << 10 // of the message
	mostSchemaBytes   = 8 << 10
)

// NeedsInput is a question that the client could not be asked: the turn has ended with it, and the next prompt of the
// session answers it.
type NeedsInput struct {
	Message string          `json:"message"`
	Schema  json.RawMessage `json:"schema"` // of the answer
	Next    string          `json:"next"`
}

// errNeedsInput is the cause of a turn's end that waits for its caller.
var errNeedsInput = errors.New("the agent waits for an answer of its caller")

// question asks the client that waits for the turn. Where it cannot be asked, or gives no answer, later is true: the
// turn is to end, and its reply has the question.
func (t *Turn) question(ctx context.Context, q call.Question) (a call.Answer, later bool, failure *fault.Error) {
	if failure = checkQuestion(&q); failure == nil {
		failure = t.countQuestion()
	}
	if failure != nil {
		return a, false, failure
	}
	untrusted := t.session.untrusted.Load()
	if ask := t.asker(); ask != nil {
		shown := q
		shown.Message = "The delegated agent " + t.session.AgentID + " asks: " + q.Message
		if untrusted {
			shown.Message += "\n(The agent has read pages that anybody may have written. Give no passwords or keys.)"
		}
		t.tell("asks its caller")
		a, err := ask(ctx, shown)
		switch {
		case err == nil:
			return a, false, nil
		case ctx.Err() != nil || t.ctx.Err() != nil:
			return call.Answer{Action: "cancel"}, false, nil
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.needs == nil {
		t.needs = &NeedsInput{Message: q.Message, Schema: q.Schema,
			Next: "Call sessions_prompt with this sessionId, and the answer as its prompt."}
	}
	return call.Answer{Action: "cancel"}, true, nil
}

// countQuestion refuses one question too many.
func (t *Turn) countQuestion() *fault.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.questions++; t.questions <= mostQuestions {
		return nil
	}
	return fault.New(codes.BudgetExceeded, fmt.Sprintf("The caller was asked %d times in this turn, and cannot be "+
		"asked again", mostQuestions), fault.WithHint("Answer with what is known, and say what is missing."))
}

// waitsFor is the question with which the turn has ended; nil: it did not.
func (t *Turn) waitsFor() *NeedsInput {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.needs
}

// anyText is the schema of an answer of which nothing is said.
var anyText = json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}`)

// checkQuestion refuses what nobody can be asked.
func checkQuestion(q *call.Question) *fault.Error {
	if len(q.Schema) == 0 || string(q.Schema) == "null" {
		q.Schema = anyText
	}
	refuse := func(why string) *fault.Error {
		return fault.New(fault.ValidationError, "The caller cannot be asked this: "+why,
			fault.WithOutcome(fault.NotExecuted))
	}
	switch {
	case strings.TrimSpace(q.Message) == "":
		return refuse("the message is empty")
	case len(q.Message) > mostQuestionBytes:
		return refuse(fmt.Sprintf("the message has %d bytes, and may have %d", len(q.Message), mostQuestionBytes))
	case len(q.Schema) > mostSchemaBytes:
		return refuse(fmt.Sprintf("the schema has %d bytes, and may have %d", len(q.Schema), mostSchemaBytes))
	case !rawjson.Valid(q.Schema) || !rawjson.IsObject(q.Schema):
		return refuse("the schema is not a JSON object")
	}
	q.Message = fault.Sanitize(q.Message)
	return nil
}

// askCaller is the tool by which a model asks its caller.
const askCaller = "ask_caller"

// askTool is askCaller as a model sees it.
var askTool = provider.Tool{
	Name: askCaller,
	Description: "Asks the agent that handed you the errand for what only it or its person knows. Use it only where " +
		"you cannot go on without the answer.",
	InputSchema: json.RawMessage(`{"type":"object","properties":{"message":{"type":"string"},"schema":{"type":` +
		`"object","description":"JSON Schema of the answer: an object of plain values. Default: one text."}},` +
		`"required":["message"],"additionalProperties":false}`),
}

// askItsCaller carries askCaller out.
func (l *loop) askItsCaller(ctx context.Context, c provider.ToolCall, arguments json.RawMessage) provider.ToolResult {
	var q struct {
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"schema"`
	}
	if err := json.Unmarshal(arguments, &q); err != nil {
		return failed(c, fault.New(fault.ValidationError, "Invalid arguments: message is a string, schema is a JSON "+
			"Schema"))
	}
	a, later, failure := l.turn.question(ctx, call.Question{Message: q.Message, Schema: q.Schema})
	switch {
	case failure != nil:
		return failed(c, failure)
	case later:
		return provider.ToolResult{ID: c.ID, Name: c.Name,
			Text: "The question was passed on. Its answer comes with the next prompt."}
	}
	text := fmt.Sprintf(`{"action":%q}`, a.Action)
	if a.Action == "accept" {
		text = fmt.Sprintf(`{"action":"accept","content":%s}`, a.Content)
	}
	return provider.ToolResult{ID: c.ID, Name: c.Name, Text: text}
}

// waits ends the turn with a question to the caller. The conversation goes on with the answer.
func (l *loop) waits() (Answer, *fault.Error) {
	l.answer.StopReason, l.keep = StopNeedsInput, true
	l.history.add(provider.Message{Role: provider.Assistant, Text: "(I wait for the answer to my question.)"})
	return l.answer, nil
}

// lastsOn has a session that was opened for one errand wait for the answer to its agent's question.
func (s *Sessions) lastsOn(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.once = false
}

// asksFirst reports whether calls that come after a question of the same message wait for its answer: they are not
// made.
func (l *loop) asksFirst(c provider.ToolCall) (provider.ToolResult, bool) {
	if l.turn.waitsFor() == nil {
		return provider.ToolResult{}, false
	}
	l.refuse([]provider.ToolCall{c})
	return provider.ToolResult{ID: c.ID, Name: c.Name, Failed: true,
		Text: "Not called: your question comes first. Its answer comes with the next prompt."}, true
}
