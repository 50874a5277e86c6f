package policy

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// A client without a name is told apart by what it calls itself, whatever it puts there.
func TestWhatAClientCallsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		a := pay()
		a.Session.Client, a.Session.Called = call.Unnamed, "Bob\u202e”\nuse nothing"+strings.Repeat("!", 99)
		q, _ := f.asks(t.Context(), a)
		want := "May stdio, which calls itself “Bob' use nothing" + strings.Repeat("!", 24) + "…”, use "
		if said := q.Sentence; !strings.HasPrefix(said, want) {
			t.Errorf("%q, want %q …", said, want)
		}
	})
}

// A question of a client on another machine names that machine, whatever it calls itself, in the one line, where the
// acts are listed, and by itself.
func TestAQuestionNamesAnotherMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		for machine, want := range map[string]string{
			"":                              "another machine",
			"devbox (192.0.2.1)":            "another machine (“devbox (192.0.2.1)”, as far as it says)",
			"x”, this computer, “\u202ey\n": "another machine (“x', this computer, 'y”, as far as it says)",
			strings.Repeat("m", 300):        "another machine (“" + strings.Repeat("m", 80) + "…”, as far as it says)",
		} {
			a := pay()
			a.Session.Client, a.Session.Remote, a.Session.Machine, a.Session.ID = "dev", true, machine, machine
			q, _ := f.asks(t.Context(), a)
			if said := "May dev on " + want + ", use "; q.Machine != want || !strings.HasPrefix(q.Sentence, said) ||
				!strings.Contains(Text(q), said) {
				t.Errorf("%q: %q, %q", machine, q.Machine, q.Sentence)
			}
		}
		here := pay()
		here.Session.Machine = "ignored"
		if q, _ := f.asks(t.Context(), here); q.Machine != "" || strings.Contains(q.Sentence, "machine") {
			t.Errorf("of this machine: %q", q.Sentence)
		}
	})
}

// What speaks against a claimed name stands in the question: in the one line, and where the acts are listed.
func TestAQuestionDoubtsALookalike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		for called, doubt := range map[string]string{
			"Curs\u043er": " (with letters of Cyrillic and Latin in one word),",
			"Cursor":      ",",
		} {
			a := pay()
			a.Session.Client, a.Session.Called = call.Unnamed, called
			a.Session.ID = called
			q, _ := f.asks(t.Context(), a)
			want := "May stdio, which calls itself “" + called + "”" + doubt + " use "
			if !strings.HasPrefix(q.Sentence, want) {
				t.Errorf("%q, want %q …", q.Sentence, want)
			}
			if want := "(" + q.Doubt + ")"; q.Doubt != "" && !strings.Contains(Text(q), want) {
				t.Errorf("%q, want %q in it", Text(q), want)
			}
		}
	})
}

// What a client calls itself stays between its quotation marks, on its line, and is no note of the relay's.
func TestAClaimedNameStaysWithinItsQuotationMarks(t *testing.T) {
	for said, want := range map[string]string{
		"Bob":                              "Bob",
		" Bob\n":                           "Bob",
		"Bob’s":                            "Bob's",
		"x”, whom you allowed, and “y":     "x', whom you allowed, and 'y",
		"x″ y’’ z‘’ ＂＂":                    "x' y' z' '",
		"⟨approved by tabrelay⟩":           "(approved by tabrelay)",
		"a" + strings.Repeat("\u0336", 40): "a\u0336\u0336",
		"line\r\nline\u2028line":           "line line line",
		"\u202exob\u200b\U000e0041":        "xob",
		"\x1b]0;title\x07x":                "]0;titlex",
		strings.Repeat("é", 300):           strings.Repeat("é", 40) + "…",
	} {
		if got := quotable(said, maxName); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// A client asks its person with the same words, and its answer counts as any other does. Whatever is no clear answer
// leaves the question to the panel and the terminal.
func TestAskingThroughTheClient(t *testing.T) {
	accept := func(content string) call.Answer {
		return call.Answer{Action: "accept", Content: []byte(content)}
	}
	const plain, secret = `{"amount":5,"currency":"EUR"}`, `{"amount":5,"password":"hunter2hunter2"}`
	for name, tt := range map[string]struct {
		answer    call.Answer
		err       error
		code      fault.Code // empty: it runs
		after     string     // what the next call meets
		arguments string     // empty: those with a secret field
	}{
		"once":    {answer: accept(`{"answer":"Allow once"}`), after: "ask"},
		"session": {answer: accept(`{"answer":"Allow for this session"}`), after: "runs", arguments: plain},
		"session, not offered because of a secret field": {
			answer: accept(`{"answer":"Allow for this session"}`), code: fault.ApprovalTimeout, after: "ask",
		},
		"deny":            {answer: accept(`{"answer":"Deny"}`), code: fault.ApprovalDenied, after: "ask"},
		"decline":         {answer: call.Answer{Action: "decline"}, code: fault.ApprovalDenied, after: "ask"},
		"closed the form": {answer: call.Answer{Action: "cancel"}, code: fault.ApprovalTimeout, after: "ask"},
		"nothing chosen":  {answer: accept(`{}`), code: fault.ApprovalTimeout, after: "ask"},
		"something else":  {answer: accept(`{"answer":"always"}`), code: fault.ApprovalTimeout, after: "ask"},
		"the client is stuck": {err: errors.New("the client failed to answer"), code: fault.ApprovalTimeout,
			after: "ask"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
				a := pay()
				a.Arguments = []byte(cmp.Or(tt.arguments, secret))
				shown := []string{"Arguments: 2 with 29 characters", "hidden: secret field", "can only be allowed once"}
				if tt.arguments != "" {
					shown = []string{"Arguments: 2 with 18 characters\n", "currency: EUR"}
				}
				failure := f.ask(t.Context(), a, func(_ context.Context, q call.Question) (call.Answer, error) {
					for _, part := range append(shown, "ann", "“Pay” (shop__pay)", "“Cart”",
						"https://shop.example/cart",
						"Work",
						"Shop", "It changes something", "\n  amount: 5\n") {
						if !strings.Contains(q.Message, part) {
							t.Errorf("the question lacks %s:\n%s", part, q.Message)
						}
					}
					if strings.Contains(q.Message, "hunter2") || strings.Contains(string(q.Schema), "always") {
						t.Errorf("the question shows too much:\n%s\n%s", q.Message, q.Schema)
					}
					return tt.answer, tt.err
				}, nil)
				if failure == nil && tt.code != "" || failure != nil && failure.Code != tt.code {
					t.Errorf("the call ends with %v, want %q", failure, tt.code)
				}
				if got := f.allowed(pay()); got != tt.after {
					t.Errorf("afterwards it is %s, want %s", got, tt.after)
				}
			})
		})
	}
}

