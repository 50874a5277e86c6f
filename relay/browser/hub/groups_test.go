package hub_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
)

// shown is what a browser was told of groups, as titles with tabs.
type shown struct {
	mu     sync.Mutex
	last   string
	colors map[string]string
	times  int
}

func (s *shown) watch(o *hubtest.Options) {
	o.Command = func(c *wire.Command) *wire.Reply {
		if c.Name != "tabs.group" {
			return &wire.Reply{OK: true}
		}
		var params struct {
			Groups []struct {
				Title, Color string
				Tabs         []int
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if err := json.Unmarshal(c.Params, &params); err != nil {
			s.last = err.Error()
			return &wire.Reply{OK: true}
		}
		s.times++
		s.last, s.colors = "", map[string]string{}
		for _, g := range params.Groups {
			tabs, _ := json.Marshal(g.Tabs) // numbers always encode
			s.last += g.Title + string(tabs) + " "
			s.colors[g.Title] = g.Color
		}
		return &wire.Reply{OK: true}
	}
}

func (s *shown) want(t *testing.T, groups string) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != groups {
		t.Errorf("the browser shows %q instead of %q", s.last, groups)
	}
}

func TestTabGroupsShowOwners(t *testing.T) {
	inLabWith(t, func(c *hub.Config) { c.Ownership, c.Groups = hub.OwnWrites, true }, func(t *testing.T, l *lab) {
		var home, work shown
		b := l.connect(named("Home", demoTab(1), demoTab(2), demoTab(3)), home.watch)
		other := l.connect(named("Work", demoTab(9)), work.watch)
		home.want(t, "")
		l.invoke(request(of("codex", "a"), in(1), write)).wantTab(t, "Home", 1)
		l.invoke(request(of("codex", "a"), in(3), write)).wantTab(t, "Home", 3)
		l.invoke(request(of("codex", "b"), in(2), write)).wantTab(t, "Home", 2)
		l.invoke(request(of("claude-code", "c"), in(9), write)).wantTab(t, "Work", 9)
		home.want(t, "codex[1,3] codex 2[2] ")
		work.want(t, "claude-code[9] ")
		if home.colors["codex"] != home.colors["codex 2"] || home.colors["codex"] == work.colors["claude-code"] {
			t.Errorf("the colours are %v and %v", home.colors, work.colors)
		}
		l.hub.Release(b.ProfileID(), 3)
		home.want(t, "codex[1] codex 2[2] ")
		l.hub.SessionLeft("c")
		work.want(t, "")

		b.Close()
		synctest.Wait()
		var again shown
		l.connect(named("Home", demoTab(1), demoTab(2)), again.watch,
			func(o *hubtest.Options) { o.ProfileID = b.ProfileID() })
		again.want(t, "codex[1] codex 2[2] ") // it is told when it comes back
		l.hub.Give(call.Session{Client: strings.Repeat("x", 60) + "\n", ID: "d", Via: "http"}, other.ProfileID(), 9)
		work.want(t, strings.Repeat("x", 23)+"…[9] ")
		l.hub.Close(t.Context())
		again.want(t, "") // nobody else would end them
		work.want(t, "")
	})
}

// TestGroupsAreForThoseWhoKnowThem: an extension that speaks less is not sent a command it would take for damage.
func TestGroupsAreForThoseWhoKnowThem(t *testing.T) {
	for name, set := range map[string]func(c *hub.Config, o *hubtest.Options){
		"off":     func(c *hub.Config, _ *hubtest.Options) { c.Groups = false },
		"too old": func(_ *hub.Config, o *hubtest.Options) { o.Protocol = wire.Range{Min: 1, Max: 1} },
	} {
		t.Run(name, func(t *testing.T) {
			var s shown
			inLabWith(t, func(c *hub.Config) {
				c.Ownership, c.Groups = hub.OwnWrites,
					true
				set(c, &hubtest.Options{})
			}, func(t *testing.T, l *lab) {
				l.connect(s.watch, func(o *hubtest.Options) { set(&hub.Config{}, o) })
				l.invoke(request(of("codex", "a"), write)).wantOutput(t, `{"x":1}`)
				synctest.Wait()
				if diff := cmp.Diff(0, s.times); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}
