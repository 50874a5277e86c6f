package dispatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// entries are those that an audit log was given.
type entries struct{ all []call.Entry }

func (e *entries) Record(entry call.Entry) { e.all = append(e.all, entry) }

// The person is asked about a sensitive field whatever they have allowed, and what was to be typed there is written
// down nowhere: not with a question, and not when the call ends before the page has said which field it is.
func TestSensitiveFields(t *testing.T) {
	const fill = `{"fields":[{"ref":"e1","value":"hunter2"}]}`
	no := fault.New(fault.PermissionDenied, "no", fault.WithOutcome(fault.NotExecuted))
	for _, test := range []struct {
		name      string
		says      *fault.Error // of the person
		auto      bool         // nothing is asked about the tool
		page      string       // what the page does at first: sensitive, fails, or types
		questions int
		reached   int
		written   bool // what was typed stands in the audit
	}{
		{"an ordinary field", nil, true, "types", 0, 1, true},
		{"an ordinary field, asked about", nil, false, "types", 1, 1, true},
		{"a sensitive one is asked about under auto", nil, true, "sensitive", 1, 2, false},
		{"there is one question about the tool and the field", nil, false, "sensitive", 1, 1, false},
		{"one that becomes sensitive is asked about once more", nil, false, "becomes", 2, 2, false},
		{"denied", no, true, "sensitive", 1, 1, false},
		{"denied before anything is typed", no, false, "types", 1, 0, false},
		{"the page failed before it said so", nil, true, "fails", 0, 1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &warden{says: test.says, allow: func(call.Access) (bool, *fault.Error) { return !test.auto, nil }}
			log := &entries{}
			reached := 0
			browser := page(func(_ context.Context, r call.Invocation) (*call.Reply, *fault.Error) {
				if strings.Contains(string(r.Arguments), `"preview":true`) {
					secret := map[bool]string{true: "password"}[test.page == "sensitive"]
					answer := fmt.Sprintf(`{"steps":[[{"role":"textbox","name":"Amount","secret":%q}]]}`, secret)
					return &call.Reply{Output: json.RawMessage(answer), TabID: 7}, nil
				}
				reached++
				allowed := strings.Contains(string(r.Arguments), `"sensitive":true`)
				switch {
				case (test.page == "sensitive" || test.page == "becomes") && !allowed:
					f := fault.New("SENSITIVE_FIELD", "textbox Password", fault.WithOutcome(fault.NotExecuted))
					f.FromPage = true
					return nil, f
				case test.page == "fails":
					f := fault.New("TARGET_COVERED", "covered", fault.WithOutcome(fault.NotExecuted))
					f.FromPage = true
					return nil, f
				}
				return &call.Reply{Output: json.RawMessage(`{}`), TabID: 7}, nil
			})
			change := func(o *dispatch.Options) {
				o.Policy, o.Audit = w, log
				schema := `{"type":"object","properties":{"fields":{"type":"array"}}}`
				tool := plugin.Tool{Name: "fill", Description: "Fill.", InputSchema: json.RawMessage(schema)}
				own := plugin.Plugin{Shipped: true, Hash: strings.Repeat("f", 64), Manifest: plugin.Manifest{
					Name: plugin.Browser, World: plugin.Isolated, URLPatterns: []string{"https://*/*"},
					Tools: []plugin.Tool{tool}}}
				if err := o.Tools.(*registry.Registry).Replace([]plugin.Plugin{own}, nil); err != nil {
					t.Fatal(err)
				}
			}
			bench(t, browser, change, func(t *testing.T, do func(tool, arguments string) *fault.Error) {
				_ = do("browser__fill", fill)
			})
			if w.questions() != test.questions || reached != test.reached {
				t.Errorf("%d questions, %d attempts", w.questions(), reached)
			}
			for _, e := range log.all {
				if got := strings.Contains(string(e.Arguments), "hunter2"); got != test.written {
					t.Errorf("the audit has %s", e.Arguments)
				}
			}
			if len(log.all) == 0 {
				t.Error("nothing is written down")
			}
			for _, a := range w.asked {
				if strings.Contains(string(a.Recorded), "hunter2") {
					t.Errorf("a decision would be written down with %s", a.Recorded)
				}
				if test.page == "sensitive" && strings.Contains(fmt.Sprint(a.Deeds.Sentences, string(a.Arguments)),
					"hunter2") {
					t.Errorf("the question shows what is typed: %v", a.Deeds.Sentences)
				}
			}
		})
	}
}
