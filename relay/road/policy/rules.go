package policy

import (
	"cmp"
	"slices"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
)

// Default is the target of a rule that names no tool, plugin or origin.
const Default = config.DefaultTarget

// everyClient stands for all clients in the configuration.
const everyClient = "*"

// key is what a rule is about. An empty client stands for all.
type key struct{ target, client string }

// cell is what the person and the configuration say about one key; empty modes say nothing.
type cell struct {
	person, config call.Mode
	until          int64 // of the person's, in nanoseconds since 1970; 0: for ever
}

// at is what a cell says at a moment: off wins, then the person's rule, then the configuration's.
func (c cell) at(now int64) (mode call.Mode, from source) {
	person := c.person
	if c.until != 0 && now >= c.until {
		person = ""
	}
	switch {
	case person == call.Off:
		return person, fromPerson
	case c.config == call.Off:
		return c.config, fromConfig
	case person != "":
		return person, fromPerson
	case c.config != "":
		return c.config, fromConfig
	}
	return "", ""
}

// table is the rules that are in effect. It never changes; a change makes a new one.
type table struct {
	cells    map[key]cell
	sites    siteRules            // what rules about origins say, whatever the tool
	pairs    map[string]siteRules // what rules about one tool on one origin say, by tool
	base     base                 // what is done without any rule
	paused   bool
	lost     bool        // rules may be missing: nothing runs without a question
	personal []call.Rule // by target and client
	config   map[string]map[string]string

	managed *managed // the policy of an administrator, which bounds all of it; nil: there is none

	// the rules of an earlier configuration, which bound this one until a person has confirmed it, and may be bound
	// themselves; or nil
	older *table
}

// nextEnd fires when the next rule ends; nil when none does.
func (t *table) nextEnd() <-chan time.Time {
	var next time.Time
	for _, r := range t.personal {
		if r.Until.After(time.Now()) && (next.IsZero() || r.Until.Before(next)) {
			next = r.Until
		}
	}
	if next.IsZero() {
		return nil
	}
	return time.After(time.Until(next))
}

// clientIn is the client of a rule of the person as that rule spells it.
func (t *table) clientIn(target, client string) string {
	if slices.ContainsFunc(t.personal, func(r call.Rule) bool { return r.Target == target && r.Client == client }) {
		return client
	}
	return config.Spelled(client)
}

// without is the person's rules without one.
func (t *table) without(target, client string) []call.Rule {
	return slices.DeleteFunc(slices.Clone(t.personal), func(r call.Rule) bool {
		return r.Target == target && r.Client == client
	})
}

// keyOf is what a rule is about. A client's name counts as clients are called, however the rule spells it; of two rules
// that are about the same then, the stricter counts, as long as either of them holds.
func keyOf(target, client string) key { return key{target, config.Spelled(client)} }

// stricter is the mode of two that allows less; the first may be empty.
func stricter(a, b call.Mode) call.Mode {
	if a != "" && permissive[a] < permissive[b] {
		return a
	}
	return b
}

// newTable makes the table of the rules of a person and of the configuration.
func newTable(personal []call.Rule, config map[string]map[string]string, paused bool) *table {
	t := &table{cells: map[key]cell{}, pairs: map[string]siteRules{}, personal: slices.Clone(personal), config: config,
		paused: paused,
		base:   baseOf(config)}
	slices.SortFunc(t.personal, func(a, b call.Rule) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Client, b.Client))
	})
	for _, r := range personal {
		k := keyOf(r.Target, r.Client)
		c := t.cells[k]
		until := int64(0)
		if !r.Until.IsZero() {
			until = r.Until.UnixNano()
		}
		if c.person != "" && (c.until == 0 || until != 0 && c.until > until) {
			until = c.until
		}
		c.person, c.until = stricter(c.person, r.Mode), until
		t.add(k, c, c.person)
	}
	for target, modes := range config {
		if target == builtInDefault {
			continue
		}
		for client, mode := range modes {
			if client == everyClient {
				client = ""
			}
			k := keyOf(Spelled(target), client)
			c := t.cells[k]
			c.config = stricter(c.config, call.Mode(mode))
			t.add(k, c, c.config)
		}
	}
	return t
}

// within bounds a table by earlier configurations: of what they say, the strictest counts.
func (t *table) within(earlier ...map[string]map[string]string) *table {
	if len(earlier) == 0 {
		t.older = nil
		return t
	}
	t.older = newTable(t.personal, earlier[0], t.paused).within(earlier[1:]...)
	return t
}

