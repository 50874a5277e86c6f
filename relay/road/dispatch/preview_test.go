package dispatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/faulttest"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// clicking is a page with one button, whose name it may change. It keeps what it was sent.
type clicking struct {
	name  string
	sends []call.Invocation
}

func (c *clicking) send(_ context.Context, r call.Invocation) (*call.Reply, *fault.Error) {
	c.sends = append(c.sends, r)
	var told struct {
		About struct {
			Preview bool
			Agreed  json.RawMessage
		} `json:"_"`
	}
	if err := json.Unmarshal(r.Arguments, &told); err != nil {
		return nil, fault.New(fault.InternalError, err.Error())
	}
	answer := `{"document":1,"origin":"https://pay.example","steps":[[{"role":"button","name":"` + c.name + `"}]]}`
	switch {
	case told.About.Preview && c.name == "":
		return nil, thrown("REF_GONE final e4 is no longer in the page")
	case told.About.Preview:
		return &call.Reply{Output: json.RawMessage(answer), TabID: 7}, nil
	case told.About.Agreed != nil && string(told.About.Agreed) != answer:
		f, _ := fault.FromPage(json.RawMessage(
			`{"code":"TARGET_CHANGED","category":"not_found","message":"other","outcome":"not_executed"}`))
		return nil, f
	}
	return &call.Reply{Output: json.RawMessage(`{"on":"button"}`), TabID: 7}, nil
}

// What became of each step of an act that nobody was asked about stands in the audit log, also when a step failed.
func TestAuditOfFailedSteps(t *testing.T) {
	log := &entries{}
	failing := func(context.Context, call.Invocation) (*call.Reply, *fault.Error) {
		const done = `{"done":[{"outcome":"executed","on":"button \"Add\" [e4]"}]}`
		f, _ := fault.FromPage(fmt.Appendf(nil, `{"code":"REF_GONE","category":"not_found","outcome":"executed",`+
			`"message":"Step 2 of 3 (fill) failed, after the steps before it were done: e5 is gone","data":%q}`, done))
		return nil, f
	}
	change := func(o *dispatch.Options) {
		o.Audit = log
		withClick(o, t)
	}
	bench(t, failing, change, func(t *testing.T, do func(tool, arguments string) *fault.Error) {
		do("browser__act", `{"steps":[{"tool":"click","ref":"e4"},{"tool":"fill","ref":"e5"},{"tool":"press"}]}`)
	})
	want := `1. click: done to what the page calls button "Add" [e4]; 2. fill: failed; 3. press: not tried. ` +
		`Step 2 of 3 `
	if said := log.all[len(log.all)-1].Detail; !strings.HasPrefix(said, want) {
		t.Errorf("the audit says %q, want %q …", said, want)
	}
}

// withClick makes the browser's tools those of the tests.
func withClick(o *dispatch.Options, t *testing.T) {
	tools := make([]plugin.Tool, 0, 3)
	for _, name := range []string{"click", "close_tab", "act", "snapshot"} {
		tools = append(tools, plugin.Tool{Name: name, Description: "Does it.", InputSchema: json.RawMessage(
			`{"type":"object","properties":{"ref":{"type":"string"},"steps":{"type":"array"}},` +
				`"additionalProperties":false}`)})
	}
	own := plugin.Plugin{Shipped: true, Hash: strings.Repeat("f", 64), Manifest: plugin.Manifest{
		Name: plugin.Browser, World: plugin.Isolated, URLPatterns: []string{"https://*/*"}, Tools: tools}}
	if err := o.Tools.(*registry.Registry).Replace([]plugin.Plugin{own}, nil); err != nil {
		t.Fatal(err)
	}
}