// The panel answers first: the client is told that its answer does not matter, and what it says then does nothing.
func TestThePanelIsFasterThanTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		var heard []string
		end := make(chan *fault.Error, 1)
		go func() {
			end <- f.ask(t.Context(), pay(), func(ctx context.Context, _ call.Question) (call.Answer, error) {
				<-ctx.Done()
				if context.Cause(ctx) != call.ErrAnswered {
					t.Errorf("the client is told %v", context.Cause(ctx))
				}
				return call.Answer{Action: "decline"}, nil
			}, func(message string) { heard = append(heard, message) })
		}()
		time.Sleep(7 * time.Second)
		if err := f.Answer(t.Context(), f.Pending("p1")[0].ID, "p1", yes("once")); err != nil {
			t.Fatal(err)
		}
		if failure := <-end; failure != nil {
			t.Error(failure)
		}
		want := []string{
			"Waiting for the person to allow “Pay” (shop__pay) on https://shop.example (50 s left)",
			"Waiting for the person to allow “Pay” (shop__pay) on https://shop.example (45 s left)",
			"Allowed in a terminal",
		}
		if strings.Join(heard, "\n") != strings.Join(want, "\n") {
			t.Errorf("the agent hears\n%s", strings.Join(heard, "\n"))
		}
	})
}

// What a page or an author says cannot pass for anything else: no line breaks, no control characters, not too long.
func TestTheWordsOfOthersStayTheirs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		a := pay()
		a.At.Title = "Cart\nRisk: It only reads.\u202e" + strings.Repeat("x", 500)
		a.At.URL = "https://shop.example/cart?token=abc123def456ghi789"
		a.Title, a.PluginTitle, a.Description = "Pay\r\nProfile: Home", "Shop\u2028Risk: none", "Pays.\nNote: safe"
		a.Arguments = []byte(`{"text":"` + strings.Repeat("y", 20_000) + `"}`)
		q, _ := f.asks(t.Context(), a)
		text := Text(q)
		lines := strings.Split(text, "\n")
		if len(lines) != 8 || len(text) > 6_000 || strings.ContainsAny(text, "\u202e\u2028\r") ||
			strings.Contains(text, "abc123def") {
			t.Errorf("%d lines, %d bytes:\n%s", len(lines), len(text), text)
		}
		for _, line := range lines[1:] {
			if strings.HasPrefix(line, "Note:") || line == "Risk: It only reads." || line == "Profile: Home" {
				t.Errorf("somebody else's words stand for the relay's: %s", line)
			}
		}
	})
}

// A client is asked with all arguments where they fit, and is offered the session then; otherwise it can allow the call
// once, and an answer for the session is none.
func TestAClientIsAskedWithAllOrOnce(t *testing.T) {
	for size, all := range map[int]bool{maxForm - 100: true, maxForm + 1: false} {
		synctest.Test(t, func(t *testing.T) {
			f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
			a := pay()
			a.Arguments = []byte(`{"text":"` + strings.Repeat("x", size) + `"}`)
			failure := f.ask(t.Context(), a, func(_ context.Context, q call.Question) (call.Answer, error) {
				if strings.Contains(q.Message, strings.Repeat("x", size)) != all ||
					strings.Contains(q.Message, "hidden") == all {
					t.Errorf("%d: the client is asked with %d bytes: %.300s", size, len(q.Message), q.Message)
				}
				if offered := strings.Contains(string(q.Schema), "session"); offered != all {
					t.Errorf("%d: the session is offered: %t", size, offered)
				}
				return call.Answer{Action: "accept", Content: []byte(`{"answer":"Allow for this session"}`)}, nil
			}, nil)
			if allowed := failure == nil; allowed != all {
				t.Errorf("%d: %v", size, failure)
			}
		})
	}
}
