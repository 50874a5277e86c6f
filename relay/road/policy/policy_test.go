package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/faulttest"
	"tabrelay/relay/state/config"
)

// memory keeps rules as the database does.
type memory struct {
	mu       sync.Mutex
	rules    map[key]call.Rule
	switches map[string]string
	slow     <-chan struct{} // a rule is written once it is closed; nil: at once
	broken   error           // nothing is written; nil: it is
}

func (m *memory) Rules(context.Context) (list []call.Rule, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.rules {
		list = append(list, r)
	}
	return list, nil
}

func (m *memory) SetRule(_ context.Context, r call.Rule) error {
	if m.slow != nil {
		<-m.slow
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken == nil {
		m.rules[key{r.Target, r.Client}] = r
	}
	return m.broken
}

func (m *memory) UnsetRule(_ context.Context, target, client string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, there := m.rules[key{target, client}]
	delete(m.rules, key{target, client})
	return there, nil
}

func (m *memory) Switch(_ context.Context, name string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.switches[name], nil
}

func (m *memory) SetSwitch(_ context.Context, name, value string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken == nil {
		m.switches[name] = value
	}
	return m.broken
}

func newMemory() *memory { return &memory{rules: map[key]call.Rule{}, switches: map[string]string{}} }

// fixture is a Policy with what it was heard to record.
type fixture struct {
	*Policy
	t        *testing.T
	mu       sync.Mutex
	recorded []string // "decision by"
	kept     []string // arguments of decisions
}

func open(t *testing.T, rules ...call.Rule) *fixture { return openConfigured(t, nil, rules...) }

// mode is what is done about a call where it would run.
func (f *fixture) mode(a call.Access) (call.Mode, string) {
	v := f.rules.Load().resolve(&a, time.Now().UnixNano())
	return v.mode, v.why()
}

func openConfigured(t *testing.T, configured map[string]map[string]string, rules ...call.Rule) *fixture {
	t.Helper()
	m := newMemory()
	for _, r := range rules {
		m.rules[key{r.Target, r.Client}] = r
	}
	f := &fixture{t: t}
	cfg := answeredWithin(50 * time.Second)
	cfg.Permissions = configured
	p, err := New(t.Context(), Options{Store: m, Config: cfg, Audit: func(e call.Entry) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if e.Kind == call.EntryDecision || e.Kind == call.EntryWidening {
			f.recorded = append(f.recorded, e.Decision+" by "+e.DecidedBy)
			f.kept = append(f.kept, string(e.Arguments))
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	f.Policy = p
	return f
}

// answeredWithin is a configuration in which the person has so long to answer.
func answeredWithin(timeout time.Duration) (c config.Config) {
	c.Approvals.Timeout = timeout
	return c
}

// ask is [Policy.Ask], of which only the failure counts.
func (f *fixture) ask(
	ctx context.Context, a call.Access, client func(context.Context, call.Question) (call.Answer, error),
	tell func(string),
) *fault.Error {
	_, failure := f.Ask(ctx, a, client, tell)
	return failure
}

// asks lets a call ask, and waits until it is pending.
func (f *fixture) asks(ctx context.Context, a call.Access) (q call.Approval, end <-chan *fault.Error) {
	f.t.Helper()
	before := f.Pending("")
	ended := make(chan *fault.Error, 1)
	go func() { ended <- f.ask(ctx, a, nil, nil) }()
	synctest.Wait()
	for _, q := range f.Pending("") {
		if !slices.ContainsFunc(before, func(b call.Approval) bool { return b.ID == q.ID }) {
			return q, ended
		}
	}
	f.t.Fatal("there is no question")
	return q, nil
}

func (f *fixture) allowed(a call.Access) string {
	f.t.Helper()
	says, failure := f.Allow(a)
	switch {
	case failure != nil:
		return string(failure.Code)
	case says.Ask:
		return "ask"
	}
	return "runs"
}

func yes(long string) call.Decision { return call.Decision{Allow: true, For: long, By: "terminal"} }

var no = call.Decision{By: "panel"}

// What an answer allows besides the call it is about.
func TestWhatAnAnswerAllows(t *testing.T) {
	ask := call.Rule{Target: "shop", Mode: call.Ask}
	elsewhere, otherProfile, otherSession, otherTool := pay(), pay(), pay(), pay()
	otherPlugin, otherContent, deletes := pay(), pay(), pay()
	otherPlugin.Plugin, otherContent.Hash, deletes.Destructive = "bank", "another", true
	elsewhere.At = shopAt("https://other.example")
	otherProfile.At = shopAt("https://shop.example")
	otherProfile.At.ProfileID = "p2"
	otherSession.Session.ID, otherTool.Tool = "session 2", "shop__sell"
	otherTab := pay()
	otherTab.At = shopAt("https://shop.example")
	otherTab.At.TabID = 8
	for _, tt := range []struct {
		name, answer string
		same, otherTab,
		session, tool string
		later time.Duration // until the same call comes again
	}{
		{"once", "once", "ask", "ask", "ask", "ask", 0},
		{"what is asked", "", "ask", "ask", "ask", "ask", 0},
		{"the session", "session", "runs", "runs", "ask", "runs", 0},
		{"the session, after 59 minutes", "session", "runs", "runs", "ask", "runs", 59 * time.Minute},
		{"the session, after an idle hour", "session", "ask", "ask", "ask", "ask", time.Hour},
		{"an hour", "1h", "runs", "runs", "ask", "runs", 0},
		{"ten minutes", "10m", "ask", "ask", "ask", "ask", 10 * time.Minute},
		{"always", "always", "runs", "runs", "runs", "ask", 0},
		{"always, after a day", "always", "runs", "runs", "runs", "ask", 24 * time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := open(t, ask)
				q, end := f.asks(t.Context(), pay())
				if err := f.Answer(t.Context(), q.ID, "", yes(tt.answer)); err != nil {
					t.Fatal(err)
				}
				if failure := <-end; failure != nil {
					t.Fatal(failure)
				}
				time.Sleep(tt.later)
				if got := f.allowed(pay()); got != tt.same {
					t.Errorf("the same call: %s, want %s", got, tt.same)
				}
				if got := f.allowed(otherTab); got != tt.otherTab {
					t.Errorf("another tab: %s, want %s", got, tt.otherTab)
				}
				if got := f.allowed(otherSession); got != tt.session {
					t.Errorf("another session: %s, want %s", got, tt.session)
				}
				if got := f.allowed(otherTool); got != tt.tool {
					t.Errorf("another tool of the plugin: %s, want %s", got, tt.tool)
				}
				others := map[string]call.Access{"a tool that reads": read(), "another plugin": otherPlugin,
					"another origin": elsewhere}
				if tt.answer != "always" {
					others["another profile"] = otherProfile
					others["another content of the plugin"], others["a tool that deletes"] = otherContent, deletes
				} else {
					delete(others, "another plugin") // the rule is about the tool's name
				}
				for name, a := range others {
					if got := f.allowed(a); got != "ask" {
						t.Errorf("%s: %s, want ask", name, got)
					}
				}
			})
		})
	}
}

// What is always allowed on one site lifts no off: neither of another site, nor of the tool, nor that of config.json.
func TestAlwaysLiftsNoOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openConfigured(t, map[string]map[string]string{"https://bank.example": {"*": "off"}})
		q, end := f.asks(t.Context(), pay())
		if err := f.Answer(t.Context(), q.ID, "", yes("always")); err != nil || <-end != nil {
			t.Fatal(err)
		}
		bank := pay()
		bank.At = shopAt("https://bank.example")
		if mode, _ := f.mode(bank); f.allowed(pay()) != "runs" || mode != call.Off {
			t.Errorf("there it is %s, at the bank %s", f.allowed(pay()), mode)
		}
		for _, r := range []call.Rule{{Target: "https://shop.example", Mode: call.Off}, {Target: "shop",
			Mode: call.Off}} {
			if err := f.Set(t.Context(), r, 0); err != nil {
				t.Fatal(err)
			}
			if mode, why := f.mode(pay()); mode != call.Off {
				t.Errorf("with %s off it is %s: %s", r.Target, mode, why)
			}
			if _, err := f.Unset(t.Context(), r.Target, "", ByPanel); err != nil || f.allowed(pay()) != "runs" {
				t.Errorf("without that rule it is %s, %v", f.allowed(pay()), err)
			}
		}
		if rules := f.Permissions().Rules; rules[0].Target != "shop__pay@https://shop.example" ||
			rules[0].Client != "ann" {
			t.Errorf("the rule is %+v", rules[0])
		}
	})
}

