package delegation

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// The timeout of an errand holds while its agent opens the session: 3 s were 300 s.
func TestTimeoutHoldsWhileAnAgentOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := &scripted{id: "hangs", open: func(ctx context.Context, _ *Session) *fault.Error {
			<-ctx.Done()
			return fault.New(codes.WorkerTimeout, "it hangs", fault.WithOutcome(fault.Unknown))
		}}
		s := newSessions(t, nil, hangs)
		s.members[0].Program, s.members[0].Timeout = "acp", 20*time.Second
		began := time.Now()
		_, failure := s.Delegate(t.Context(), Asked{Asker: client}, Errand{Text: "x", Timeout: 3 * time.Second})
		if took := time.Since(began); failure == nil || failure.Code != codes.WorkerTimeout || took > 4*time.Second ||
			failure.Outcome != fault.NotExecuted || !failure.Retryable || !strings.Contains(failure.Message,
			"within 3s") {
			t.Errorf("after %s: %+v", took, failure)
		}
		began = time.Now()
		_, failure = s.Create(t.Context(), Asked{Asker: client})
		if took := time.Since(began); failure == nil || took < 19*time.Second || took > 21*time.Second {
			t.Errorf("sessions_create took %s, and the worker may take 20 s: %v", took, failure)
		}
	})
}

// An errand goes to the provider that comes first, or fails and names it; elsewhere only where that is configured, and
// then the answer says so.
func TestNoErrandGoesElsewhereSilently(t *testing.T) {
	providers := func(o *ModelOptions) {
		working := o.Providers[0]
		o.Providers = []ModelProvider{{ID: "first", Trouble: "No key for the provider first: set KEY."}, working}
	}
	for _, fallback := range []bool{false, true} {
		b := &bench{t: t, script: &script{steps: []step{says("Done.")}}, tools: &fakeTools{}}
		o := ModelOptions{ID: "reader", Fallback: fallback, Providers: []ModelProvider{{ID: "openai",
			Provider: b.script,
			Models:   []string{"m"}}}}
		providers(&o)
		s := newSessions(t, nil, NewModel(o))
		named := Asked{Asker: client, Metadata: Metadata{Provider: "first"}} // which no fallback stands in for
		if _, failure := s.Delegate(t.Context(), named, Errand{Text: "x"}); failure == nil ||
			!strings.Contains(failure.Message, `"first" of the agent reader cannot be used`) ||
			!strings.Contains(failure.Hint, "set KEY") {
			t.Errorf("%+v", failure)
		}
		reply, failure := s.Delegate(t.Context(), Asked{Asker: client}, Errand{Text: "x"})
		if !fallback {
			if failure == nil || failure.Code != fault.ConfigError || !strings.Contains(failure.Message, `"first"`) ||
				!strings.Contains(failure.Hint, "set KEY") {
				t.Errorf("%+v", failure)
			}
			continue
		}
		text := string(mustEncode(s.answer(client, reply, true).value))
		for _, want := range []string{`"provider":"openai"`, `"model":"m"`, `"agentId":"reader"`,
			`"fallback":"No key for the provider first`} {
			if failure != nil || !strings.Contains(text, want) {
				t.Errorf("%v, %s without %s", failure, text, want)
			}
		}
	}
}

