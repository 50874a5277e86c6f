package policy

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
)

// accessible are the tools that the tests know: of a plugin one that reads and one that changes, one of the relay
// itself, and one of the demo.
func accessible() []call.Access {
	return []call.Access{
		{Tool: "wiki__read", Plugin: "wiki", ReadOnly: true}, {Tool: "wiki__edit", Plugin: "wiki"},
		{Tool: "bridge_health", Plugin: "relay", BuiltIn: true, ReadOnly: true},
		{Tool: "demo__hello", Plugin: "demo", Shipped: true},
	}
}

func TestRulesThatAllowMoreAreWidenings(t *testing.T) {
	auto, ask, off := call.Auto, call.Ask, call.Off
	for _, test := range []struct {
		name  string
		rules []call.Rule
		set   call.Rule
		lasts time.Duration
		want  bool
	}{
		{name: "reading without a rule, asked about", set: call.Rule{Target: "wiki__read", Mode: ask}},
		{name: "reading without a question", set: call.Rule{Target: "wiki__read", Mode: auto}, want: true},
		{name: "changes, asked about", set: call.Rule{Target: "wiki__edit", Mode: ask}},
		{name: "a plugin, asked about in place of off", rules: []call.Rule{{Target: "wiki", Mode: off}},
			set: call.Rule{Target: "wiki", Mode: ask}, want: true},
		{name: "a plugin, off", set: call.Rule{Target: "wiki", Mode: off}},
		{name: "the default, off", set: call.Rule{Target: Default, Mode: off}},
		{name: "the default, for one client", set: call.Rule{Target: Default, Client: "ann", Mode: auto}, want: true},
		{name: "what is free, asked about", set: call.Rule{Target: "bridge_health", Mode: ask}},
		{name: "the demo, asked about", set: call.Rule{Target: "demo", Mode: ask}},
		{name: "an origin, for a time", set: call.Rule{Target: "https://x.example", Mode: auto}, lasts: time.Hour,
			want: true},
		{name: "an origin, off", set: call.Rule{Target: "https://x.example", Mode: off}},
		{name: "the same again", rules: []call.Rule{{Target: "wiki", Mode: auto}}, set: call.Rule{Target: "wiki",
			Mode: auto}},
		{name: "the same, for a time", rules: []call.Rule{{Target: "wiki", Mode: auto}}, set: call.Rule{Target: "wiki",
			Mode: auto}, lasts: time.Hour},
		{name: "less", rules: []call.Rule{{Target: "wiki", Mode: auto}}, set: call.Rule{Target: "wiki", Mode: ask}},
		{name: "off that ends, in place of off for ever", rules: []call.Rule{{Target: "wiki__read", Mode: off}},
			set: call.Rule{Target: "wiki__read", Mode: off}, lasts: time.Hour, want: true},
		{name: "off for a client, over auto for all", rules: []call.Rule{{Target: "wiki", Mode: auto}},
			set: call.Rule{Target: "wiki", Client: "ann", Mode: off}},
		{name: "ask for a client, over off for all", rules: []call.Rule{{Target: "wiki", Mode: off}},
			set: call.Rule{Target: "wiki__edit", Client: "ann", Mode: ask}, want: true},
		{name: "a rule that a stricter one hides", rules: []call.Rule{{Target: "wiki__edit", Mode: off},
			{Target: "wiki__read", Mode: auto}}, set: call.Rule{Target: "wiki__read", Client: "ann", Mode: ask}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Policy{options: Options{Tools: accessible}}
				p.rules.Store(newTable(test.rules, nil, false))
				if c := p.RuleChange(test.set, test.lasts); (c != nil) != test.want {
					t.Errorf("the change is %v", c)
				}
			})
		})
	}
}

func TestWiderWithout(t *testing.T) {
	p := &Policy{options: Options{Tools: accessible}}
	p.rules.Store(newTable([]call.Rule{{Target: "wiki", Mode: call.Off}, {Target: "wiki__edit", Mode: call.Auto},
		{Target: Default, Mode: call.Auto}}, nil, false))
	for target, want := range map[string]bool{"wiki": true, "wiki__edit": false, Default: false} {
		if c := p.UnsetChange(target, ""); (c != nil) != want || c != nil &&
			c.Differences[0].Before == c.Differences[0].After {
			t.Errorf("without the rule about %s: %v", target, c)
		}
	}
}

