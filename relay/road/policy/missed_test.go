package policy

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

// openMissing is a Policy that keeps the questions nobody answered for ten minutes.
func openMissing(t *testing.T) *fixture {
	t.Helper()
	f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
	f.options.Config.Approvals.Missed = 10 * time.Minute
	return f
}

// misses lets a question time out and returns it.
func (f *fixture) misses(a call.Access) call.Approval {
	f.t.Helper()
	q, late := f.asksLate(a)
	if late == nil || late.Code != fault.ApprovalTimeout || !strings.Contains(late.Hint, "within 10m.") {
		f.t.Fatalf("the call ended with %+v", late)
	}
	return q
}

func (f *fixture) asksLate(a call.Access) (call.Approval, *fault.Error) {
	f.t.Helper()
	q, end := f.asks(f.t.Context(), a)
	late := <-end
	synctest.Wait()
	return q, late
}

// A question that nobody answered can be answered for the next time: for the same call of the same client on the same
// site, once, within ten minutes.
func TestAMissedQuestion(t *testing.T) {
	otherSession, otherArguments, otherClient := pay(), pay(), pay()
	otherTool, otherSite, otherAgent := pay(), pay(), pay()
	otherSession.Session.ID = "session 2"
	otherArguments.Arguments = []byte(`{"amount":6}`)
	otherClient.Session.Client = "bob"
	otherTool.Tool = "shop__sell"
	otherSite.At = shopAt("https://other.example")
	otherAgent.Session = withBounds(call.Bounds{})
	for _, tt := range []struct {
		name  string
		later time.Duration
		next  call.Access
		runs  bool
	}{
		{"the same call", 0, pay(), true},
		{"just in time", 10*time.Minute - 2*time.Second, pay(), true},
		{"too late", 10 * time.Minute, pay(), false},
		{"of the client's next session", 0, otherSession, true},
		{"with other arguments", 0, otherArguments, false},
		{"of another client", 0, otherClient, false},
		{"of another tool", 0, otherTool, false},
		{"on another site", 0, otherSite, false},
		{"of an agent for the client", 0, otherAgent, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := openMissing(t)
				q := f.misses(pay())
				if got := f.Missed("p1"); len(got) != 1 || got[0].ID != q.ID || !got[0].Missed || got[0].AllowedNext ||
					f.Waiting("p1") != 1 || len(f.Missed("p2")) != 0 {
					t.Fatalf("kept are %+v", got)
				}
				for _, late := range []string{"once", "session", "always", "1h"} {
					if err := f.Answer(t.Context(), q.ID, "p1", yes(late)); !errors.Is(err, ErrEnded) {
						t.Errorf("an answer that comes too late, %s: %v", late, err)
					}
				}
				if err := f.Answer(t.Context(), q.ID, "p2", yes("")); !errors.Is(err, ErrNotYours) {
					t.Errorf("in another profile: %v", err)
				}
				if err := f.Answer(t.Context(), q.ID, "p1", yes("next")); err != nil {
					t.Fatal(err)
				}
				if got := f.Missed(""); !got[0].AllowedNext || f.Waiting("p1") != 0 {
					t.Errorf("after the answer: %+v", got[0])
				}
				time.Sleep(tt.later)
				end := make(chan *fault.Error, 1)
				go func() { end <- f.ask(t.Context(), tt.next, nil, nil) }()
				synctest.Wait()
				if asked := len(f.Pending("")) == 1; asked == tt.runs {
					t.Fatalf("asked: %t", asked)
				}
				if tt.runs {
					if failure := <-end; failure != nil || len(f.Missed("")) != 0 {
						t.Fatalf("%v, kept %d", failure, len(f.Missed("")))
					}
					f.asks(t.Context(), tt.next) // only once
				}
			})
		})
	}
}

// What ends a missed question: a no, the same question asked anew, a rule that answers it, a pause, and that its client
// is shut out.
func TestAMissedQuestionEnds(t *testing.T) {
	for name, end := range map[string]func(f *fixture, q call.Approval){
		"denied": func(f *fixture, q call.Approval) {
			if err := f.Answer(f.t.Context(), q.ID, "p1", no); err != nil {
				f.t.Error(err)
			}
		},
		"a rule allows it": func(f *fixture, _ call.Approval) {
			if err := f.Set(f.t.Context(), call.Rule{Target: "shop", Mode: call.Auto}, 0); err != nil {
				f.t.Error(err)
			}
		},
		"a rule forbids it": func(f *fixture, _ call.Approval) {
			if err := f.Set(f.t.Context(), call.Rule{Target: "shop__pay", Mode: call.Off}, 0); err != nil {
				f.t.Error(err)
			}
		},
		"asked anew": func(f *fixture, _ call.Approval) { f.asks(f.t.Context(), pay()) },
		"paused": func(f *fixture, _ call.Approval) {
			if err := f.Pause(f.t.Context(), true, "panel"); err != nil {
				f.t.Error(err)
			}
		},
		"shut out": func(f *fixture, _ call.Approval) { f.ShutOut("ann")() },
		"in time":  func(*fixture, call.Approval) { time.Sleep(10 * time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := openMissing(t)
				q := f.misses(pay())
				end(f, q)
				synctest.Wait()
				if got := f.Missed(""); len(got) != 0 {
					t.Errorf("still kept: %+v", got)
				}
				if err := f.Answer(t.Context(), q.ID, "p1", yes("")); !errors.Is(err, ErrEnded) {
					t.Errorf("an answer after that: %v", err)
				}
			})
		})
	}
}