func mustEncode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// A long answer keeps its shape: success and text stay where clients look, and the rest is read with a tool that every
// client has who delegates.
func TestLongAnswersKeepTheirShape(t *testing.T) {
	long := strings.Repeat("Zeile mit Wörtern. ", 8000)
	a := &scripted{id: "a", prompt: func(context.Context, *Session, Prompt) (Answer, *fault.Error) {
		return Answer{Text: long, StopReason: provider.EndTurn}, nil
	}}
	s := newSessions(t, nil, a)
	var args struct {
		createArgs
		errandArgs
	}
	args.Prompt = "x"
	got, failure := s.delegate(t.Context(), call.Call{Session: client}, args)
	if failure != nil {
		t.Fatal(failure)
	}
	if size := len(mustEncode(got.value)); size > 32<<10 {
		t.Errorf("%d bytes", size)
	}
	var shown struct {
		Success bool
		Text    string
		More    *rest
	}
	if err := json.Unmarshal(mustEncode(got.value), &shown); err != nil || !shown.Success || shown.More == nil {
		t.Fatalf("%v %+v", err, shown)
	}
	read := shown.Text
	for more := shown.More; more != nil; {
		var next statusArgs
		if err := json.Unmarshal(mustEncode(more.Arguments), &next); err != nil || more.Tool != "sessions_status" {
			t.Fatal(err, more)
		}
		stranger := call.Session{ID: "stdio:9", Client: "other"}
		if _, failure := s.statusOf(t.Context(), call.Call{Session: stranger}, next); failure == nil {
			t.Fatal("another client reads it")
		}
		got, failure := s.statusOf(t.Context(), call.Call{Session: client}, next)
		if failure != nil {
			t.Fatal(failure)
		}
		var piece struct {
			Text string
			More *rest
		}
		if err := json.Unmarshal(mustEncode(got.value), &piece); err != nil || len(piece.Text) == 0 {
			t.Fatal(err)
		}
		read, more = read+piece.Text, piece.More
	}
	if read != long {
		t.Errorf("%d bytes were read of %d", len(read), len(long))
	}
}

// Nothing is called a success that has no answer.
func TestNoSuccessWithoutAnAnswer(t *testing.T) {
	for _, one := range []Answer{{StopReason: StopBudget}, {StopReason: provider.EndTurn},
		{Text: "half", StopReason: StopCancelled}} {
		a := &scripted{id: "a", prompt: func(context.Context, *Session, Prompt) (Answer, *fault.Error) {
			return one,
				nil
		}}
		s := newSessions(t, nil, a)
		reply, failure := s.Delegate(t.Context(), Asked{Asker: client}, Errand{Text: "x"})
		shown := s.answer(client, reply, true).value.(shown)
		if failure != nil || *shown.Success || shown.Error == "" || shown.Code == 0 ||
			shown.StopReason != one.StopReason {
			t.Errorf("%+v: %+v %v", one, shown, failure)
		}
	}
}

// Failures say how often it was tried, where, what was done, and what to do about the failure itself.
func TestFailuresOfModelsAreComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		after := func(steps ...step) *fault.Error {
			b := &script{steps: steps}
			s := newSessions(t, nil, NewModel(ModelOptions{ID: "reader", Retry: policyOfTests,
				Jitter: func() float64 { return 0 }, Providers: []ModelProvider{{ID: "openai", Provider: b,
					Models: []string{"m"}}}}))
			s.options.Tools = &fakeTools{tools: []*registry.Tool{aTool("wiki__edit", false)}, run: answers("ok")}
			_, failure := s.Delegate(t.Context(), Asked{Asker: client}, Errand{Text: "x", Timeout: time.Minute})
			if failure == nil {
				t.Fatal("no failure")
			}
			return failure
		}
		tried := after(failsWith(codes.ProviderError))
		if tried.Attempts != 3 || tried.Outcome != fault.NotExecuted ||
			!strings.Contains(tried.AgenticText(), `"attempts": 3`) {
			t.Errorf("%+v", tried)
		}
		late := after(hangs)
		if late.Code != fault.TimeoutCode || late.ProviderID != "openai" || late.Outcome != fault.NotExecuted {
			t.Errorf("%+v", late)
		}
		wrote := after(calls("wiki__edit", "{}"), failsWith(codes.ProviderAuth, fault.WithHint("Check the key.")))
		if wrote.Outcome != fault.Executed || wrote.Retryable || !strings.Contains(wrote.Hint, "Check the key.") ||
			!strings.Contains(wrote.Hint, "toolCalls") {
			t.Errorf("%+v", wrote)
		}
	})
}

