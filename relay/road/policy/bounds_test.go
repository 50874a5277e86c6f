package policy

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// withBounds is the session of an agent that works for ann.
func withBounds(d call.Bounds) call.Session {
	d.Agent, d.Asker = "reader", "session"
	return call.Session{ID: "session/session:agent-01234567", Client: "ann", Via: call.ViaStdio, Bounds: &d}
}

// TestAnErrandCovers: what an agent that acts for a client may call, of all tools. View and Refuse say the same.
func TestAnErrandCovers(t *testing.T) {
	const all = "bridge_health browser__list_tabs browser__open_tab mail__read mail__write relay__dead_letters " +
		"relay__doctor wiki__read wiki__write"
	for name, test := range map[string]struct {
		errand call.Bounds
		scope  call.Scope
		want   string
	}{
		"no bounds": {want: all},
		"read-only": {errand: call.Bounds{ReadOnly: true},
			want: "bridge_health browser__list_tabs mail__read relay__doctor wiki__read"},
		"a plugin and a tool": {errand: call.Bounds{Tools: []string{"wiki", "mail__read"}},
			want: "bridge_health mail__read relay__doctor wiki__read wiki__write"},
		"tools for clients by name": {errand: call.Bounds{Tools: []string{"agents", "sessions_create"}},
			want: "bridge_health relay__doctor"},
		"never more than its client": {errand: call.Bounds{Tools: []string{"wiki", "mail"}},
			scope: call.Scope{Plugins: "mail", ReadOnly: true}, want: "bridge_health mail__read relay__doctor"},
	} {
		t.Run(name, func(t *testing.T) {
			f, s := open(t, call.Rule{Target: "default", Mode: call.Auto}), withBounds(test.errand)
			s.Scope = test.scope
			view := f.View(s)
			var may []string
			for _, tool := range tools(t).Tools {
				failure := f.Refuse(s, tool)
				if failure == nil {
					may = append(may, tool.Name)
				} else if failure.Code != fault.PermissionDenied || failure.Hint == "" {
					t.Errorf("%s: %+v", tool.Name, failure)
				}
				if view.Shows(tool) != (failure == nil) {
					t.Errorf("%s is shown: %t, refused: %v", tool.Name, view.Shows(tool), failure)
				}
			}
			slices.Sort(may)
			if got := strings.Join(may, " "); got != test.want {
				t.Errorf("it may call\n%s\nwant\n%s", got, test.want)
			}
		})
	}
	f, own := open(t), withBounds(call.Bounds{})
	own.Bounds = nil
	if f.View(own).Key == f.View(withBounds(call.Bounds{})).Key {
		t.Error("the list of a client is taken for that of its agent")
	}
}

// TestAnAgentOfThePersonIsNoPerson: whoever delegates on the command line lends the agent nothing of their own.
func TestAnAgentOfThePersonIsNoPerson(t *testing.T) {
	for _, via := range []string{call.ViaSocket, call.ViaPanel} {
		s := call.Session{Client: "cli", Via: via}
		if !IsPerson(s) {
			t.Errorf("%s: no person", via)
		}
		if s.Bounds = new(call.Bounds); IsPerson(s) {
			t.Errorf("%s: the agent is taken for the person", via)
		}
	}
}

// TestAnAgentAsksForItself: what was allowed to the session that delegated counts for nothing, the question names both,
// and nothing is allowed to the client for ever.
func TestAnAgentAsksForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		first, end := f.asks(t.Context(), pay())
		if err := f.Answer(t.Context(), first.ID, "p1", yes("session")); err != nil || <-end != nil {
			t.Fatal(err)
		}
		if got := f.allowed(pay()); got != "runs" {
			t.Fatalf("the client's own call: %s", got)
		}
		mine := pay()
		mine.Session = withBounds(call.Bounds{})
		q, end := f.asks(t.Context(), mine)
		if q.Agent != "reader" || q.Client != "ann" || slices.Contains(q.Choices, "always") ||
			!strings.HasPrefix(q.Sentence, "May the agent reader for ann use ") {
			t.Errorf("asked %+v", q)
		}
		if err := f.Answer(t.Context(), q.ID, "p1", yes("always")); !errors.Is(err, ErrAnswer) {
			t.Errorf("for ever: %v", err)
		}
		if err := f.Answer(t.Context(), q.ID, "p1", no); err != nil {
			t.Error(err)
		}
		if failure := <-end; failure == nil || failure.Code != fault.ApprovalDenied {
			t.Errorf("denied: %v", failure)
		}
	})
}
