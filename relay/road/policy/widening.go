package policy

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/state/config"
)

// RuleChange is what a rule allows that is not allowed now, or would not be once other rules are gone; nil: nothing.
func (p *Policy) RuleChange(r call.Rule, lasts time.Duration) *Change {
	if lasts > 0 {
		r.Until = time.Now().Add(lasts)
	}
	t := p.rules.Load()
	next := t.with(append(t.without(r.Target, r.Client), r), t.paused)
	title := "A rule lets agents do more"
	if !p.widens(t, next) {
		k := keyOf(r.Target, r.Client)
		if !p.widensLater(t, k, r.Mode) && (lasts == 0 || !p.widensLater(t, k, "")) {
			return nil
		}
		title = "A rule has no effect yet, and lets agents do more once a stricter one is gone"
	}
	command, after := "tabrelay permit set "+r.Target+" "+string(r.Mode)+clientFlag(r.Client), string(r.Mode)
	if lasts > 0 {
		command, after = command+" --for "+lasts.String(), after+" for "+lasts.String()
	}
	return NewChange(title, command,
		call.Difference{What: ruleName(r.Target, r.Client), Before: t.said(r.Target, r.Client), After: after},
	).WithText(p.widened(t, next)...)
}

// UnsetChange is what taking a rule away allows, now or once other rules are gone; nil: nothing.
func (p *Policy) UnsetChange(target, client string) *Change {
	t := p.rules.Load()
	client = t.clientIn(target, client)
	next := t.with(t.without(target, client), t.paused)
	title := "Without a rule, agents may do more"
	if !p.widens(t, next) {
		k := keyOf(target, client)
		if t.cells[k].person == "" || !p.widensLater(t, k, "") {
			return nil
		}
		title = "Without a rule, agents may do more once a stricter one is gone, too"
	}
	after := next.said(target, client)
	return NewChange(title, "tabrelay permit unset "+target+clientFlag(client),
		call.Difference{What: ruleName(target, client), Before: t.said(target, client), After: after},
	).WithText(p.widened(t, next)...)
}

// widened are lines that say for which tools, sites and clients other rules allow more.
func (p *Policy) widened(before, after *table) (lines []string) {
	list := p.effects(before, func(a *call.Access, now int64) (call.Mode, call.Mode) {
		return before.resolveBounded(a, now).mode, after.resolveBounded(a, now).mode
	}, func(was, is call.Mode) bool { return permissive[is] > permissive[was] }, after)
	for _, d := range list {
		lines = append(lines, line(d))
	}
	return lines
}

func clientFlag(client string) string {
	if client == "" {
		return ""
	}
	return " --client " + client
}

func ruleName(target, client string) string {
	if client == "" {
		return target
	}
	return target + " for " + client
}

// ResumeChange is what letting stopped agents go on allows; nil: nothing, because they are not stopped.
func (p *Policy) ResumeChange() *Change {
	if !p.Paused() {
		return nil
	}
	return NewChange("Agents may call tools again", "tabrelay resume",
		call.Difference{What: "all agents", Before: "stopped", After: "may go on, as the rules say"})
}

// widerRules reports whether the rules of one configuration let anybody do anything that those of another one do not,
// the person's rules being what they are.
func (p *Policy) widerRules(before, after *config.Rights) bool {
	t := p.rules.Load()
	of := func(r *config.Rights) *table {
		return p.table(t.personal, r.Permissions, t.paused).within(r.Unconfirmed...)
	}
	return p.widens(of(before), of(after))
}

// loosened lists how the rules that are in effect differ from earlier ones, but for what only forbids more. What some
// of the later rules still forbid is not in it, unless it is only together with other rules that they no longer do.
func loosened(before, after *config.Rights) []call.Difference {
	var all, byEach []call.Difference
	for _, earlier := range before.Rules() {
		for _, d := range config.Loosened(earlier, after.Permissions) {
			if says(all, d.What) {
				continue
			}
			all = append(all, d)
			forbidden := func(later map[string]map[string]string) bool {
				return !says(config.Loosened(earlier, later), d.What)
			}
			if !slices.ContainsFunc(after.Unconfirmed, forbidden) {
				byEach = append(byEach, d)
			}
		}
	}
	if len(byEach) > 0 {
		all = byEach
	}
	slices.SortStableFunc(all, func(a, b call.Difference) int { return cmp.Compare(a.What, b.What) })
	return all
}

func says(list []call.Difference, what string) bool {
	return slices.ContainsFunc(list, func(d call.Difference) bool { return d.What == what })
}

