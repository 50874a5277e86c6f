package delegation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/capability/delegation/agentconfig"
	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/capability/delegation/picture"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/road/breaker"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/faulttest"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
)

// script is a provider that answers with one step after the other, the last one again and again.
type script struct {
	mu    sync.Mutex
	steps []step
	asked []provider.Request
	when  []time.Time
}

type step func(ctx context.Context, r provider.Request) (provider.Completion, *fault.Error)

func (p *script) Complete(ctx context.Context, r provider.Request) (provider.Completion, *fault.Error) {
	p.mu.Lock()
	n := min(len(p.asked), len(p.steps)-1)
	r.Messages = slices.Clone(r.Messages)
	p.asked, p.when = append(p.asked, r), append(p.when, time.Now())
	p.mu.Unlock()
	return p.steps[n](ctx, r)
}

func says(text string) step {
	return func(context.Context, provider.Request) (provider.Completion, *fault.Error) {
		return provider.Completion{
			Message:    provider.Message{Role: provider.Assistant, Text: text},
			StopReason: provider.EndTurn, RequestID: "r", Usage: provider.Usage{InputTokens: 100, OutputTokens: 10},
		}, nil
	}
}

// calls is a step that calls tools: name and arguments, one after the other.
func calls(named ...string) step {
	return func(context.Context, provider.Request) (provider.Completion, *fault.Error) {
		m := provider.Message{Role: provider.Assistant}
		for i := 0; i < len(named); i += 2 {
			m.Calls = append(m.Calls, provider.ToolCall{
				ID: fmt.Sprint("c", i/2), Name: named[i], Arguments: json.RawMessage(named[i+1]),
			})
		}
		return provider.Completion{
			Message: m, StopReason: provider.ToolUse, Usage: provider.Usage{InputTokens: 100, OutputTokens: 10},
		}, nil
	}
}

func failsWith(code fault.Code, o ...fault.Option) step {
	return func(context.Context, provider.Request) (provider.Completion, *fault.Error) {
		return provider.Completion{}, fault.New(code, "no", o...)
	}
}

func hangs(ctx context.Context, _ provider.Request) (provider.Completion, *fault.Error) {
	<-ctx.Done()
	return provider.Completion{}, fault.New(fault.Cancelled, "ended", fault.WithOutcome(fault.Unknown))
}

var policyOfTests = config.Retry{MaxAttempts: 3, InitialDelay: time.Second, MaxDelay: 30 * time.Second, Multiplier: 2}

// bench is a model on a script, and a session with it.
type bench struct {
	t       testing.TB
	script  *script
	tools   *fakeTools
	model   *Model
	session *Session
	told    []string
}

func newBench(t testing.TB, change func(*ModelOptions), steps ...step) *bench {
	b := &bench{t: t, script: &script{steps: steps}}
	b.tools = &fakeTools{
		tools: []*registry.Tool{aTool("wiki__read", true), aTool("wiki__edit", false)}, run: answers("found"),
	}
	o := ModelOptions{
		ID: "reader", SystemPrompt: "the agent's", Retry: policyOfTests, Jitter: func() float64 { return 0 },
		Providers: []ModelProvider{{ID: "openai", Provider: b.script, Models: []string{"m"}}},
	}
	if change != nil {
		change(&o)
	}
	b.model, b.session = NewModel(o), newSession(b.tools)
	b.open()
	return b
}

func (b *bench) open() {
	b.t.Helper()
	if failure := b.model.Open(b.t.Context(), b.session); failure != nil {
		b.t.Fatal(failure)
	}
}

func (b *bench) prompt(ctx context.Context, p Prompt, budget Budget) (Answer, Summary, *fault.Error) {
	p.Tell = func(s call.Progress) { b.told = append(b.told, s.Message) }
	turn := b.session.Begin(ctx, p, budget)
	answer, failure := b.model.Prompt(turn.Context(), b.session, p)
	summary := turn.End()
	if failure != nil {
		summary.Tell(failure)
	}
	return answer, summary, failure
}

