package policy

import (
	"strings"
	"testing"
	"time"

	"tabrelay/relay/road/call"
)

// A guest is asked about whatever a rule for everybody would let run; a rule for this very client counts, and so does
// one that forbids. The relay's own tools that show what is wrong run as for everybody.
func TestGuestsAreAskedAboutEverything(t *testing.T) {
	rules := []call.Rule{{Target: Default, Mode: call.Auto}, {Target: "mail", Mode: call.Off},
		{Target: "wiki", Mode: call.Auto, Client: "ann/claude@team"}}
	table := newTable(rules, nil, false)
	for _, c := range []struct {
		plugin, client string
		builtIn        bool
		mode           call.Mode
	}{
		{"shop", "ann/claude@team", false, call.Ask}, {"wiki", "ann/claude@team", false, call.Auto},
		{"wiki", "bob/claude@team", false, call.Ask}, {"mail", "ann/claude@team", false, call.Off},
		{RelayPlugin, "ann/claude@team", true, call.Auto}, {demoPlugin, "ann/claude@team", false, call.Ask},
	} {
		a := call.Access{Session: call.Session{Client: c.client, Guest: true}, Tool: c.plugin + "__read",
			Plugin: c.plugin, ReadOnly: true, BuiltIn: c.builtIn, Shipped: c.plugin == demoPlugin}
		v := table.resolve(&a, time.Now().UnixNano())
		if v.mode != c.mode || v.why() == "" {
			t.Errorf("%s of %s: %s, because %s", c.plugin, c.client, v.mode, v.why())
		}
		a.Session.Guest = false
		if v := table.resolve(&a, time.Now().UnixNano()); c.plugin != "mail" && v.mode != call.Auto {
			t.Errorf("%s of a client of this machine: %s", c.plugin, v.mode)
		}
	}
}

// A rule for a guest lets it do what rules for everybody do not, so it is widening whatever these are, and waits.
func TestRulesForGuestsAreWidenings(t *testing.T) {
	const guest = "bob/claude@team"
	p := &Policy{options: Options{Tools: accessible}}
	p.rules.Store(newTable([]call.Rule{{Target: Default, Mode: call.Auto}}, nil, false))
	c := p.RuleChange(call.Rule{Target: "wiki", Client: guest, Mode: call.Auto}, 0)
	if c == nil || c.Title != "A rule lets agents do more" ||
		c.Text != "every tool of wiki for "+guest+": ask → auto" {
		t.Errorf("a guest: %+v", c)
	}
	c = p.RuleChange(call.Rule{Target: "wiki", Client: "ann", Mode: call.Auto}, 0)
	if c == nil || !strings.HasPrefix(c.Title, "A rule has no effect yet") {
		t.Errorf("another client: %+v", c)
	}
	p.configureRules(map[string]map[string]string{"wiki": {guest: "auto"}})
	a := call.Access{Session: call.Session{Client: guest, Guest: true}, Tool: "wiki__edit", Plugin: "wiki"}
	if mode, _ := p.Mode(a); mode != call.Ask {
		t.Errorf("before a person has confirmed it: %s", mode)
	}
	p.confirmRules()
	if mode, _ := p.Mode(a); mode != call.Auto {
		t.Errorf("confirmed: %s", mode)
	}
}