// Without any rule the person is asked once in a session about what reads, for each plugin and site, and each time
// about what changes something; about what deletes, nothing but this once can be answered.
func TestWhatIsAskedWithoutRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		q, end := f.asks(t.Context(), read())
		if !slices.Equal(q.Choices, []string{"session", "once", "always"}) || q.Risk != "reads" ||
			q.Sentence != "May ann read “Shop” on shop.example for this session?" ||
			q.Covers != "read “Shop” on shop.example" {
			t.Errorf("the question is %+v", q)
		}
		if err := f.Answer(t.Context(), q.ID, "", yes("")); err != nil || <-end != nil {
			t.Fatal(err)
		}
		orders, elsewhere := read(), read()
		orders.Tool, orders.Title = "shop__orders", "Orders"
		elsewhere.At = shopAt("http://shop.example:8080")
		if f.allowed(read()) != "runs" || f.allowed(orders) != "runs" || f.allowed(elsewhere) != "ask" {
			t.Errorf("the next call: %s, another tool: %s, another site: %s", f.allowed(read()), f.allowed(orders),
				f.allowed(elsewhere))
		}
		q, _ = f.asks(t.Context(), elsewhere)
		if !strings.HasSuffix(q.Sentence, " on http://shop.example:8080 for this session?") {
			t.Errorf("asked %q", q.Sentence)
		}
		q, end = f.asks(t.Context(), pay())
		if !slices.Equal(q.Choices, []string{"once", "session", "always"}) ||
			q.Sentence != "May ann use “Pay” (shop__pay) on shop.example?" {
			t.Errorf("the question about a change is %+v", q)
		}
		if err := f.Answer(t.Context(), q.ID, "", yes("")); err != nil || <-end != nil || f.allowed(pay()) != "ask" {
			t.Errorf("%v; then %s", err, f.allowed(pay()))
		}
		deletes := pay()
		deletes.Tool, deletes.Destructive = "shop__delete", true
		q, end = f.asks(t.Context(), deletes)
		for _, answer := range []string{"session", "always", "1h"} {
			if err := f.Answer(t.Context(), q.ID, "", yes(answer)); !errors.Is(err, ErrAnswer) {
				t.Errorf("deleting is allowed for %s: %v", answer, err)
			}
		}
		if !slices.Equal(q.Choices, []string{"once"}) {
			t.Errorf("the question about deleting offers %q", q.Choices)
		}
		err := f.Answer(t.Context(), q.ID, "", yes("once"))
		if err != nil || <-end != nil || f.allowed(deletes) != "ask" {
			t.Errorf("%v; then %s", err, f.allowed(deletes))
		}
	})
}

