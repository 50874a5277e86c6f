package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/road/call"
)

// A rule that another one masks changes nothing now, and much once the other one goes. What it allows then is confirmed
// when it is made, and the person is told that it has no effect yet.

// maxSubsets bounds how many of the rules about one access are tried with and without each other.
const maxSubsets = 10

// relevantRule is a rule of the person or of the configuration about an access.
type relevantRule struct {
	key      key
	mode     call.Mode
	ofConfig bool
}

// rulesAbout are the rules about an access, but for that of the person under except.
func (t *table) rulesAbout(a *call.Access, except key) (list []relevantRule) {
	targets := []string{a.Tool, a.Plugin, Default}
	if a.At != nil {
		targets = append(targets, a.At.Origin, siteTarget(a.Tool, a.At.Origin))
	}
	for _, target := range targets {
		for _, client := range []string{a.Session.Client, ""} {
			k := key{target, client}
			c := t.cells[k]
			if c.person != "" && k != except {
				list = append(list, relevantRule{k, c.person, false})
			}
			if c.config != "" {
				list = append(list, relevantRule{k, c.config, true})
			}
		}
	}
	return list
}

// subset is a table of some rules about one access and, unless its mode is empty, one more of the person.
func (t *table) subset(a *call.Access, rules []relevantRule, subset int, k key, mode call.Mode) *table {
	one := &table{cells: map[key]cell{}, base: t.base, sites: siteRules{some: true},
		pairs: map[string]siteRules{a.Tool: {some: true}}}
	for i, r := range rules {
		if subset&(1<<i) == 0 {
			continue
		}
		c := one.cells[r.key]
		if r.ofConfig {
			c.config = r.mode
		} else {
			c.person = r.mode
		}
		one.cells[r.key] = c
	}
	c := one.cells[k]
	if c.person = mode; mode != "" {
		one.cells[k] = c
	}
	return one
}

// widensLater reports whether another mode of one rule of the person allows more once some of the other rules are gone.
// An empty mode is no rule.
func (p *Policy) widensLater(t *table, k key, after call.Mode) bool {
	if after == call.Off {
		return false
	}
	before := t.cells[k].person
	var known []call.Access
	if p.options.Tools != nil {
		known = p.options.Tools()
	}
	tried := map[string]bool{}
	probe := newTable([]call.Rule{{Target: k.target, Client: k.client, Mode: call.Ask}}, nil, false)
	for a := range accesses(known, t, probe) {
		if !concerns(k, &a) {
			continue
		}
		rules := t.rulesAbout(&a, k)
		rules = rules[:min(len(rules), maxSubsets)]
		same := fmt.Sprint(rules, needsNoPermission(&a), a.ReadOnly, a.Session.Guest)
		if tried[same] {
			continue
		}
		tried[same] = true
		for subset := range 1 << len(rules) {
			was := t.subset(&a, rules, subset, k, before).resolveBounded(&a, 0).mode
			if permissive[t.subset(&a, rules, subset, k, after).resolveBounded(&a, 0).mode] > permissive[was] {
				return true
			}
		}
	}
	return false
}

// concerns reports whether a rule is about an access.
func concerns(k key, a *call.Access) bool {
	if k.client != "" && k.client != a.Session.Client {
		return false
	}
	tool, origin := splitTarget(k.target)
	return (tool == "" || tool == Default || tool == a.Tool || tool == a.Plugin) &&
		(origin == "" || a.At != nil && a.At.Origin == origin)
}

// mask says of a rule why it has no effect: whatever it is about is stricter by another rule. Empty: it has some.
func (p *Policy) mask(t *table, r *Rule, known []call.Access) (why string) {
	now := time.Now().UnixNano()
	k := keyOf(Spelled(r.Target), r.Client)
	for a := range accesses(known, t) {
		if !concerns(k, &a) || needsNoPermission(&a) && (k.target == Default || strings.Contains(k.target, "://")) {
			continue
		}
		v := t.resolveBounded(&a, now)
		if permissive[v.mode] >= permissive[r.Mode] {
			return ""
		}
		if why == "" || v.level == onSite { // the others are more to the point
			why = v.why() + " (" + string(v.mode) + ")"
		}
	}
	return why
}

// exceptions are the sites and tools for which a rule does not do what it says, because another one is stricter.
func (p *Policy) exceptions(t *table, r *Rule, known []call.Access) (list []string) {
	now := time.Now().UnixNano()
	k := keyOf(Spelled(r.Target), r.Client)
	if k.target == Default {
		return nil // it is for what no rule names
	}
	for a := range accesses(known, t) {
		if !concerns(k, &a) {
			continue
		}
		if v := t.resolveBounded(&a, now); permissive[v.mode] < permissive[r.Mode] && v.rule != (key{}) && v.rule != k {
			if one := ruleName(v.rule.target, v.rule.client) + ": " + string(v.mode); !slices.Contains(list, one) {
				list = append(list, one)
			}
		}
	}
	slices.Sort(list)
	return list
}

// explain says of each rule that the person or the configuration made where others are stricter.
func (p *Policy) explain(t *table, rules []Rule) []Rule {
	var known []call.Access
	if p.options.Tools != nil {
		known = p.options.Tools()
	}
	for i := range rules {
		r := &rules[i]
		if r.From == fromBuiltIn || r.Waits || r.Mode == call.Off || i >= maxExplained {
			continue
		}
		if r.NoEffect = p.mask(t, r, known); r.NoEffect == "" {
			r.Except = p.exceptions(t, r, known)
		}
	}
	return rules
}

// maxExplained bounds the rules of which the list says where others are stricter.
const maxExplained = 200
