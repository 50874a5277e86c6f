package policy

import (
	"maps"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/road/call"
)

// effect is for whom and where some tools are another mode than before.
type effect struct {
	before, after call.Mode
	clients       string // joined names
	origins       string
}

// effects lists in words for which tools, sites and clients a mode becomes another one that counts, now: each tool and
// site that the rules tell apart, and all others together.
func (p *Policy) effects(
	t *table, modes func(a *call.Access, now int64) (before, after call.Mode), counts func(before,
		after call.Mode) bool,
	others ...*table,
) []call.Difference {
	var known []call.Access
	if p.options.Tools != nil {
		known = p.options.Tools()
	}
	now := time.Now().UnixNano()
	type where struct{ tool, client string }
	type change struct{ before, after call.Mode }
	at := map[where]map[change]map[string]bool{}
	tools, clients, origins := map[string]string{}, map[string]bool{}, map[string]bool{}
	for a := range accesses(known, append(others, t)...) {
		name := effectName(&a)
		tools[name], clients[a.Session.Client], origins[a.At.Origin] = a.Plugin, true, true
		before, after := modes(&a, now)
		if !counts(before, after) {
			continue
		}
		w, c := where{name, a.Session.Client}, change{before, after}
		if at[w] == nil {
			at[w] = map[change]map[string]bool{}
		}
		if at[w][c] == nil {
			at[w][c] = map[string]bool{}
		}
		at[w][c][a.At.Origin] = true
	}
	// First by tool: which clients have the same change at the same sites; then which tools have the same.
	byTool := map[string]map[effect]map[string]bool{}
	for w, changes := range at {
		for c, sites := range changes {
			e := effect{before: c.before, after: c.after, origins: amongAll(sites, origins, "site")}
			if byTool[w.tool] == nil {
				byTool[w.tool] = map[effect]map[string]bool{}
			}
			if byTool[w.tool][e] == nil {
				byTool[w.tool][e] = map[string]bool{}
			}
			byTool[w.tool][e][w.client] = true
		}
	}
	same := map[effect]map[string]bool{}
	for tool, list := range byTool {
		for e, who := range list {
			if e.clients = amongAll(who, clients, "client"); same[e] == nil {
				same[e] = map[string]bool{}
			}
			same[e][tool] = true
		}
	}
	var list []call.Difference
	for e, names := range same {
		what := toolNames(names, tools)
		if e.origins != "" {
			what += " on " + e.origins
		}
		if e.clients != "" {
			what += " for " + e.clients
		}
		list = append(list, call.Difference{What: what, Before: string(e.before), After: string(e.after)})
	}
	slices.SortFunc(list, func(a, b call.Difference) int { return strings.Compare(a.What+a.After, b.What+b.After) })
	return list
}

// effectName is a tool in the words of an effect: its name, or “other tools” of a plugin or of all.
func effectName(a *call.Access) string {
	switch {
	case a.Tool != nobody:
		return a.Tool
	case a.Plugin != nobody:
		return "other tools of " + a.Plugin
	}
	return otherTools
}

const otherTools = "every other tool"

// amongAll names some of all sites or clients, of which nobody stands for those that no rule names; empty: all.
func amongAll(some, all map[string]bool, kind string) string {
	list := func(of map[string]bool) string {
		return strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(of)), func(s string) bool { return s == nobody }),
			", ")
	}
	if !some[nobody] {
		return list(some)
	}
	left := maps.Clone(all)
	maps.DeleteFunc(left, func(name string, _ bool) bool { return some[name] })
	if len(left) == 0 {
		return ""
	}
	return "every " + kind + " but " + list(left)
}

// toolNames names tools, plugins whose tools are all among them, or all.
func toolNames(names map[string]bool, all map[string]string) string {
	if len(names) == len(all) {
		return "every tool"
	}
	whole, missing := map[string]bool{}, map[string]bool{}
	for name, owner := range all {
		if !names[name] {
			missing[owner] = true
		}
		if name == "other tools of "+owner {
			whole[owner] = true
		}
	}
	words := map[string]bool{}
	for name := range names {
		owner := all[name]
		if whole[owner] && !missing[owner] {
			name = "every tool of " + owner
		}
		words[name] = true
	}
	list := slices.Sorted(maps.Keys(words))
	slices.SortStableFunc(list, func(a, b string) int { return otherLast(a) - otherLast(b) })
	return strings.Join(list, ", ")
}

func otherLast(name string) int {
	if name == otherTools || strings.HasPrefix(name, "other tools of ") {
		return 1
	}
	return 0
}
