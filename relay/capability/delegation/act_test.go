package delegation

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/capability"
	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/faulttest"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// fakeTools are tools whose end a test decides, and what really became of each call.
type fakeTools struct {
	open  map[string]bool // plugins whose site is open
	tools []*registry.Tool
	run   func(ctx context.Context, c call.Call) (*call.Result, *fault.Error)

	mu       sync.Mutex
	sessions []call.Session
	truth    map[call.ID]fault.Outcome
	running  int
	most     int // that ran at once
}

func (f *fakeTools) List(call.Session) []*registry.Tool { return f.tools }

func (f *fakeTools) Offer() *registry.Offer { return &registry.Offer{Plugins: f.open} }

func (f *fakeTools) Find(name string) (*registry.Tool, bool) {
	i := slices.IndexFunc(f.tools, func(t *registry.Tool) bool { return t.Name == name })
	if i < 0 {
		return nil, false
	}
	return f.tools[i], true
}

func (f *fakeTools) Reserve(string) call.Position { return 0 }

func (f *fakeTools) Do(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
	f.mu.Lock()
	f.sessions = append(f.sessions, c.Session)
	f.running++
	f.most = max(f.most, f.running)
	f.mu.Unlock()
	result, failure := f.run(ctx, c)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running--
	if f.truth == nil {
		f.truth = map[call.ID]fault.Outcome{}
	}
	f.truth[c.ID] = fault.Executed
	if failure != nil {
		f.truth[c.ID] = failure.Outcome
	}
	return result, failure
}

// aTool is one that reads, or one that writes, of the plugin that its name begins with.
func aTool(name string, reads bool) *registry.Tool {
	of, _, _ := strings.Cut(name, "__")
	t := &registry.Tool{Name: name, Group: of, Plugin: &plugin.Plugin{Manifest: plugin.Manifest{Name: of}},
		ReadOnly: reads, ListedInput: json.RawMessage(`{"type":"object"}`)}
	t.Spec.Description = "A tool named " + name + "."
	return t
}

func answers(text string) func(context.Context, call.Call) (*call.Result, *fault.Error) {
	return func(context.Context, call.Call) (*call.Result, *fault.Error) {
		output, err := json.Marshal(text)
		if err != nil {
			panic(err)
		}
		return &call.Result{Output: output, Meta: call.Meta{TabID: 3, Untrusted: true}}, nil
	}
}

func newSession(tools capability.Tools) *Session {
	asker := call.Session{ID: "asker", Client: "claude-code", Via: call.ViaStdio}
	acts := asker
	acts.ID, acts.Bounds = "asker/session:agent-0123", &call.Bounds{Agent: "reader", Asker: asker.ID}
	return &Session{ID: "0123", AgentID: "reader", Asker: asker, Acts: acts, Tools: tools}
}

// TestDoActsAsTheSession: whatever a program says, its calls are those of the delegated session, and no program
// answers a question that is meant for a person.
func TestDoActsAsTheSession(t *testing.T) {
	tools := &fakeTools{tools: []*registry.Tool{aTool("wiki__read", true), aTool("wiki__edit", false)}}
	var got call.Call
	tools.run = func(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
		got = c
		c.Progress(call.Progress{Progress: 1, Message: "half of it"})
		return answers("x")(ctx, c)
	}
	s := newSession(tools)
	var told []string
	turn := s.Begin(t.Context(), Prompt{Tell: func(p call.Progress) {
		told = append(told, fmt.Sprint(p.Progress, " ", p.Message))
	}}, Budget{MaxToolCalls: 5})
	_, failure := s.Do(t.Context(), call.Call{
		Tool: "wiki__edit", Arguments: json.RawMessage(`{"tabId":7}`), Consent: true, Resume: true,
		Session: call.Session{ID: "forged"},
		Ask: func(context.Context, call.Question) (call.Answer, error) {
			return call.Answer{Action: "accept"}, nil
		},
	})
	if failure != nil {
		t.Fatal(failure)
	}
	if got.Session.ID != s.Acts.ID || got.Session.Bounds == nil || got.Consent || got.Resume || got.Ask != nil {
		t.Errorf("the call went as %+v", got)
	}
	doing := s.Doing()
	summary := turn.End()
	want := []string{"1 wiki__edit in tab 7: started", "2 wiki__edit in tab 7: half of it",
		"3 wiki__edit in tab 3: done"}
	if !slices.Equal(told, want) {
		t.Errorf("the client was told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
	if a := summary.Actions[0]; !a.OK || !a.Writes || a.TabID != 3 || a.Outcome != fault.Executed || a.ID == "" {
		t.Errorf("the action is %+v", a)
	}
	if !summary.Untrusted || !summary.Wrote() || !doing.Busy || doing.Calls != 1 ||
		!slices.Equal(doing.Tabs, []int{3}) {
		t.Errorf("summary %+v, doing %+v", summary, doing)
	}
	if _, failure := s.Do(t.Context(), call.Call{Tool: "wiki__read"}); failure == nil ||
		failure.Code != fault.PermissionDenied {
		t.Errorf("a call without an errand: %v", failure)
	}
}

// TestCallsBeyondTheBudgetAreRefused provokes errand-used-its-calls.
func TestCallsBeyondTheBudgetAreRefused(t *testing.T) {
	tools := &fakeTools{tools: []*registry.Tool{aTool("wiki__read", true)}, run: answers("x")}
	s := newSession(tools)
	turn := s.Begin(t.Context(), Prompt{}, Budget{MaxToolCalls: 2})
	var failure *fault.Error
	for range 200 {
		_, failure = s.Do(t.Context(), call.Call{Tool: "wiki__read"})
	}
	faulttest.Provoked(t, "errand-used-its-calls", failure)
	if n := len(tools.sessions); n != 2 {
		t.Errorf("%d calls were carried out, want 2", n)
	}
	summary := turn.End()
	if !summary.Exceeded || len(summary.Actions) != 2+mostRefused {
		t.Errorf("%d actions, exceeded %t", len(summary.Actions), summary.Exceeded)
	}
}

// A caller may name any number of milliseconds: one that is too large for a clock is a long time.
func TestTimeBudgetOfAnySize(t *testing.T) {
	s := newSession(&fakeTools{})
	turn := s.Begin(t.Context(), Prompt{}, Budget{MaxMs: math.MaxInt64})
	if err := turn.Context().Err(); err != nil {
		t.Error(context.Cause(turn.Context()))
	}
	turn.End()
}

// TestSummaryIsTheTruth runs scripts of calls with every fate, at once and one after the other, and ends their turns
// early and late: what the summary says is what the tools did.
func TestSummaryIsTheTruth(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) { checkTruth(t, rand.New(rand.NewPCG(seed, 11))) })
		if t.Failed() {
			t.Fatalf("with the seed %d", seed)
		}
	}
}