// A client that hears nothing for a minute gives up: it hears at least every 15 seconds that the errand goes on.
func TestProgressWhileAModelThinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &scripted{id: "slow", prompt: takes(65*time.Second, true)}
		s := newSessions(t, nil, slow)
		var heard []time.Time
		var last float64
		c := call.Call{Session: client, Progress: func(p call.Progress) {
			heard = append(heard, time.Now())
			if p.Progress <= last {
				t.Errorf("%v after %v", p.Progress, last)
			}
			last = p.Progress
		}}
		var args struct {
			createArgs
			errandArgs
		}
		args.Prompt = "x"
		before := time.Now()
		if _, failure := s.delegate(t.Context(), c, args); failure != nil {
			t.Fatal(failure)
		}
		for _, at := range append(heard, time.Now()) {
			if silent := at.Sub(before); silent > 15*time.Second {
				t.Errorf("nothing was heard for %s", silent)
			}
			before = at
		}
	})
}

// An answer has the form that was asked for; one that has not is asked for once more.
func TestOutputSchema(t *testing.T) {
	for name, c := range map[string]struct {
		says  []string
		value string
		asked int
	}{
		"at once":       {[]string{`{"n": 3}`}, `{"n": 3}`, 1},
		"in a fence":    {[]string{"```json\n{\"n\": 3}\n```"}, `{"n": 3}`, 1},
		"second answer": {[]string{"It is three.", `{"n": 3}`}, `{"n": 3}`, 2},
		"never":         {[]string{"It is three.", `{"n": "three"}`}, "", 2},
	} {
		var prompts []string
		a := &scripted{id: "a", prompt: func(_ context.Context, _ *Session, p Prompt) (Answer, *fault.Error) {
			prompts = append(prompts, p.Text)
			return Answer{Text: c.says[len(prompts)-1], StopReason: provider.EndTurn}, nil
		}}
		s := newSessions(t, nil, a)
		var args struct {
			createArgs
			errandArgs
		}
		args.Prompt = "How many?"
		args.OutputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
		got, failure := s.delegate(t.Context(), call.Call{Session: client}, args)
		if len(prompts) != c.asked || !strings.Contains(prompts[0], `"integer"`) {
			t.Errorf("%s: asked %q", name, prompts)
		}
		if c.value == "" {
			if failure == nil || failure.Code != fault.InvalidOutput || !strings.Contains(string(failure.Data),
				"three") {
				t.Errorf("%s: %+v", name, failure)
			}
		} else if failure != nil || string(got.value.(shown).Value) != c.value {
			t.Errorf("%s: %+v %v", name, got.value, failure)
		}
	}
	if _, failure := readForm(json.RawMessage(`{"type":"nothing"}`)); failure == nil {
		t.Error("a schema that is none was taken")
	}
}

// A prompt in the background answers at once; its end is in sessions_status, for another connection of the same client
// too, after the one that asked has left.
func TestPromptsInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &scripted{id: "slow", prompt: takes(time.Minute, true)}
		s := newSessions(t, nil, slow)
		v := created(t, s, "slow")
		got, failure := s.promptBehind(call.Call{Session: client}, v.ID, Errand{Text: "x"})
		if failure != nil || !strings.Contains(fmt.Sprint(got.value), "busy") {
			t.Fatal(got, failure)
		}
		if _, failure := s.promptBehind(call.Call{Session: client}, v.ID, Errand{Text: "y"}); failure == nil ||
			failure.Code != codes.SessionBusy {
			t.Errorf("a second prompt: %v", failure)
		}
		s.SessionEnded(client.ID)
		other := client
		other.ID = "stdio:2"
		status := func() status {
			t.Helper()
			got, failure := s.statusOf(t.Context(), call.Call{Session: other}, statusArgs{SessionID: v.ID})
			if failure != nil {
				t.Fatal(failure)
			}
			return got.value.(status)
		}
		if now := status(); now.Status != StateBusy || now.Answer != nil {
			t.Errorf("%+v", now)
		}
		time.Sleep(61 * time.Second)
		if now := status(); now.Status != StateIdle || !strings.Contains(string(now.Answer), `"text":"done"`) {
			t.Errorf("%+v %s", now, now.Answer)
		}
		if _, failure := s.Prompt(t.Context(), other, v.ID, Errand{Text: "x"}); failure != nil {
			t.Errorf("another connection of the client cannot go on: %v", failure)
		}
	})
}