// The demo's counter is asked about for the session, and the question does not call that reading.
func TestTheDemoIsAskedAboutAsWhatChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		counter := pay()
		counter.Plugin, counter.PluginTitle, counter.Shipped = demoPlugin, "Demo site", true
		counter.Tool, counter.Title = demoCounter, "Raise counter"
		q, _ := f.asks(t.Context(), counter)
		if q.Sentence != "May ann make changes in Demo site on shop.example for this session?" ||
			!slices.Equal(q.Choices, []string{"session", "once", "always"}) {
			t.Errorf("the question is %+v", q)
		}
	})
}

// A tool that a rule singles out is asked about by itself: what was allowed of its plugin does not count.
func TestAToolThatARuleSinglesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop__secrets", Mode: call.Ask})
		q, end := f.asks(t.Context(), read())
		if err := f.Answer(t.Context(), q.ID, "", yes("session")); err != nil || <-end != nil {
			t.Fatal(err)
		}
		single := read()
		single.Tool, single.Title = "shop__secrets", "Secrets"
		q, end = f.asks(t.Context(), single)
		if q.Sentence != "May ann use “Secrets” (shop__secrets) on shop.example for this session?" ||
			q.Covers != "use shop__secrets on shop.example" {
			t.Errorf("asked %q, which covers %q", q.Sentence, q.Covers)
		}
		if err := f.Answer(t.Context(), q.ID, "", yes("session")); err != nil || <-end != nil {
			t.Fatal(err)
		}
		if got := f.allowed(single); got != "runs" {
			t.Errorf("then it %s", got)
		}
	})
}

// The situations in which an agent is refused.
func TestRefusalsSayWhatThePersonCanDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop__pay", Mode: call.Off})
		_, forbidden := f.Allow(pay())
		faulttest.Provoked(t, "rule-forbids", forbidden)
		if !strings.Contains(forbidden.Hint, "tabrelay permit set shop__pay ask") ||
			!strings.Contains(forbidden.Hint, "side panel") {
			t.Errorf("it does not say what would enable it: %s", forbidden.Hint)
		}

		q, end := f.asks(t.Context(), read())
		if err := f.Answer(t.Context(), q.ID, "p1", no); err != nil {
			t.Fatal(err)
		}
		faulttest.Provoked(t, "person-said-no", <-end)

		began := time.Now()
		_, end = f.asks(t.Context(), read())
		late := <-end
		faulttest.Provoked(t, "person-did-not-answer", late)
		if took := time.Since(began); took != 50*time.Second || !strings.Contains(late.Hint, "permit pending") ||
			!strings.Contains(late.Hint, "side panel") {
			t.Errorf("after %s: %s", took, late.Hint)
		}
		if want := []string{"denied by panel", "not answered in time by relay"}; !slices.Equal(f.recorded, want) {
			t.Errorf("recorded %v, want %v", f.recorded, want)
		}
	})
}