// A configuration that waits forbids what it forbids at once, and allows nothing that was not confirmed.
func TestConfigureWaits(t *testing.T) {
	p := &Policy{options: Options{Tools: accessible}}
	rules := func(modes map[string]string) (c map[string]map[string]string) {
		c = map[string]map[string]string{}
		for target, mode := range modes {
			c[target] = map[string]string{everyClient: mode}
		}
		return c
	}
	p.rules.Store(newTable(nil, rules(map[string]string{"wiki__read": "auto"}), false))
	mode := func(tool int) call.Mode { m, _ := p.Mode(accessible()[tool]); return m }
	waits := func(next map[string]map[string]string) bool {
		p.configureRules(next)
		return p.rules.Load().older != nil
	}
	if waits := waits(rules(map[string]string{"wiki__read": "off", "wiki__edit": "auto"})); !waits ||
		mode(0) != call.Off || mode(1) != call.Ask {
		t.Errorf("waits %t: %s %s", waits, mode(0), mode(1))
	}
	if waits := waits(rules(map[string]string{"wiki": "auto", "wiki__read": "off"})); !waits ||
		mode(1) != call.Ask {
		t.Errorf("another one: %t %s", waits, mode(1))
	}
	p.confirmRules()
	if mode(0) != call.Off || mode(1) != call.Auto {
		t.Errorf("confirmed: %s %s", mode(0), mode(1))
	}
	if waits := waits(rules(map[string]string{"wiki__read": "off"})); waits || mode(1) != call.Ask {
		t.Errorf("less: %t %s", waits, mode(1))
	}
	p.held(&config.Config{}, &config.Rights{})
	if mode(0) != call.Off {
		t.Errorf("held: %s", mode(0))
	}
}

// While a part of the configuration waits, what is narrowed besides stays so: taking that back is widening, too.
func TestNarrowingWhileOthersWait(t *testing.T) {
	p := &Policy{options: Options{Tools: accessible}}
	rules := func(modes ...string) (c map[string]map[string]string) {
		c = map[string]map[string]string{}
		for i := 0; i < len(modes); i += 2 {
			c[modes[i]] = map[string]string{everyClient: modes[i+1]}
		}
		return c
	}
	mode := func(tool int) call.Mode { m, _ := p.Mode(accessible()[tool]); return m }
	confirmed := rules(Default, "auto", "wiki__edit", "off")
	p.rules.Store(newTable(nil, confirmed, false))
	for range 2 { // without end: what bounds no more is forgotten
		for _, next := range []map[string]map[string]string{rules(), rules(Default, "auto"), confirmed} {
			p.configureRules(next)
			if waits := p.rules.Load().older != nil; !waits || mode(0) != call.Ask || mode(1) != call.Off {
				t.Errorf("%v: %s %s, waits: %t", next, mode(0), mode(1), waits)
			}
		}
	}
	if n := len(p.rules.Load().bounds()); n > 2 {
		t.Errorf("%d configurations bound one", n)
	}
	wanted := config.Rights{Permissions: rules(Default, "auto")}
	p.configureRules(wanted.Permissions)
	want := []call.Difference{{What: "permissions." + Default, Before: "no rule", After: "auto"},
		{What: "permissions.wiki__edit", Before: "off", After: "no rule"}}
	var inEffect config.Rights
	inEffect.Permissions, inEffect.Unconfirmed = p.rules.Load().configured()
	if c := p.widening("", inEffect, wanted); c == nil || !slices.Equal(c.Differences, want) {
		t.Errorf("what waits is %v, want %v", c, want)
	}
	p.configureRules(rules(Default, "ask", "wiki__edit", "off"))
	if p.rules.Load().older != nil {
		t.Error("less than what was in effect waits")
	}
}

