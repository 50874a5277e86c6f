package hub_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// bound makes a call one of an agent that may work in some tabs only.
func bound(tabs ...string) func(*call.Invocation) {
	return func(r *call.Invocation) {
		r.Session = call.Session{ID: "a/session:agent-1", Client: "ann",
			Bounds: &call.Bounds{Agent: "reader", Tabs: tabs}}
	}
}

// TestAnErrandStaysInItsTabs: tabs outside are neither chosen nor taken when they are named.
func TestAnErrandStaysInItsTabs(t *testing.T) {
	focused := func(t *wire.Tab) { t.Active, t.Focused = true, true }
	to := func(id int) func(*call.Invocation) { return func(r *call.Invocation) { r.TabID = id } }
	inFront := func(r *call.Invocation) { r.InFront = true }
	tests := map[string]struct {
		change []func(*call.Invocation)
		want   int // 0: refused
	}{
		"chosen by id":             {[]func(*call.Invocation){bound("2")}, 2},
		"chosen by address":        {[]func(*call.Invocation){bound("http://demo.test/wiki/*")}, 3},
		"named, inside":            {[]func(*call.Invocation){bound("2", "3"), to(3)}, 3},
		"named, outside":           {[]func(*call.Invocation){bound("2"), to(1)}, 0},
		"nothing inside":           {[]func(*call.Invocation){bound("http://elsewhere.test/*")}, 0},
		"in front, and outside":    {[]func(*call.Invocation){bound("2"), inFront}, 0},
		"in front, and inside":     {[]func(*call.Invocation){bound("1"), inFront}, 1},
		"bounds that mean nothing": {[]func(*call.Invocation){bound("no pattern")}, 0},
		"no bounds":                {[]func(*call.Invocation){bound()}, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				l.connect(named("A", tab(1, "http://demo.test/", focused), tab(2, "http://demo.test/b"),
					tab(3, "http://demo.test/wiki/x")))
				got := l.invoke(request(test.change...))
				if test.want != 0 {
					got.wantTab(t, "A", test.want)
					return
				}
				got.want(t, fault.PermissionDenied, fault.NotExecuted)
				if name == "named, outside" && !strings.Contains(got.failure.Hint, "these tabs: 2.") {
					t.Errorf("the hint is %s", got.failure.Hint)
				}
			})
		})
	}
}

// TestAnErrandLeavesWithItsPage: a tab that was inside by its address is outside once it shows another page, also for
// the session that worked there.
func TestAnErrandLeavesWithItsPage(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(named("A", tab(1, "http://demo.test/wiki/x")))
		l.invoke(request(bound("http://demo.test/wiki/*"))).wantTab(t, "A", 1)
		b.Put(tab(1, "http://demo.test/bank"))
		synctest.Wait()
		l.invoke(request(bound("http://demo.test/wiki/*"))).want(t, fault.PermissionDenied, fault.NotExecuted)
	})
}

func TestRefuseTab(t *testing.T) {
	s := request(bound("7", "https://a.example/*")).Session
	if failure := hub.RefuseTab(s, 0, "https://a.example/new"); failure != nil {
		t.Error(failure)
	}
	if failure := hub.RefuseTab(s, 0, "https://b.example/"); failure == nil ||
		failure.Code != fault.PermissionDenied {
		t.Errorf("got %v", failure)
	}
}