// Of two answers at once one counts; the other does nothing and is told why.
func TestTwoAnswersAtOnce(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
			q, end := f.asks(t.Context(), pay())
			var both sync.WaitGroup
			errs := make([]error, 2)
			for i, d := range []call.Decision{yes("session"), no} {
				both.Go(func() { errs[i] = f.Answer(t.Context(), q.ID, "", d) })
			}
			both.Wait()
			failure := <-end
			if (errs[0] == nil) == (errs[1] == nil) || (errs[0] == nil) != (failure == nil) {
				t.Fatalf("answers %v, end %v", errs, failure)
			}
			if late := errors.Join(errs...); !errors.Is(late, ErrEnded) {
				t.Errorf("the other is told: %v", late)
			}
			if got := f.allowed(pay()); (got == "runs") != (errs[0] == nil) {
				t.Errorf("afterwards it is %s", got)
			}
		})
	}
}

// An answer at the very deadline either counts or does nothing; a later one never counts.
func TestAnswerAtTheDeadline(t *testing.T) {
	for _, after := range []time.Duration{50*time.Second - 1, 50 * time.Second, 50*time.Second + 1} {
		synctest.Test(t, func(t *testing.T) {
			f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
			q, end := f.asks(t.Context(), pay())
			time.Sleep(after)
			err := f.Answer(t.Context(), q.ID, "", yes("always"))
			failure := <-end
			if (err == nil) != (failure == nil) || (err == nil) != (after < 50*time.Second) {
				t.Errorf("after %s: %v, end %v", after, err, failure)
			}
			if err != nil && !errors.Is(err, ErrEnded) {
				t.Errorf("the late answer is told: %v", err)
			}
			if got := f.allowed(pay()); (got == "runs") != (err == nil) {
				t.Errorf("afterwards it is %s", got)
			}
		})
	}
}

// Whatever ends a call ends its question, and nothing is executed.
func TestQuestionsEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(f *fixture, cancel context.CancelCauseFunc)
		code fault.Code
	}{
		"the agent cancels": {func(_ *fixture, cancel context.CancelCauseFunc) { cancel(call.ErrCancelled) },
			fault.Cancelled},
		"the relay stops": {func(f *fixture, _ context.CancelCauseFunc) { f.Close() }, fault.ShuttingDown},
		"everything stops": {func(f *fixture, _ context.CancelCauseFunc) {
			if err := f.Pause(f.t.Context(), true, "panel"); err != nil {
				f.t.Error(err)
			}
		}, fault.PermissionDenied},
		"it is switched off": {func(f *fixture, _ context.CancelCauseFunc) {
			if err := f.Set(f.t.Context(), call.Rule{Target: "shop__pay", Mode: call.Off, By: "panel"}, 0); err != nil {
				f.t.Error(err)
			}
		}, fault.PermissionDenied},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
				ctx, cancel := context.WithCancelCause(t.Context())
				q, end := f.asks(ctx, pay())
				tt.end(f, cancel)
				failure := <-end
				if failure == nil || failure.Code != tt.code || failure.Outcome != fault.NotExecuted {
					t.Fatalf("the call ends with %v", failure)
				}
				if err := f.Answer(t.Context(), q.ID, "", yes("once")); !errors.Is(err, ErrEnded) {
					t.Errorf("a late answer: %v", err)
				}
			})
		})
	}
}

// What a rule, or the answer to another question, allows needs no answer any more.
func TestQuestionsThatARuleAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		q, first := f.asks(t.Context(), pay())
		_, second := f.asks(t.Context(), pay())
		other := pay()
		other.Session.ID = "session 2"
		_, third := f.asks(t.Context(), other)
		if err := f.Answer(t.Context(), q.ID, "", yes("session")); err != nil || <-first != nil || <-second != nil {
			t.Fatal(err)
		}
		if left := f.Pending(""); len(left) != 1 || left[0].Session != "session 2" {
			t.Fatalf("%d questions are left", len(left))
		}
		if err := f.Set(t.Context(), call.Rule{Target: "shop__pay", Mode: call.Auto}, time.Minute); err != nil ||
			<-third != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got := f.allowed(other); got != "ask" {
			t.Errorf("after the rule's end it is %s", got)
		}
	})
}

// A decision is written down with the arguments, or with what of them may be written down.
func TestWhatADecisionKeeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		for _, recorded := range []string{"", `{"value":"[redacted]"}`} {
			a := pay()
			a.Recorded = json.RawMessage(recorded)
			if recorded == "" {
				a.Recorded = nil
			}
			q, end := f.asks(t.Context(), a)
			if err := f.Answer(t.Context(), q.ID, "", no); err != nil || <-end == nil {
				t.Fatal(err)
			}
			if want := cmp.Or(recorded, string(a.Arguments)); f.kept[len(f.kept)-1] != want {
				t.Errorf("kept %s, want %s", f.kept[len(f.kept)-1], want)
			}
		}
	})
}