func checkTruth(t *testing.T, random *rand.Rand) {
	fates := []fault.Outcome{"", fault.Executed, fault.NotExecuted, fault.Unknown}
	tools := &fakeTools{tools: []*registry.Tool{aTool("wiki__read", true), aTool("wiki__edit", false)}}
	tools.run = func(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
		var fate struct{ Fate, Ms int }
		if err := json.Unmarshal(c.Arguments, &fate); err != nil {
			t.Error(err)
		}
		select {
		case <-time.After(time.Duration(fate.Ms) * time.Millisecond):
		case <-ctx.Done():
			return nil, fault.New(fault.Cancelled, "ended", fault.WithOutcome(fates[1+fate.Fate%3]))
		}
		if fates[fate.Fate] == "" {
			return &call.Result{}, nil
		}
		return nil, fault.New(fault.ExtensionLost, "lost", fault.WithOutcome(fates[fate.Fate]))
	}
	s, n := newSession(tools), random.IntN(20)
	turn := s.Begin(t.Context(), Prompt{}, Budget{MaxToolCalls: random.IntN(15), MaxMs: int64(random.IntN(400))})
	ids, wrote := map[call.ID]bool{}, map[call.ID]bool{}
	var calls sync.WaitGroup
	for i := range n {
		c := call.Call{ID: call.ID(fmt.Sprint(i)), Tool: []string{"wiki__read", "wiki__edit"}[random.IntN(2)],
			Arguments: fmt.Appendf(nil, `{"fate":%d,"ms":%d}`, random.IntN(4), random.IntN(100))}
		ids[c.ID], wrote[c.ID] = true, c.Tool == "wiki__edit"
		calls.Go(func() { _, _ = s.Do(t.Context(), c) })
		if random.IntN(2) == 0 {
			calls.Wait()
		}
	}
	synctest.Wait() // every call has come before the turn ends
	time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
	summary := turn.End()
	calls.Wait()
	changed := false
	for _, a := range summary.Actions {
		if !ids[a.ID] {
			t.Errorf("the action %s is listed twice, or was not called", a.ID)
		}
		delete(ids, a.ID)
		truth, ran := tools.truth[a.ID]
		if !ran {
			truth = fault.NotExecuted
		}
		if a.Outcome != truth {
			t.Errorf("the action %s is said to be %s, and was %s", a.ID, a.Outcome, truth)
		}
		changed = changed || wrote[a.ID] && truth != fault.NotExecuted
	}
	o := summary.Outcome()
	if len(ids) > 0 || len(o.Executed)+len(o.NotExecuted)+len(o.Unknown) != n || summary.Wrote() != changed {
		t.Errorf("left out %v; %d, %d and %d of %d", ids, len(o.Executed), len(o.NotExecuted), len(o.Unknown), n)
	}
	failure := fault.New(codes.ProviderError, "down")
	if summary.Tell(failure); failure.Retryable == changed {
		t.Errorf("retryable %t, although changed is %t", failure.Retryable, changed)
	}
	if tools.running != 0 || s.Turn() != nil {
		t.Errorf("%d calls are left", tools.running)
	}
}
