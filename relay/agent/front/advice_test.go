package front

import (
	"strings"
	"testing"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// hiding is Views that hide the tools of a group.
type hiding struct{ group string }

func (h hiding) View(call.Session) registry.View {
	return registry.View{Key: h.group, Shows: func(t *registry.Tool) bool { return t.Group != h.group }}
}

func (hiding) OnChange(func()) (stop func()) { return func() {} }

// Only a client that may use a tool of the group is told of it, and in a text apart from what a page said.
func TestAdviceAfterAFailure(t *testing.T) {
	const words = "Next: ask"
	says := func(e *fault.Error) string {
		if e.FromPage {
			return words
		}
		return ""
	}
	only := func(text string) registry.Toolset {
		set, err := registry.ParseToolset(text)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	thrown := fault.New("AUTH_ERROR", "Sign in")
	thrown.FromPage = true
	for _, c := range []struct {
		name    string
		tools   registry.Toolset
		views   Views
		failure *fault.Error
		want    string
	}{
		{"it has the tool", everything, nil, thrown, words},
		{"it asked for that toolset", only("demo"), nil, thrown, words},
		{"it asked for another toolset", only("browser"), nil, thrown, ""},
		{"the tool is off for it", everything, hiding{"demo"}, thrown, ""},
		{"another one is", everything, hiding{"browser"}, thrown, words},
		{"nothing is advised", everything, nil, fault.New(fault.PermissionDenied, "no"), ""},
	} {
		x := newFixture(t, Options{Views: c.views, Advice: map[string]func(*fault.Error) string{
			"demo": says, "nobody has it": says}})
		p := &peer{tools: c.tools, offered: &offered{}}
		if got := x.front.advice(p, c.failure); got != c.want {
			t.Errorf("%s: told %q", c.name, got)
		}
		body := string(x.front.renderFailure(&exchange{id: []byte("1")}, c.failure, nil, callable{}, c.want).body)
		told := strings.Contains(body, `},{"type":"text","text":"Next: ask"}],"isError":true`)
		if told != (c.want != "") {
			t.Errorf("%s: %s", c.name, body)
		}
	}
}
