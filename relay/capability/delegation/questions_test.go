package delegation

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/capability/delegation/agentconfig"
	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// A model asks the client that delegated, which can answer, and goes on in the same turn. The person reads who asks,
// and whether pages may have put the words into its mouth.
func TestAModelAsksItsCaller(t *testing.T) {
	b := newBench(t, nil, calls(askCaller, `{"message":"Which\ncolour?"}`), calls("wiki__read", `{}`),
		calls(askCaller, `{"message":"Really?","schema":{"type":"object","properties":{"sure":{"type":"boolean"}}}}`),
		says("It is blue."))
	var asked []call.Question
	ask := func(_ context.Context, q call.Question) (call.Answer, error) {
		if asked = append(asked, q); len(asked) > 1 {
			return call.Answer{Action: "decline"}, nil
		}
		return call.Answer{Action: "accept", Content: json.RawMessage(`{"answer":"blue"}`)}, nil
	}
	answer, summary, failure := b.prompt(t.Context(), Prompt{Text: "paint", Ask: ask}, Budget{})
	if failure != nil || answer.Text != "It is blue." || answer.StopReason != provider.EndTurn {
		t.Fatalf("%+v, %v", answer, failure)
	}
	if len(summary.Actions) != 1 {
		t.Errorf("a question is no call of a tool: %+v", summary.Actions)
	}
	if len(asked) != 2 || asked[0].Message != "The delegated agent reader asks: Which colour?" ||
		string(asked[0].Schema) != string(anyText) || !strings.Contains(asked[1].Message, "Really?\n(The agent has "+
		"read pages") || !strings.Contains(string(asked[1].Schema), "sure") {
		t.Errorf("asked %+v", asked)
	}
	for n, want := range map[int]string{1: `{"action":"accept","content":{"answer":"blue"}}`,
		3: `{"action":"decline"}`} {
		messages := b.script.asked[n].Messages
		if got := messages[len(messages)-1].Results[0].Text; got != want {
			t.Errorf("request %d answers %s in place of %s", n, got, want)
		}
	}
}

// What cannot be asked is refused at its edge, and asking is bounded.
func TestQuestionsAreBounded(t *testing.T) {
	schema := func(n int) json.RawMessage {
		empty := len(`{"title":""}`)
		return json.RawMessage(`{"title":"` + strings.Repeat("x", n-empty) + `"}`)
	}
	for _, c := range []struct {
		q    call.Question
		want string // empty: it is asked
	}{
		{call.Question{Message: strings.Repeat("x", mostQuestionBytes), Schema: schema(mostSchemaBytes)}, ""},
		{call.Question{Message: strings.Repeat("x", mostQuestionBytes+1)},
			"the message has 4097 bytes, and may have 4096"},
		{call.Question{Message: "x", Schema: schema(mostSchemaBytes + 1)},
			"the schema has 8193 bytes, and may have 8192"},
		{call.Question{Message: " \n"}, "the message is empty"},
		{call.Question{Message: "x", Schema: json.RawMessage(`[]`)}, "the schema is not a JSON object"},
	} {
		turn := newSession(&fakeTools{}).Begin(t.Context(), Prompt{}, Budget{})
		_, later, failure := turn.question(t.Context(), c.q)
		turn.End()
		if got := fmt.Sprint(failure); later != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("later %t, %s in place of %q", later, got, c.want)
		}
	}
	answered := Prompt{Ask: func(context.Context, call.Question) (call.Answer, error) {
		return call.Answer{Action: "decline"}, nil
	}}
	turn := newSession(&fakeTools{}).Begin(t.Context(), answered, Budget{})
	defer turn.End()
	for n := 1; n <= mostQuestions+1; n++ {
		_, _, failure := turn.question(t.Context(), call.Question{Message: "x"})
		if (failure != nil) != (n > mostQuestions) {
			t.Errorf("question %d: %v", n, failure)
		}
	}
}

// Where the client cannot be asked, the turn ends with the question: the session of an errand stays open for the
// answer, as long as an idle one does, and what was to come after the question is not done.
func TestAQuestionThatWaitsForAPrompt(t *testing.T) {
	for name, ask := range map[string]func(context.Context, call.Question) (call.Answer, error){
		"it has no forms": nil,
		"it fails to ask": func(context.Context, call.Question) (call.Answer, error) {
			return call.Answer{}, context.DeadlineExceeded
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { waitsForAPrompt(t, ask) })
		})
	}
}

func waitsForAPrompt(t *testing.T, ask func(context.Context, call.Question) (call.Answer, error)) {
	b := newBench(t, nil, calls("wiki__read", `{}`, askCaller, `{"message":"Which colour?"}`, "wiki__edit", `{}`),
		says("It is blue."))
	s := newSessions(t, func(d *agentconfig.Limits) { d.Idle = time.Minute }, b.model)
	s.options.Tools = b.tools
	var args struct {
		createArgs
		errandArgs
	}
	args.Prompt = "paint"
	got, failure := s.delegate(t.Context(), call.Call{Session: client, Ask: ask}, args)
	if failure != nil {
		t.Fatal(failure)
	}
	var shown struct {
		Success                              *bool
		SessionID, StopReason, Error, Source string
		NeedsInput                           NeedsInput
		ToolCalls                            []Action
	}
	if err := json.Unmarshal(mustEncode(got.value), &shown); err != nil || shown.Success == nil || *shown.Success ||
		shown.StopReason != StopNeedsInput || shown.NeedsInput.Message != "Which colour?" ||
		string(shown.NeedsInput.Schema) != string(anyText) || !strings.Contains(shown.Error, "needsInput") ||
		!strings.Contains(shown.NeedsInput.Next, "sessions_prompt") {
		t.Fatalf("%v, %s", err, mustEncode(got.value))
	}
	if !got.untrusted || shown.Source == "" {
		t.Errorf("nothing says that pages may have asked: %s", mustEncode(got.value))
	}
	if c := shown.ToolCalls; len(c) != 2 || !c[0].OK || c[1].Outcome != fault.NotExecuted {
		t.Errorf("the calls are %+v", c)
	}
	s.SessionEnded(client.ID) // the one of the call that delegated
	reply, failure := s.Prompt(t.Context(), client, shown.SessionID, Errand{Text: "Blue."})
	if failure != nil || reply.Text != "It is blue." || reply.Needs != nil || !reply.Ended {
		t.Errorf("%+v, %v", reply, failure)
	}
	text := string(mustEncode(b.last().Messages))
	for _, want := range []string{"paint", "Which colour?", "comes with the next prompt", "Blue."} {
		if !strings.Contains(text, want) {
			t.Errorf("the conversation is %s, without %s", text, want)
		}
	}
	time.Sleep(time.Minute + time.Second)
	if got := state(t, s, shown.SessionID); got != State(codes.SessionNotFound) {
		t.Errorf("nobody answers, and the session is %s", got)
	}
}