// said is what the rule about exactly this says, in words.
func (t *table) said(target, client string) string {
	if mode, _ := t.cells[keyOf(target, client)].at(time.Now().UnixNano()); mode != "" {
		return string(mode)
	}
	if target == Default && client == "" {
		return "no rule (ask)"
	}
	return "no rule"
}

// permissive orders the modes.
var permissive = map[call.Mode]int{call.Off: 0, call.Ask: 1, call.Auto: 2}

// widens reports whether there is any access, now or after a rule has ended, for which after is more permissive.
func (p *Policy) widens(before, after *table) bool {
	var known []call.Access
	if p.options.Tools != nil {
		known = p.options.Tools()
	}
	for _, now := range moments(before, after) {
		for a := range accesses(known, before, after) {
			if permissive[after.resolveBounded(&a, now).mode] > permissive[before.resolveBounded(&a, now).mode] {
				return true
			}
		}
	}
	return false
}

// moments are now, and when each rule has just ended.
func moments(tables ...*table) []int64 {
	list := []int64{time.Now().UnixNano()}
	for _, t := range tables {
		for _, r := range t.personal {
			if !r.Until.IsZero() {
				list = append(list, r.Until.UnixNano())
			}
		}
	}
	return list
}

// layers are the table and those that bound it.
func (t *table) layers() iter.Seq[*table] {
	return func(yield func(*table) bool) {
		for one := t; one != nil; one = one.older {
			if !yield(one) {
				return
			}
		}
		if t.managed != nil {
			yield(t.managed.rules)
		}
	}
}

// nobody stands for every client, plugin and origin that no rule names.
const nobody = "\x00"

// accesses is one of each kind that the rules of any of the tables tell apart, of the tools there are and of those that
// may come.
func accesses(known []call.Access, tables ...*table) iter.Seq[call.Access] {
	clients, targets, origins := map[string]bool{nobody: true}, map[string]bool{}, map[string]bool{nobody: true}
	for _, t := range tables {
		for one := range t.layers() {
			for k := range one.cells {
				clients[cmp.Or(k.client, nobody)] = true
				tool, origin := splitTarget(k.target)
				if origin != "" {
					origins[origin] = true
				}
				if tool != "" && tool != Default {
					targets[tool] = true
				}
			}
		}
	}
	tools := append(kinds(nobody, nobody, false), call.Access{Tool: nobody, Plugin: demoPlugin, Shipped: true})
	for _, group := range freeGroups {
		tools = append(tools, call.Access{Tool: nobody, Plugin: group, BuiltIn: true})
	}
	for target := range targets {
		tools = append(tools, toolsOf(target, known)...)
	}
	for _, a := range tools {
		if a.BuiltIn && IsFree(a.Plugin) && a.Plugin != RelayPlugin {
			a.Asks = true // a capability can ask about a call of its tools that changes something
			tools = append(tools, a)
		}
	}
	return func(yield func(call.Access) bool) {
		for _, a := range tools {
			for a.Session.Client = range clients {
				for origin := range origins {
					if a.BuiltIn && IsFree(a.Plugin) && origin != nobody {
						continue // it touches no site
					}
					a.At = &call.Target{Origin: origin}
					a.Session.Guest = false
					if !yield(a) {
						return
					}
					if a.Session.Guest = strings.Contains(a.Session.Client, "@"); a.Session.Guest && !yield(a) {
						return
					}
				}
			}
		}
	}
}

// toolsOf are the tools that a target is about: those that exist, else stand-ins for tools that may be added.
func toolsOf(target string, known []call.Access) (tools []call.Access) {
	ours := false
	for _, a := range known {
		if a.Tool == target || a.Plugin == target {
			ours = ours || a.BuiltIn || ofDemo(&a)
			tools = append(tools, a)
		}
	}
	switch {
	case len(tools) == 0:
		return slices.Concat(kinds(target, nobody, false), kinds(plugin.Owner(target), target, false))
	case tools[0].Tool == target:
		return tools
	}
	return append(tools, kinds(target, nobody, ours)...)
}

// kinds are the tools of any behaviour that have a name and a plugin; ours are the relay's own, or the demo's.
func kinds(plugin, tool string, ours bool) []call.Access {
	return []call.Access{
		{Plugin: plugin, Tool: tool, BuiltIn: ours && plugin != demoPlugin, Shipped: ours},
		{Plugin: plugin, Tool: tool, BuiltIn: ours && plugin != demoPlugin, Shipped: ours, ReadOnly: true},
	}
}