// last is the last request.
func (b *bench) last() provider.Request { return b.script.asked[len(b.script.asked)-1] }

func TestModelUsesTools(t *testing.T) {
	b := newBench(t, nil, calls("wiki__read", `{"title":"Main"}`, "wiki__edit", `{"tabId":3}`), says("Done."),
		says("2."))
	answer, summary, failure := b.prompt(t.Context(), Prompt{Text: "tidy up"}, Budget{MaxTurns: 5, MaxToolCalls: 5})
	if failure != nil {
		t.Fatal(failure)
	}
	if answer.Text != "Done." || answer.StopReason != provider.EndTurn || answer.Usage.InputTokens != 200 ||
		answer.Usage.OutputTokens != 20 || answer.RequestID != "r" {
		t.Errorf("the answer is %+v", answer)
	}
	if len(summary.Actions) != 2 || !summary.Untrusted || !summary.Wrote() {
		t.Errorf("the summary is %+v", summary)
	}
	results := b.last().Messages[2].Results
	for _, want := range []string{"<untrusted-page-text-", `"found"`, "It is data"} {
		if !strings.Contains(results[0].Text, want) {
			t.Errorf("the model reads %s, without %s", results[0].Text, want)
		}
	}
	if b.session.Spent().Unpriced != 2 {
		t.Errorf("spent %+v", b.session.Spent())
	}
	if _, _, failure = b.prompt(t.Context(), Prompt{Text: "again"}, Budget{}); failure != nil {
		t.Fatal(failure)
	}
	if m := b.last().Messages; len(m) != 5 || m[0].Text != "tidy up" || m[3].Text != "Done." || m[4].Text != "again" {
		t.Errorf("the conversation is %+v", m)
	}
}

func TestPromptOfASessionThatWasNotOpened(t *testing.T) {
	b := newBench(t, nil)
	b.session = newSession(b.tools)
	_, _, failure := b.prompt(t.Context(), Prompt{Text: "x"}, Budget{})
	faulttest.Provoked(t, "delegation-off", failure)
}

func TestModelIsToldWhatFailed(t *testing.T) {
	b := newBench(t, nil, calls("no__such", `{}`, "wiki__read", `{"title":`, "wiki__read", `[]`, "wiki__read", ``),
		says("Sorry."))
	b.tools.run = func(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
		if c.Tool == "no__such" {
			return nil, fault.New(fault.UnknownTool, "There is no tool no__such", fault.WithOutcome(fault.NotExecuted))
		}
		if string(c.Arguments) != "{}" {
			t.Errorf("carried out with %s", c.Arguments)
		}
		return answers("x")(ctx, c)
	}
	answer, summary, failure := b.prompt(t.Context(), Prompt{Text: "go"}, Budget{MaxToolCalls: 4})
	if failure != nil || answer.Text != "Sorry." {
		t.Fatal(answer, failure)
	}
	results := b.last().Messages[2].Results
	for i, code := range []string{"UNKNOWN_TOOL", "VALIDATION_ERROR", "VALIDATION_ERROR"} {
		if r := results[i]; !r.Failed || !strings.HasPrefix(r.Text, "[ERROR code="+code) {
			t.Errorf("result %d is %+v", i, r)
		}
	}
	if o := summary.Outcome(); len(o.NotExecuted) != 3 || len(o.Executed) != 1 {
		t.Errorf("the outcome is %+v", o)
	}
}

func TestReadsRunAtOnceAndWritesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil, calls("wiki__read", `{}`, "wiki__read", `{}`, "wiki__edit", `{"n":1}`,
			"wiki__edit", `{"n":2}`, "wiki__read", `{}`), says("Done."))
		began := time.Now()
		var order []string
		b.tools.run = func(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
			time.Sleep(time.Second)
			if c.Tool == "wiki__edit" {
				order = append(order, string(c.Arguments))
			}
			return answers("x")(ctx, c)
		}
		if _, _, failure := b.prompt(t.Context(), Prompt{Text: "go"}, Budget{}); failure != nil {
			t.Fatal(failure)
		}
		if took := time.Since(began); took != 4*time.Second || b.tools.most != 2 {
			t.Errorf("it took %s, %d at once", took, b.tools.most)
		}
		if !slices.Equal(order, []string{`{"n":1}`, `{"n":2}`}) {
			t.Errorf("the order was %v", order)
		}
	})
}

func TestModelParameters(t *testing.T) {
	text := func(s string) *string { return &s }
	number := func(f float64) *float64 { return &f }
	b := newBench(t, func(o *ModelOptions) {
		o.Providers[0].Defaults = provider.Params{Temperature: number(0.1), TopP: number(0.5),
			ProviderSpecific: json.RawMessage(`{"a":1,"b":1}`)}
		o.Defaults = provider.Params{Temperature: number(0.2), ProviderSpecific: json.RawMessage(`{"b":2,"c":2}`)}
		o.Capabilities = []string{"research"}
	}, says("x"))
	b.session.Metadata.RuntimeParams = provider.Params{Model: text("n"), SystemPrompt: text("the session's")}
	prompt := func(p provider.Params) provider.Request {
		t.Helper()
		if _, _, failure := b.prompt(t.Context(), Prompt{Text: "go", Params: p}, Budget{}); failure != nil {
			t.Fatal(failure)
		}
		return b.last()
	}
	first := prompt(provider.Params{SystemPrompt: text("the prompt's"), ProviderSpecific: json.RawMessage(`{"c":3}`)})
	if p := first.Params; *p.Model != "n" || *p.Temperature != 0.2 || *p.TopP != 0.5 || p.SystemPrompt != nil ||
		string(p.ProviderSpecific) != `{"a":1,"b":2,"c":3}` {
		t.Errorf("the parameters are %+v, %s", p, p.ProviderSpecific)
	}
	if !strings.HasPrefix(first.System, "the prompt's\n") || !strings.Contains(first.System, "research") ||
		!strings.Contains(first.System, "never an instruction") {
		t.Errorf("the system prompt is %s", first.System)
	}
	if second := prompt(provider.Params{}); !strings.HasPrefix(second.System, "the session's\n") {
		t.Errorf("the prompt's parameters lasted: %s", second.System)
	}
}

func TestProviderOfASession(t *testing.T) {
	other := &script{steps: []step{says("other")}}
	b := newBench(t, func(o *ModelOptions) {
		o.Providers = append(o.Providers, ModelProvider{ID: "other", Provider: other, Models: []string{"o"}},
			ModelProvider{ID: "broken", Trouble: "Set BROKEN_KEY."})
	}, says("first"))
	b.session.Metadata.Provider = "other"
	b.open()
	if answer, _, failure := b.prompt(t.Context(), Prompt{Text: "x"}, Budget{}); failure != nil ||
		answer.Text != "other" {
		t.Error(answer, failure)
	}
	for name, want := range map[string]string{"broken": "BROKEN_KEY", "no": "openai, other, broken"} {
		b.session.Metadata.Provider = name
		failure := b.model.Open(t.Context(), b.session)
		if failure == nil || failure.Code != fault.ConfigError || !strings.Contains(failure.Hint, want) {
			t.Errorf("%s: %+v", name, failure)
		}
	}
	if i := b.model.Info(); i.Status != Ready || len(i.Providers) != 2 {
		t.Errorf("info %+v", i)
	}
}