// TestAnActIsSentAsItWasPreviewed: before a person is asked about an act its page says what it would be done to,
// without anything that a write takes, and the act is sent with exactly what they were shown.
func TestAnActIsSentAsItWasPreviewed(t *testing.T) {
	for _, test := range []struct {
		name, tool string
		page       clicking
		auto       bool
		then       string // what the button is called when the person has answered
		asked      []string
		sent       int
		code       fault.Code
	}{
		{"asked", "click", clicking{name: "Pay"}, false, "", []string{`Click button "Pay"`}, 2, ""},
		{"not asked", "click", clicking{name: "Pay"}, true, "", nil, 1, ""},
		{"cannot be done", "click", clicking{}, false, "", nil, 2, "REF_GONE"}, // the second time without frames
		{"changed meanwhile", "click", clicking{name: "Save"}, false, "Delete", []string{`Click button "Save"`}, 2,
			fault.TargetChanged},
		{"of the tab", "close_tab", clicking{}, false, "", []string{"Close the tab"}, 1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, log := &test.page, &entries{}
			w := &warden{allow: func(call.Access) (bool, *fault.Error) {
				return !test.auto, nil
			}}
			w.then = func() {
				if test.then != "" {
					p.name = test.then
				}
			}
			change := func(o *dispatch.Options) {
				o.Policy, o.Audit = w, log
				withClick(o, t)
			}
			bench(t, p.send, change, func(t *testing.T, do func(tool, arguments string) *fault.Error) {
				f := do("browser__"+test.tool, `{}`)
				if code := codeOf(f); code != test.code {
					t.Errorf("it ended with %q, want %q", code, test.code)
				}
				if test.code == fault.TargetChanged {
					faulttest.Provoked(t, "target-changed", f)
				}
			})
			var asked []string
			for _, a := range w.asked {
				asked = append(asked, a.Deeds.Sentences...)
			}
			if !slices.Equal(asked, test.asked) || len(p.sends) != test.sent {
				t.Errorf("asked %q, and sent %d times", asked, len(p.sends))
			}
			for i, sent := range p.sends {
				isPreview := strings.Contains(string(sent.Arguments), `"preview":true`)
				previews := test.tool == "click" && !test.auto && (i == 0 || test.code == "REF_GONE")
				if sent.Write == isPreview || isPreview != previews {
					t.Errorf("sending %d: write %t with %s", i, sent.Write, sent.Arguments)
				}
				if isPreview && i == 0 && sent.Sites.Rest == call.SiteAsk {
					t.Error("what is yet to be asked about is closed to the question")
				}
			}
			if test.asked != nil && !strings.Contains(log.all[len(log.all)-1].Detail, test.asked[0]) {
				t.Errorf("the audit says %q", log.all[len(log.all)-1].Detail)
			}
		})
	}
}