// What one of the rules that are in effect together still forbids is not told as allowed.
func TestLoosenedTogether(t *testing.T) {
	rules := func(target, mode string) map[string]map[string]string {
		return map[string]map[string]string{target: {everyClient: mode}}
	}
	off, none, edits := rules("wiki", "off"), rules("other", "off"), rules("wiki__edit", "auto")
	edits["wiki"] = off["wiki"]
	for name, test := range map[string]struct {
		before, after config.Rights
		want          string
	}{
		"one still forbids it": {config.Rights{Unconfirmed: []map[string]map[string]string{none}},
			config.Rights{Unconfirmed: []map[string]map[string]string{rules("wiki__edit", "auto")}},
			"permissions.other: off → no rule"},
		"each by a rule of its own": {config.Rights{Permissions: off},
			config.Rights{Permissions: rules("other", "ask"), Unconfirmed: []map[string]map[string]string{edits}},
			"permissions.other: no rule → ask; permissions.wiki: off → no rule"},
	} {
		if got := NewChange("", "", loosened(&test.before, &test.after)...).difference(); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// A rule that others mask is confirmed as what it would allow without them, and says that it has no effect yet.
func TestMaskedRules(t *testing.T) {
	off := map[string]map[string]string{Default: {everyClient: "off"}}
	for name, test := range map[string]struct {
		config map[string]map[string]string
		rules  []call.Rule
		set    call.Rule
		want   bool
		masked string
	}{
		"the default, off in config.json": {config: off, set: call.Rule{Target: Default, Mode: call.Auto}, want: true,
			masked: "the default in config.json says so (off)"},
		"the same, asked about": {config: off, set: call.Rule{Target: Default, Mode: call.Ask},
			masked: "the default in config.json says so (off)"},
		"a tool on a site that is off": {rules: []call.Rule{{Target: "https://x.example", Mode: call.Off}},
			set:  call.Rule{Target: "wiki__edit@https://x.example", Mode: call.Auto},
			want: true, masked: "a rule about the site https://x.example says so (off)"},
		"a tool on a site, the tool off": {rules: []call.Rule{{Target: "wiki", Mode: call.Off}},
			set:  call.Rule{Target: "wiki__edit@https://x.example", Mode: call.Auto},
			want: true, masked: "a rule about the plugin wiki says so (off)"},
		"a plugin whose tools are asked about": {rules: []call.Rule{{Target: "wiki__edit", Mode: call.Ask}},
			set: call.Rule{Target: "wiki", Mode: call.Auto}, want: true},
		"what is asked about anyway": {rules: []call.Rule{{Target: "https://x.example", Mode: call.Off}},
			set:    call.Rule{Target: "wiki__edit@https://x.example", Mode: call.Ask},
			masked: "a rule about the site https://x.example says so (off)"},
	} {
		p := &Policy{options: Options{Tools: accessible}}
		p.rules.Store(newTable(test.rules, test.config, false))
		c := p.RuleChange(test.set, 0)
		if (c != nil) != test.want {
			t.Errorf("%s: the change is %v", name, c)
		}
		if c != nil && (test.masked != "") != strings.Contains(c.Title, "no effect yet") {
			t.Errorf("%s: the person reads %q", name, c.Title)
		}
		p.rules.Store(newTable(append(test.rules, test.set), test.config, false))
		for _, r := range p.Permissions().Rules {
			if r.Target == test.set.Target && r.From == fromPerson && r.NoEffect != test.masked {
				t.Errorf("%s: no effect because %q, want %q", name, r.NoEffect, test.masked)
			}
		}
	}
}

// The confirmation names every tool and site for which something changes.
func TestConfirmationNamesWhatChanges(t *testing.T) {
	p := &Policy{options: Options{Tools: accessible}}
	p.rules.Store(newTable([]call.Rule{{Target: "https://bank.example", Mode: call.Off},
		{Target: "wiki__edit", Client: "ann", Mode: call.Ask}}, nil, false))
	for target, want := range map[string]string{
		"wiki": "wiki__edit on every site but https://bank.example for every client but ann: ask → auto\n" +
			"wiki__read, other tools of wiki on every site but https://bank.example: ask → auto",
		"wiki__edit@https://x.example": "wiki__edit on https://x.example: ask → auto",
		"https://x.example": "every other tool on https://x.example: ask → auto\n" +
			"wiki__edit on https://x.example for every client but ann: ask → auto",
		Default: "every other tool on every site but https://bank.example: ask → auto\n" +
			"wiki__edit on every site but https://bank.example for every client but ann: ask → auto",
	} {
		c := p.RuleChange(call.Rule{Target: target, Mode: call.Auto}, 0)
		if c == nil || c.Text != want {
			t.Errorf("%s: the person reads %v", target, c.Lines())
		}
	}
}