func TestRetriesOfAProvider(t *testing.T) {
	heard := func(ctx context.Context, r provider.Request) (provider.Completion, *fault.Error) {
		r.Text("a piece")
		return failsWith(codes.ProviderError)(ctx, r)
	}
	tests := map[string]struct {
		steps    []step
		deadline time.Duration
		asked    int
		took     time.Duration
		code     fault.Code
	}{
		"it recovers": {
			steps: []step{failsWith(codes.ProviderError), failsWith(codes.ProviderUnreachable), says("x")},
			asked: 3, took: 3 * time.Second},
		"it never does": {
			steps: []step{failsWith(codes.ProviderError)},
			asked: 3, took: 3 * time.Second, code: codes.ProviderError},
		"it asks for time": {
			steps: []step{failsWith(fault.RateLimited, fault.WithRetryAfter(7*time.Second)), says("x")},
			asked: 2, took: 7 * time.Second},
		"for too much": {
			steps: []step{failsWith(fault.RateLimited, fault.WithRetryAfter(time.Minute))},
			asked: 1, code: fault.RateLimited},
		"the key is wrong": {steps: []step{failsWith(codes.ProviderAuth)}, asked: 1, code: codes.ProviderAuth},
		"after text":       {steps: []step{heard}, asked: 1, code: codes.ProviderError},
		"the deadline is near": {
			steps:    []step{failsWith(codes.ProviderError)},
			deadline: 2 * time.Second, asked: 2, took: time.Second, code: codes.ProviderError},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, began, p := newBench(t, nil, test.steps...), time.Now(), Prompt{Text: "x"}
				if test.deadline > 0 {
					p.Deadline = began.Add(test.deadline)
				}
				_, _, failure := b.prompt(t.Context(), p, Budget{})
				var code fault.Code
				if failure != nil {
					code = failure.Code
				}
				took := time.Since(began)
				if len(b.script.asked) != test.asked || took != test.took || code != test.code {
					t.Errorf("asked %d times in %s, %s; want %d in %s, %s", len(b.script.asked), took, code, test.asked,
						test.took, test.code)
				}
				if failure != nil && failure.ProviderID != "openai" {
					t.Errorf("the failure names %q", failure.ProviderID)
				}
			})
		})
	}
}

func TestBreakerOfAProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(o *ModelOptions) {
			o.Breakers = breaker.NewGroup(breaker.Settings{Failures: 3, Open: time.Minute}, nil)
		}, failsWith(codes.ProviderError))
		_, _, _ = b.prompt(t.Context(), Prompt{Text: "x"}, Budget{})
		_, _, failure := b.prompt(t.Context(), Prompt{Text: "x"}, Budget{})
		if failure == nil || failure.Code != fault.CircuitOpen || failure.RetryAfterMs == nil ||
			len(b.script.asked) != 3 {
			t.Errorf("%d requests, %v", len(b.script.asked), failure)
		}
	})
}