// TestNothingIsToldBeforeTheQuestion: why an act cannot be done is said in words of the page, and an agent gets none of
// a page or a frame that it may not read without a question.
func TestNothingIsToldBeforeTheQuestion(t *testing.T) {
	const forum, pay = "https://forum.example", "https://pay.example"
	sites := func(rest call.SiteState, origins ...string) call.Sites {
		all := call.Sites{Rest: rest, Origins: map[string]call.SiteState{}}
		for _, origin := range origins {
			all.Origins[origin] = call.SiteOpen
		}
		return all
	}
	const known, unknown = `{"ref":"e4"}`, `{"ref":"button \"Py\""}`
	for _, test := range []struct {
		name, arguments string
		thrown          string // by the page
		frames          string // thrown where frames are closed; empty: it can be done
		looks, acts     call.Sites
		sent            int
		code            fault.Code
		told            bool
	}{
		{"nothing is allowed", unknown, "REF_GONE", "REF_GONE", sites(call.SiteAsk), sites(call.SiteAsk), 1,
			fault.ValidationError, false},
		{"a value is wrong", unknown, "VALIDATION_ERROR", "VALIDATION_ERROR", sites(call.SiteAsk), sites(call.SiteAsk),
			1, fault.ValidationError, false},
		{"looks are off", unknown, "REF_GONE", "REF_GONE", sites(call.SiteOff), sites(call.SiteAsk), 1,
			fault.ValidationError, false},
		{"looks are allowed elsewhere", unknown, "REF_GONE", "REF_GONE", sites(call.SiteAsk, pay), sites(call.SiteAsk),
			1, fault.ValidationError, false},
		{"of what it was told", known, "REF_GONE", "REF_GONE", sites(call.SiteAsk), sites(call.SiteAsk), 1,
			"REF_GONE", false},
		{"a value for what it was told", known, "OPTION_X", "OPTION_X", sites(call.SiteAsk), sites(call.SiteAsk), 1,
			fault.ValidationError, false},
		{"looks are allowed", unknown, "REF_GONE", "REF_GONE", sites(call.SiteOpen), sites(call.SiteAsk), 1,
			"REF_GONE", true},
		{"looks at the page are allowed", unknown, "REF_GONE", "REF_GONE", sites(call.SiteAsk, forum),
			sites(call.SiteAsk), 2, "REF_GONE", true},
		{"by a frame", unknown, "REF_GONE", "", sites(call.SiteAsk, forum), sites(call.SiteAsk), 2,
			fault.ValidationError, false},
		{"in a frame", unknown, "REF_GONE", "SITE_CLOSED", sites(call.SiteAsk, forum), sites(call.SiteAsk), 2,
			fault.ValidationError, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			sent := 0
			page := func(_ context.Context, r call.Invocation) (*call.Reply, *fault.Error) {
				code := test.thrown
				if sent++; sent > 1 {
					code = test.frames
					if r.Sites.Of(forum) != call.SiteOpen || r.Sites.Of(pay) != call.SiteAsk {
						t.Errorf("the second preview is for %+v", r.Sites)
					}
				}
				if code == "" {
					return &call.Reply{Output: told(pay), TabID: 7}, nil
				}
				f, _ := fault.FromPage(fmt.Appendf(nil, `{"code":%q,"category":"validation","outcome":"not_executed",`+
					`"message":"not there; there is Account 1234, %d","hint":"Account 1234","data":"{\"of\":1234}"}`,
					code, sent))
				return nil, f
			}
			w := &warden{sites: func(a call.Access) call.Sites {
				if a.Tool == "browser__snapshot" {
					return test.looks
				}
				return test.acts
			}}
			browser := &roaming{page: page, places: []call.Target{spot(forum, 7)}}
			change := func(o *dispatch.Options) {
				o.Policy, o.Browser = w, browser
				withClick(o, t)
			}
			bench(t, nil, change, func(t *testing.T, do func(tool, arguments string) *fault.Error) {
				f := do("browser__click", test.arguments)
				if codeOf(f) != test.code || f.Outcome != fault.NotExecuted || sent != test.sent || len(w.asked) > 0 {
					t.Fatalf("%v, %v after %d previews, asked %d times", f, f.Outcome, sent, len(w.asked))
				}
				said := fmt.Sprint(f.Message, f.Hint, f.Suggestion, string(f.Data), f.Warnings, f.Before)
				if told := strings.Contains(said, "1234"); told != test.told {
					t.Errorf("the agent was told %s", said)
				}
				if !test.told && (f.FromPage || !strings.Contains(f.Hint, "browser__snapshot")) {
					t.Errorf("got %+v", f)
				}
			})
		})
	}
}

// told is what a page answers to a preview, of one button of an origin.
func told(origin string) json.RawMessage {
	return json.RawMessage(`{"document":1,"origin":"` + origin + `","steps":[[{"role":"button","name":"Pay"}]]}`)
}

func codeOf(f *fault.Error) fault.Code {
	if f == nil {
		return ""
	}
	return f.Code
}

// TestDeadLettersSayWhatWasToBeDone: who finds a call whose end nobody saw reads what it was to do, and to what.
func TestDeadLettersSayWhatWasToBeDone(t *testing.T) {
	p, graves := &clicking{name: "Pay"}, &morgue{}
	lost := func(ctx context.Context, r call.Invocation) (*call.Reply, *fault.Error) {
		if !strings.Contains(string(r.Arguments), `"preview":true`) {
			return nil, fault.New(fault.TimeoutCode, "nobody saw its end", fault.WithOutcome(fault.Unknown))
		}
		return p.send(ctx, r)
	}
	change := func(o *dispatch.Options) {
		o.Policy, o.DeadLetters = &warden{}, graves
		withClick(o, t)
	}
	bench(t, lost, change, func(t *testing.T, do func(tool, arguments string) *fault.Error) {
		_ = do("browser__click", `{"ref":"e4"}`)
	})
	if len(graves.letters) != 1 || graves.letters[0].Deeds != `Click button "Pay"` {
		t.Errorf("%+v", graves.letters)
	}
}

