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
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

const pay = "https://pay.example"

// closedSite is with what the extension refuses to touch a frame.
func closedSite(origin, state, outcome string, more string) *fault.Error {
	data := fmt.Sprintf(`{"origin":%q,"state":%q%s}`, origin, state, more)
	f, _ := fault.FromPage(json.RawMessage(fmt.Sprintf(
		`{"code":"SITE_CLOSED","message":"closed","category":"auth","outcome":%q,"data":%q}`, outcome, data)))
	f.FromPage = true
	return f
}

// A call that meets a frame of another site is about that site, too: what is off there stays so, and what is to be
// asked is asked, once for each site.
func TestFramesOfOtherSites(t *testing.T) {
	no := fault.New(fault.PermissionDenied, "browser__click is off: a rule about the site says so",
		fault.WithOutcome(fault.NotExecuted))
	denied := fault.New(fault.ApprovalDenied, "The person did not allow it", fault.WithOutcome(fault.NotExecuted))
	for _, test := range []struct {
		name      string
		off       bool         // the frame's site
		says      *fault.Error // of the person
		first     *fault.Error // of the page, while the site is not open
		stays     bool         // the page refuses again
		questions int
		reached   int
		code      fault.Code
	}{
		{"off", true, nil, closedSite(pay, "off", "not_executed", ""), false, 0, 1, fault.PermissionDenied},
		{"asked about and allowed", false, nil, closedSite(pay, "ask", "not_executed", ""), false, 1, 2, ""},
		{"asked about and denied", false, denied, closedSite(pay, "ask", "not_executed", ""), false, 1, 1,
			fault.ApprovalDenied},
		{"left out by the configuration", false, nil, closedSite(pay, "off", "not_executed", `,"excluded":true`), false,
			0, 1, fault.PermissionDenied},
		{"still closed", false, nil, closedSite(pay, "ask", "not_executed", ""), true, 1, 2, "SITE_CLOSED"},
		{"after something was done", false, nil, closedSite(pay, "ask", "unknown", ""), false, 0, 1, "SITE_CLOSED"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &warden{says: test.says, allow: func(a call.Access) (bool, *fault.Error) {
				if a.At != nil && a.At.Origin == pay && test.off {
					refused := *no
					return false, &refused
				}
				return a.At != nil && a.At.Origin == pay, nil
			}}
			log := &entries{}
			var sites []call.SiteState
			browser := page(func(_ context.Context, r call.Invocation) (*call.Reply, *fault.Error) {
				state := r.Sites.Of(pay)
				if strings.Contains(string(r.Arguments), `"preview":true`) {
					answer := `{"document":1,"steps":[[{"role":"button","name":"Pay"}]]}`
					return &call.Reply{Output: json.RawMessage(answer), TabID: 7}, nil
				}
				sites = append(sites, state)
				if state != call.SiteOpen || test.stays {
					f := *test.first
					return nil, &f
				}
				return &call.Reply{Output: json.RawMessage(`{}`), TabID: 7, Origin: pay}, nil
			})
			change := func(o *dispatch.Options) {
				o.Policy, o.Audit = w, log
				if err := o.Tools.(*registry.Registry).Replace([]plugin.Plugin{clickOnly()}, nil); err != nil {
					t.Fatal(err)
				}
			}
			var failure *fault.Error
			bench(t, browser, change, func(_ *testing.T, do func(tool, arguments string) *fault.Error) {
				failure = do("browser__click", `{"ref":"f1e2"}`)
			})
			if code := codeOf(failure); code != test.code || len(w.asked) != test.questions ||
				len(sites) != test.reached {
				t.Fatalf("%v, after %d questions and %d times in the page", failure, len(w.asked), len(sites))
			}
			for _, a := range w.asked {
				if a.At.Origin != pay || a.At.Within == pay {
					t.Errorf("the person was asked about %q in %q", a.At.Origin, a.At.Within)
				}
			}
			if test.code == fault.PermissionDenied && !strings.Contains(failure.Message, pay) {
				t.Errorf("the refusal does not name the frame's site: %s", failure.Message)
			}
			if row := log.all[len(log.all)-1]; row.Origin != pay && test.code != "SITE_CLOSED" {
				t.Errorf("the row of the audit log is about %q: %+v", row.Origin, row)
			}
			if slices.Contains(sites[:1], call.SiteOpen) {
				t.Error("the first attempt was told that the frame's site is open")
			}
		})
	}
}

// clickOnly is the browser's own plugin with one tool, which acts.
func clickOnly() plugin.Plugin {
	return plugin.Plugin{Shipped: true, Hash: strings.Repeat("f", 64), Manifest: plugin.Manifest{
		Name: plugin.Browser, World: plugin.Isolated, URLPatterns: []string{"https://*/*"},
		Tools: []plugin.Tool{{Name: "click", Description: "Click.", InputSchema: schemaOf("ref")}}}}
}