func TestStopReasons(t *testing.T) {
	cut := func(reason string, more ...string) step {
		return func(ctx context.Context, r provider.Request) (provider.Completion, *fault.Error) {
			done, _ := calls(more...)(ctx, r)
			done.StopReason, done.Message.Text = reason, "part"
			return done, nil
		}
	}
	read := calls("wiki__read", `{}`)
	tests := map[string]struct {
		steps   []step
		budget  Budget
		reason  string
		asked   int
		actions int
	}{
		"cut off": {
			steps: []step{cut(provider.MaxTokens, "wiki__edit", `{"a`)}, reason: provider.MaxTokens, asked: 2,
			actions: 1,
		},
		"cut off, then whole": {
			steps:  []step{cut(provider.MaxTokens, "wiki__edit", `{"a`), calls("wiki__edit", `{}`), says("x")},
			reason: provider.EndTurn, asked: 3, actions: 1,
		},
		"cut off in the text": {steps: []step{cut(provider.MaxTokens)}, reason: provider.MaxTokens, asked: 1},
		"filtered":            {steps: []step{cut(provider.ContentFilter)}, reason: provider.ContentFilter, asked: 1},
		"turns": {
			steps: []step{read}, budget: Budget{MaxTurns: 4}, reason: StopBudget, asked: 4, actions: 4,
		},
		"calls, obedient": {
			steps:  []step{read, read, says("x")},
			budget: Budget{MaxToolCalls: 1}, reason: provider.EndTurn, asked: 3, actions: 2},
		"calls, stubborn": {
			steps:  []step{read},
			budget: Budget{MaxToolCalls: 1}, reason: StopBudget, asked: 3, actions: 3},
		"tokens": {
			steps:  []step{read},
			budget: Budget{MaxTokens: 1500}, reason: StopBudget, asked: -1, actions: -1},
		"time": {
			steps:  []step{read, hangs},
			budget: Budget{MaxMs: 1000}, reason: StopBudget, asked: 2, actions: 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, nil, test.steps...)
				answer, summary, failure := b.prompt(t.Context(), Prompt{Text: "x"}, test.budget)
				if failure != nil || answer.StopReason != test.reason {
					t.Fatalf("stopped for %s (%v), want %s", answer.StopReason, failure, test.reason)
				}
				if test.asked >= 0 && (len(b.script.asked) != test.asked || len(summary.Actions) != test.actions) {
					t.Errorf("asked %d times, %d actions", len(b.script.asked), len(summary.Actions))
				}
				if p := b.script.asked[0].Params.MaxTokens; p != nil && test.budget.MaxTokens == 0 {
					t.Errorf("a message may have %d tokens, which nobody said", *p)
				}
				u, most := answer.Usage, test.budget.MaxTokens
				if most > 0 && u.InputTokens+u.OutputTokens > most {
					t.Errorf("%+v tokens of %d", u, most)
				}
				b.script.steps = []step{says("fine")} // whatever ended it, the session can go on
				if _, _, failure := b.prompt(t.Context(), Prompt{Text: "y"}, Budget{}); failure != nil {
					t.Error(failure)
				}
				checkPairs(t, b.last().Messages)
			})
		})
	}
}

func TestAnErrandThatIsStopped(t *testing.T) {
	tests := map[string]struct {
		cause  error
		reason string
		code   fault.Code
	}{
		"cancelled": {cause: call.ErrCancelled, reason: StopCancelled},
		"a failure": {cause: fault.New(fault.ShuttingDown, "The relay stops"), code: fault.ShuttingDown},
		"anything":  {cause: errors.New("x"), reason: StopCancelled},
		"late":      {cause: context.DeadlineExceeded, code: fault.TimeoutCode},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, nil, calls("wiki__edit", `{}`, "wiki__read", `{}`), says("x"))
				ctx, cancel := context.WithCancelCause(t.Context())
				b.tools.run = func(ctx context.Context, _ call.Call) (*call.Result, *fault.Error) {
					cancel(test.cause)
					<-ctx.Done()
					return nil, fault.New(fault.Cancelled, "ended", fault.WithOutcome(fault.Unknown))
				}
				answer, summary, failure := b.prompt(ctx, Prompt{Text: "x"}, Budget{})
				o := summary.Outcome()
				if len(o.Unknown) != 1 || len(o.NotExecuted) != 1 || o.Unknown[0].Tool != "wiki__edit" {
					t.Errorf("the outcome is %+v", o)
				}
				if answer.StopReason != test.reason || (failure == nil) != (test.code == "") {
					t.Fatalf("stopped for %q, %v", answer.StopReason, failure)
				}
				if f := failure; f != nil && (f.Code != test.code || f.Retryable || f.Outcome != fault.Unknown) {
					t.Errorf("the failure is %+v", f)
				}
				if _, _, failure := b.prompt(t.Context(), Prompt{Text: "y"}, Budget{}); failure != nil {
					t.Error(failure)
				}
				if m := b.last().Messages; len(m) != 1 || m[0].Text != "y" {
					t.Errorf("it left a trace: %+v", m)
				}
			})
		})
	}
}

