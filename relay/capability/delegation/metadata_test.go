package delegation

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// Whoever misspells a bound believes the agent bound: nothing begins then, and the failure says what was meant.
func TestBoundsThatNobodyKnowsAreRefused(t *testing.T) {
	s := newSessions(t, nil, &scripted{id: "a"})
	s.options.Tools = &fakeTools{tools: []*registry.Tool{aTool("shop__list", true), aTool("shop__pay", false)}}
	s.options.TabGone = func(id int) bool { return id != 7 }
	for metadata, want := range map[string]string{
		`{"read_only":true}`:           "Use readOnly",
		`{"allowedTools":["x"]}`:       "Use tools",
		`{"ReadOnly":true}`:            "Use readOnly",
		`{"tols":["shop"]}`:            "Did you mean tools?",
		`{"colour":"red"}`:             "notes",
		`{"tools":["shop__lst"]}`:      "Did you mean shop__list?",
		`{"tools":["shop__*"]}`:        "patterns such as",
		`{"tools":["shop","nothing"]}`: `"nothing"`,
		`{"tabs":["shop.example"]}`:    "URL match pattern",
		`{"tabs":[8]}`:                 "there is no tab 8",
	} {
		args := createArgs{Metadata: json.RawMessage(metadata)}
		for name, failure := range map[string]*fault.Error{
			"sessions_create": second(s.createSession(t.Context(), call.Call{Session: client}, args)),
			"tasks_delegate": second(s.delegate(t.Context(), call.Call{Session: client}, struct {
				createArgs
				errandArgs
			}{args, errandArgs{Prompt: "x"}})),
		} {
			if failure == nil || failure.Outcome != fault.NotExecuted ||
				!strings.Contains(failure.Message+" "+failure.Hint, want) {
				t.Errorf("%s with %s: %+v, want %s", name, metadata, failure, want)
			}
		}
	}
	for _, metadata := range []string{`{}`, `{"notes":{"ticket":7}}`, `{"tools":["shop"],"tabs":[7]}`,
		`{"tools":["shop__pay"],"tabs":["https://shop.example/*"],"readOnly":true,"budget":{"maxTurns":1}}`} {
		args := createArgs{Metadata: json.RawMessage(metadata)}
		if _, failure := s.createSession(t.Context(), call.Call{Session: client}, args); failure != nil {
			t.Errorf("%s: %v", metadata, failure)
		}
	}
}

func second[T any](_ T, failure *fault.Error) *fault.Error { return failure }

// The words of a page stay in the memory of an agent: every later answer of its session may be theirs.
func TestWordsOfPagesMarkTheSession(t *testing.T) {
	reads := true
	a := &scripted{id: "a", prompt: func(ctx context.Context, s *Session, _ Prompt) (Answer, *fault.Error) {
		if reads {
			_, _ = s.Do(ctx, call.Call{Tool: "shop__list"})
		}
		return Answer{Text: "x", StopReason: "end_turn"}, nil
	}}
	s := newSessions(t, nil, a)
	s.options.Tools = &fakeTools{tools: []*registry.Tool{aTool("shop__list", true)}, run: answers("a page's words")}
	v := created(t, s, "a")
	for _, reads = range []bool{false, true, false} {
		reply, failure := s.Prompt(t.Context(), client, v.ID, Errand{Text: "x"})
		if failure != nil {
			t.Fatal(failure)
		}
		turn := s.open[v.ID].Doing().Turn
		if want := turn > 1; reply.Summary.Untrusted != want || s.answer(client, reply, false).untrusted != want {
			t.Errorf("prompt %d is marked %v", turn, reply.Summary.Untrusted)
		}
	}
}