// TestTypedTextIsNotRepeated: what an act was to type is not kept, so its dead letter cannot be sent again; one without
// such text can, as it was.
func TestTypedTextIsNotRepeated(t *testing.T) {
	for _, test := range []struct {
		arguments, kept string
		redacted        bool
	}{
		{`{"steps": [{"click":"<e4>"}]}`, `{"steps": [{"click":"<e4>"}]}`, false},
		{`{"steps": [{"fill":"e4","text":"tea"}]}`, `{"steps":[{"fill":"e4","text":"[redacted]"}]}`, true},
	} {
		graves := &morgue{}
		lost := func(context.Context, call.Invocation) (*call.Reply, *fault.Error) {
			return nil, fault.New(fault.TimeoutCode, "nobody saw its end", fault.WithOutcome(fault.Unknown))
		}
		change := func(o *dispatch.Options) {
			o.DeadLetters = graves
			withClick(o, t)
		}
		bench(t, lost, change, func(t *testing.T, do func(tool, arguments string) *fault.Error) {
			_ = do("browser__act", test.arguments)
		})
		if len(graves.letters) != 1 || graves.letters[0].Redacted != test.redacted ||
			string(graves.letters[0].Arguments) != test.kept {
			t.Errorf("%s: %+v", test.arguments, graves.letters)
		}
	}
}

// TestActsAnswerInLines: what an act came to is said in lines, and given as a value to who asks for that. Of one with
// more lines than an answer may have, the others are kept.
func TestActsAnswerInLines(t *testing.T) {
	text := strings.Repeat("x", 80)
	value := `{"outcome":"executed","on":"button \"Add\" [e4]",` +
		`"changes":"+ \"One\"\n+ \"` + text + `\"\n+ \"Three\""}`
	lines := "clicked button \"Add\" [e4]\n+ \"One\"\n+ \"" + text + "\"\n+ \"Three\""
	for _, test := range []struct {
		name       string
		structured bool
		most       int
		want       string
	}{
		{"in lines", false, 0, lines},
		{"and as a value", true, 0, lines},
		{"cut behind a line", true, 127, "clicked button \"Add\" [e4]\n+ \"One\"\n… 128 bytes in all: " +
			`relay__read_result {"id":"ID"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			kept := &cellar{}
			send := func(context.Context, call.Invocation) (*call.Reply, *fault.Error) {
				return &call.Reply{Output: json.RawMessage(value), TabID: 7}, nil
			}
			o := options(t, nil, page(send))
			withClick(&o, t)
			o.Results = kept
			d := dispatch.New(o)
			r, failure := d.Do(t.Context(), call.Call{ID: "0123456789abcdef0123456789abcdef", Tool: "browser__click",
				Session: call.Session{ID: "session", Client: "ann"}, Arguments: json.RawMessage(`{"ref":"e4"}`),
				Structured: test.structured, MaxBytes: test.most})
			if failure != nil {
				t.Fatal(failure)
			}
			var item struct{ Text string }
			if err := json.Unmarshal(r.Content[0], &item); err != nil || len(r.Content) != 1 {
				t.Fatal(err, r.Content)
			}
			want := strings.Replace(test.want, "ID", r.Meta.ResultID, 1)
			if item.Text != want || string(r.Output) != value {
				t.Errorf("it answers %q with %s, want %q", item.Text, r.Output, want)
			}
			if r.Structured != (test.structured && test.most == 0) {
				t.Errorf("the value is given: %t", r.Structured)
			}
			if cut := test.most > 0; cut != (len(kept.kept) == 1) || cut && string(kept.kept[0].Data) != lines {
				t.Errorf("kept: %v", kept.kept)
			}
		})
	}
}