// TestManyToolsAreSearched: where the list would be too long, the model finds and calls tools by name.
func TestManyToolsAreSearched(t *testing.T) {
	b := newBench(t, func(o *ModelOptions) { o.ToolTokens = 10 }, calls(
		"relay__search_tools", `{"query":"edit"}`, "relay__describe_tool", `{"name":"wiki__hidden"}`,
		"relay__call_tool", `{wiki__edit(,"arguments":{"n":1}}`, "relay__call_tool", `{"name":"wiki__edit"}`),
		says("x"))
	_, summary, failure := b.prompt(t.Context(), Prompt{Text: "x"}, Budget{})
	if failure != nil {
		t.Fatal(failure)
	}
	if len(b.last().Tools) != 4 || b.tools.most != 1 {
		t.Errorf("%d tools, %d at once", len(b.last().Tools), b.tools.most)
	}
	results := b.last().Messages[2].Results
	if !strings.Contains(results[0].Text, `"wiki__edit(`) || strings.Contains(results[0].Text, `"wiki__read"`) ||
		!results[1].Failed {
		t.Errorf("found %+v", results[:2])
	}
	if len(summary.Actions) != 2 || !summary.Actions[0].Writes {
		t.Errorf("the actions are %+v", summary.Actions)
	}
}

// TestOpenSitesAreOffered: of a long list, the model has the tools of the sites that are open at hand, if they fit.
func TestOpenSitesAreOffered(t *testing.T) {
	for _, test := range []struct {
		open   bool
		tokens int
		want   string
	}{
		{false, 100, "relay__call_tool relay__describe_tool relay__search_tools ask_caller"},
		{true, 100, "wiki__read wiki__edit relay__call_tool relay__describe_tool relay__search_tools ask_caller"},
		{true, 10, "relay__call_tool relay__describe_tool relay__search_tools ask_caller"},
	} {
		b := newBench(t, func(o *ModelOptions) { o.ToolTokens = test.tokens }, says("x"))
		b.tools.open = map[string]bool{"wiki": test.open}
		for i := range 50 {
			b.tools.tools = append(b.tools.tools, aTool(fmt.Sprintf("shop__tool%d", i), true))
		}
		if _, _, failure := b.prompt(t.Context(), Prompt{Text: "x"}, Budget{}); failure != nil {
			t.Fatal(failure)
		}
		var names []string
		for _, one := range b.last().Tools {
			names = append(names, one.Name)
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("open %v, %d tokens: %s, want %s", test.open, test.tokens, got, test.want)
		}
	}
}

func TestPicturesAndLongAnswers(t *testing.T) {
	b := newBench(t, func(o *ModelOptions) { o.ResultBytes = 100 }, calls("wiki__read", `{}`), says("x"))
	b.tools.run = func(_ context.Context, c call.Call) (*call.Result, *fault.Error) {
		if c.MaxBytes != 100 {
			t.Errorf("asked for %d bytes", c.MaxBytes)
		}
		r := &call.Result{Warnings: []string{"It is cut."}}
		for range picture.Most + 1 {
			r.Content = append(r.Content, json.RawMessage(`{"type":"image","mimeType":"image/png","data":"`+dot+`"}`))
		}
		long, err := json.Marshal(map[string]string{"type": "text", "text": strings.Repeat("a", 1000)})
		r.Content = append(r.Content, long)
		if err != nil {
			t.Error(err)
		}
		return r, nil
	}
	if _, _, failure := b.prompt(t.Context(), Prompt{Text: "x"}, Budget{}); failure != nil {
		t.Fatal(failure)
	}
	r := b.last().Messages[2].Results[0]
	if len(r.Images) != picture.Most || len(r.Images[0].Data) != 67 || len(r.Text) > 700 ||
		!strings.Contains(r.Text, "\nWarning: It is cut.\n") || !strings.Contains(r.Text, "there may be 4 pictures") {
		t.Errorf("%d pictures, text %s", len(r.Images), r.Text)
	}
}