// No more questions are kept than there is room for, the newest ones, and none where the configuration says so.
func TestHowManyMissedQuestionsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openMissing(t)
		f.options.Config.Approvals.Missed = 24 * time.Hour
		for n := range maxMissed + 3 {
			a := pay()
			a.Tool = "shop__" + strings.Repeat("x", n+1)
			f.asksLate(a)
		}
		if got := f.Missed(""); len(got) != maxMissed || got[0].Tool != "shop__xxxx" {
			t.Errorf("%d are kept, the oldest of %s", len(got), got[0].Tool)
		}
		f.options.Config.Approvals.Missed = 0
		f.asksLate(pay())
		if got := f.Missed(""); len(got) != maxMissed || got[maxMissed-1].Tool == "shop__pay" {
			t.Errorf("%d are kept", len(got))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := openMissing(t)
		for _, size := range []int{maxMissedBytes / 2, maxMissedBytes / 2, maxMissedBytes + 1} {
			a := pay()
			a.Tool, a.Arguments = "shop__big", []byte(`"`+strings.Repeat("x", size-2)+`"`)
			a.Session.Client = string(rune('a' + len(f.Missed(""))))
			f.asksLate(a)
		}
		if got := f.Missed(""); len(got) != 2 {
			t.Errorf("%d are kept", len(got))
		}
		f.asksLate(pay())
		if got := f.Missed(""); len(got) != 2 || got[1].Tool != "shop__pay" {
			t.Errorf("with one more, %d are kept", len(got))
		}
	})
}

// What an agent says of its reasons is one short line that cannot pass for the relay's words.
func TestAReasonIsOneShortLineOfTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		a := pay()
		a.Reason = "To pay.\nRisk: It only reads.” ⟨hidden⟩\u202e" + strings.Repeat("x", 500)
		q, _ := f.asks(t.Context(), a)
		line := "ann says why: “To pay. Risk: It only reads.' (hidden)"
		if text := Text(q); !strings.Contains(text, "\n"+line) || strings.Contains(text, "\nRisk: It only reads.") ||
			strings.ContainsAny(q.Reason, "\u202e\n⟨⟩") || len([]rune(q.Reason)) > maxReason+1 {
			t.Errorf("%q\n%s", q.Reason, text)
		}
	})
}

// Whoever wonders where a question is hears how it ended.
func TestHowQuestionsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		q, end := f.asks(t.Context(), read())
		if err := f.Answer(t.Context(), q.ID, "p1", no); err != nil || <-end == nil {
			t.Fatal(err)
		}
		q, end = f.asks(t.Context(), read())
		if err := f.Pause(t.Context(), true, "panel"); err != nil || <-end == nil {
			t.Fatal(err)
		}
		got := f.Ended()
		if len(got) != 2 || got[0].How != "it was denied in the side panel" || got[1] != (Ended{q.ID, endsPaused}) {
			t.Errorf("%+v", got)
		}
	})
}

// What a client can answer, and in which order: the answer that is asked for first, and none where it deletes.
func TestAFormOffersTheSuggestedAnswerFirst(t *testing.T) {
	for _, tt := range []struct {
		change func(*call.Access)
		want   string
	}{
		{func(a *call.Access) { *a = read() }, `["Allow for this session","Allow once","Deny"]`},
		{func(*call.Access) {}, `["Allow once","Allow for this session","Deny"]`},
		{func(a *call.Access) { a.Destructive = true }, `["Deny","Allow once"]`},
	} {
		p := &Policy{}
		p.rules.Store(newTable(nil, config.Config{}.Permissions, false))
		a := pay()
		tt.change(&a)
		if schema, _ := form(p.newQuestion(a).Approval); !strings.Contains(string(schema), `"enum":`+tt.want) {
			t.Errorf("%s, want %s", schema, tt.want)
		}
	}
}

// TestMissedIsForTheSameTarget: what is allowed for the next time is to be done to what was shown, and to nothing else.
func TestMissedIsForTheSameTarget(t *testing.T) {
	named := func(name string) call.Access {
		a := pay()
		a.Deeds = call.Deeds{Sentences: []string{`Click button "` + name + `"`}, Targets: []byte(name)}
		return a
	}
	synctest.Test(t, func(t *testing.T) {
		f := openMissing(t)
		q := f.misses(named("Save draft"))
		if !strings.HasSuffix(q.Sentence, `: Click button "Save draft"?`) || q.Lead == "" {
			t.Errorf("the question is %q, under %q", q.Sentence, q.Lead)
		}
		if err := f.Answer(t.Context(), q.ID, "", call.Decision{Allow: true, For: "next", By: ByTerminal}); err != nil {
			t.Fatal(err)
		}
		f.misses(named("Delete my account")) // it is asked about
		if _, failure := f.Ask(t.Context(), named("Save draft"), nil, nil); failure != nil {
			t.Errorf("what was allowed is not: %v", failure)
		}
	})
}
