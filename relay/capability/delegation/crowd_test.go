package delegation

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/capability/delegation/provider/providertest"
	"tabrelay/relay/road/breaker"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// TestManySessionsWithFaults lets ten sessions of one agent work for five minutes, with a provider and tools that fail
// in every way, and prompts that are cancelled or late. Each summary is the truth, and nothing goes on afterwards: the
// bubble of the test would not end.
func TestManySessionsWithFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		random := rand.New(rand.NewPCG(1, 2))
		roll := func(n int) int {
			mu.Lock()
			defer mu.Unlock()
			return random.IntN(n)
		}
		faults := []step{failsWith(codes.ProviderError),
			failsWith(fault.RateLimited, fault.WithRetryAfter(time.Second)), failsWith(codes.ProviderBadRequest), hangs}
		complete := func(ctx context.Context, r provider.Request) (provider.Completion, *fault.Error) {
			time.Sleep(time.Duration(roll(2000)) * time.Millisecond)
			switch n := roll(10); {
			case n < 2:
				return faults[roll(len(faults))](ctx, r)
			case n < 7:
				return calls("wiki__read", `{}`, "wiki__read", `{}`, "wiki__edit", `{}`)(ctx, r)
			}
			return says("Done.")(ctx, r)
		}
		group := breaker.NewGroup(breaker.Settings{Failures: 5, Open: 2 * time.Second}, nil)
		end, prompts := time.Now().Add(5*time.Minute), 0
		var sessions sync.WaitGroup
		for range 10 {
			b := newBench(t, func(o *ModelOptions) { o.Breakers = group }, complete)
			b.tools.run = func(ctx context.Context, _ call.Call) (*call.Result, *fault.Error) {
				select {
				case <-time.After(time.Duration(roll(3000)) * time.Millisecond):
				case <-ctx.Done():
					return nil, fault.New(fault.Cancelled, "ended", fault.WithOutcome(fault.Unknown))
				}
				outcomes := []fault.Outcome{fault.Executed, fault.NotExecuted, fault.Unknown}
				if n := roll(10); n < len(outcomes) {
					return nil, fault.New(fault.ExtensionLost, "lost", fault.WithOutcome(outcomes[n]))
				}
				return &call.Result{Output: json.RawMessage(`1`)}, nil
			}
			sessions.Go(func() {
				for time.Now().Before(end) {
					ctx, cancel := context.WithTimeoutCause(t.Context(), time.Duration(1+roll(40))*time.Second,
						call.ErrCancelled)
					p := Prompt{Text: "x", Deadline: time.Now().Add(30 * time.Second)}
					_, summary, failure := b.prompt(ctx, p, Budget{MaxTurns: 10, MaxToolCalls: 12})
					cancel()
					for _, a := range summary.Actions {
						truth, ran := b.tools.truth[a.ID]
						if a.Outcome != truth && (ran || a.Outcome != fault.NotExecuted) {
							t.Errorf("%s is said to be %s, and was %s", a.Tool, a.Outcome, truth)
						}
					}
					if failure != nil && failure.Retryable && summary.Wrote() {
						t.Errorf("to be repeated after a write: %v", failure)
					}
					mu.Lock()
					prompts++
					mu.Unlock()
					time.Sleep(100 * time.Millisecond) // an open breaker answers at once, and time would stand still
				}
				if b.session.Turn() != nil || b.tools.running != 0 {
					t.Error("something is left")
				}
				b.model.Close(b.session, Closed)
			})
		}
		sessions.Wait()
		if prompts < 50 {
			t.Errorf("only %d prompts", prompts)
		}
	})
}

// TestHTTPRequestsOfATurn counts the requests on each wire: what is tried again is tried here and nowhere else.
func TestHTTPRequestsOfATurn(t *testing.T) {
	busy, again := providertest.Step{Status: http.StatusServiceUnavailable}, http.Header{"Retry-After": {"0"}}
	limited := providertest.Step{Status: http.StatusTooManyRequests, Header: again}
	read := providertest.Step{Calls: []provider.ToolCall{
		{ID: "c1", Name: "wiki__read", Arguments: json.RawMessage(`{}`)}}}
	for _, kind := range providertest.Kinds() {
		for name, test := range map[string]struct {
			script []providertest.Step
			code   fault.Code
		}{
			"recovers":  {script: []providertest.Step{busy, limited, read, busy, {Text: "Done."}}},
			"stays bad": {script: []providertest.Step{read, busy, busy, busy}, code: codes.ProviderError},
			"the key":   {script: []providertest.Step{{Status: http.StatusUnauthorized}}, code: codes.ProviderAuth},
			"cut off":   {script: []providertest.Step{{Text: "So", Cut: true}}, code: codes.ProviderUnreachable},
		} {
			t.Run(string(kind)+" "+name, func(t *testing.T) {
				server := providertest.New(t, kind, test.script...)
				b := newBench(t, func(o *ModelOptions) {
					o.Retry.InitialDelay = time.Millisecond
					o.Providers[0].Provider = server.Provider()
				})
				answer, _, failure := b.prompt(t.Context(), Prompt{Text: "go"}, Budget{MaxTurns: 5})
				if n := server.HTTPCalls(); n != len(test.script) {
					t.Errorf("%d requests, want %d", n, len(test.script))
				}
				if failure == nil && (test.code != "" || answer.Text != "Done.") ||
					failure != nil && failure.Code != test.code {
					t.Errorf("answer %+v, failure %v; want %q", answer, failure, test.code)
				}
			})
		}
	}
}