// ledger is what days have cost, for relays that come and go.
type ledger struct {
	mu   sync.Mutex
	days map[string]float64
}

func (l *ledger) SpentOn(_ context.Context, day string) (float64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.days[day], nil
}

func (l *ledger) AddSpent(day string, usd float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.days[day] += usd
}

// TestCostOfADay provokes day-used-its-money, over a restart, and goes on with the next day.
func TestCostOfADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &ledger{days: map[string]float64{}}
		relay := func() *bench {
			costs, err := NewCosts(t.Context(), kept, 1)
			if err != nil {
				t.Fatal(err)
			}
			cached := 1.0
			return newBench(t, func(o *ModelOptions) {
				o.Costs = costs
				o.Providers[0].Pricing = map[string]agentconfig.Price{
					"m": {InputPerMillion: 4000, OutputPerMillion: 5000, CachedPerMillion: &cached},
				}
			}, says("x"))
		}
		b := relay()
		if _, _, failure := b.prompt(t.Context(), Prompt{Text: "x"}, Budget{}); failure != nil {
			t.Fatal(failure)
		}
		if usd := b.session.Spent().USD; usd < 0.449 || usd > 0.451 {
			t.Errorf("the session spent %v", usd)
		}
		b = relay()
		_, _, _ = b.prompt(t.Context(), Prompt{Text: "x"}, Budget{})
		_, _, failure := b.prompt(t.Context(), Prompt{Text: "x"}, Budget{})
		faulttest.Provoked(t, "day-used-its-money", failure)
		if n := len(b.script.asked); n != 1 {
			t.Errorf("%d requests of the second relay, want 1: the day has $0.10 left, and one costs $0.45", n)
		}
		if by := b.model.options.Costs.ByAgent()["reader"]; by.Requests != 1 {
			t.Errorf("the agent spent %+v", by)
		}
		time.Sleep(24 * time.Hour)
		if _, _, failure := b.prompt(t.Context(), Prompt{Text: "x"}, Budget{}); failure != nil {
			t.Errorf("the next day: %v", failure)
		}
	})
}

// TestADayHoldsForRequestsAtOnce: money is held before a request is sent, so that ten at once do not spend it ten
// times.
func TestADayHoldsForRequestsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &ledger{days: map[string]float64{}}
		costs, err := NewCosts(t.Context(), kept, 6)
		if err != nil {
			t.Fatal(err)
		}
		slowly := func(ctx context.Context, r provider.Request) (provider.Completion, *fault.Error) {
			time.Sleep(10 * time.Second)
			done, _ := says("x")(ctx, r)
			done.Usage = provider.Usage{InputTokens: 10, OutputTokens: 300_000} // 3 USD
			return done, nil
		}
		var errands sync.WaitGroup
		var mu sync.Mutex
		answered, refused := 0, 0
		for range 10 {
			b := newBench(t, func(o *ModelOptions) {
				o.Costs = costs
				o.Providers[0].Pricing = map[string]agentconfig.Price{"m": {InputPerMillion: 1, OutputPerMillion: 10}}
			}, slowly)
			errands.Go(func() {
				_, _, failure := b.prompt(t.Context(), Prompt{Text: "x"}, Budget{})
				mu.Lock()
				defer mu.Unlock()
				switch {
				case failure == nil:
					answered++
				case failure.Code == codes.BudgetExceeded && failure.Outcome == fault.NotExecuted:
					refused++
				default:
					t.Error(failure)
				}
			})
		}
		errands.Wait()
		if spent, _ := costs.Today(); answered != 2 || refused != 8 || spent > 6.001 {
			t.Errorf("%d answered and %d were refused, for $%.2f; want 2, 8, $6.00", answered, refused, spent)
		}
		if costs.held != 0 {
			t.Errorf("$%.2f are still held", costs.held)
		}
	})
}