// bounds are the configurations that bound a table.
func (t *table) bounds() (earlier []map[string]map[string]string) {
	for one := t.older; one != nil; one = one.older {
		earlier = append(earlier, one.config)
	}
	return earlier
}

// configured are the rules of the configuration that was confirmed last, and of those after it.
func (t *table) configured() (confirmed map[string]map[string]string, later []map[string]map[string]string) {
	all := append([]map[string]map[string]string{t.config}, t.bounds()...)
	return all[len(all)-1], all[:len(all)-1]
}

// with is the table with other rules of the person.
func (t *table) with(personal []call.Rule, paused bool) *table {
	other := newTable(personal, t.config, paused).within(t.bounds()...)
	other.managed = t.managed
	return other
}

// siteRules summarizes rules about origins: whether there are any, and whether one of them is not off.
type siteRules struct{ some, enables bool }

func (o siteRules) with(mode call.Mode) siteRules {
	return siteRules{true, o.enables || mode != call.Off}
}

func (t *table) add(k key, c cell, mode call.Mode) {
	t.cells[k] = c
	switch tool, origin := splitTarget(k.target); {
	case origin == "":
	case tool == "":
		t.sites = t.sites.with(mode)
	default:
		t.pairs[tool] = t.pairs[tool].with(mode)
	}
}

// demoPlugin is the plugin that shows how everything works, on a site of the relay's own.
const demoPlugin = "demo"

// demoCounter is the tool of the demo that changes something: the first errand of most people.
const demoCounter = demoPlugin + "__counter_increment"

// Rule is one rule as a person sees it.
type Rule struct {
	Target  string     `json:"target"`
	Client  string     `json:"client"` // empty: every client
	Mode    call.Mode  `json:"mode"`
	Until   *time.Time `json:"until,omitempty"`
	By      string     `json:"by,omitempty"`
	Created *time.Time `json:"created,omitempty"`
	From    source     `json:"from"`            // policy, person, config or built-in
	Waits   bool       `json:"waits,omitempty"` // in config.json, and not in effect before a person has confirmed it

	NoEffect string   `json:"noEffect,omitempty"` // why: another rule is stricter wherever this one is about
	Except   []string `json:"except,omitempty"`   // rules that are stricter for a part of it, with their modes
}

func compareRules(a, b Rule) int {
	return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Client, b.Client))
}

// list is every rule, those of the policy first, then those of the person.
func (t *table) list(now time.Time) []Rule {
	rules := append([]Rule{}, t.managed.list()...)
	for _, r := range t.personal {
		if !r.Until.IsZero() && !now.Before(r.Until) {
			continue
		}
		shown := Rule{
			Target: r.Target, Client: r.Client, Mode: r.Mode, By: r.By, From: fromPerson, Created: &r.Created,
		}
		if !r.Until.IsZero() {
			shown.Until = &r.Until
		}
		rules = append(rules, shown)
	}
	var configured []Rule
	for target, modes := range t.config {
		if target == builtInDefault {
			continue
		}
		for client, mode := range modes {
			if client == everyClient {
				client = ""
			}
			configured = append(configured, Rule{
				Target: target, Client: client, Mode: call.Mode(mode), From: fromConfig,
				Waits: t.waits(keyOf(target, client)),
			})
		}
	}
	slices.SortFunc(configured, compareRules)
	rules = append(rules, configured...)
	for _, group := range freeGroups {
		rules = append(rules, Rule{Target: group, Mode: call.Auto, From: fromBuiltIn})
	}
	return append(rules, Rule{Target: demoPlugin, Mode: call.Auto, From: fromBuiltIn},
		Rule{Target: demoCounter, Mode: call.Ask, From: fromBuiltIn})
}

// waits reports whether a rule of the configuration says more than what was confirmed.
func (t *table) waits(k key) bool {
	for one := t.older; one != nil; one = one.older {
		if permissive[t.cells[k].config] > permissive[one.cells[k].config] {
			return true
		}
	}
	return false
}

// RelayPlugin stands for the tools of the relay itself, but those of the group browser.
const RelayPlugin = "relay"

// freeGroups are the groups of the relay's own tools that need no permission of their own.
var freeGroups = []string{RelayPlugin}

// AttachGroup adds a group of tools whose calls need no permission of their own, because whatever they do with a site
// is a call of another tool. It is for capabilities, before anything else runs.
func AttachGroup(name string) { freeGroups = append(freeGroups, name) }

// IsFree reports whether the tools of a group need no permission of their own.
func IsFree(group string) bool { return slices.Contains(freeGroups, group) }

// OwnGroups are the groups of the relay's own tools that rules can be about.
func OwnGroups() []string { return append(slices.Clone(freeGroups), "browser", registry.Web) }
