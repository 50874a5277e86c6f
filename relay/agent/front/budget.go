package front

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tabrelay/relay/road/registry"
)

// budgetedList is what a session remembers of its adaptive list, which may cost only so many tokens.
type budgetedList struct {
	listed   map[string]bool // names of the tools that were listed; they stay listed
	snapshot *registry.Snapshot
	key      string // of the view, for which left was found
	left     *leftOut
}

// leftOut is the tools that exceed the token budget of a list. They are found and called through the gateway. Tools of
// pages that no page has any more are left out, too, and not spoken of.
type leftOut struct {
	tools map[string]bool // by name
	gone  map[string]bool // by name
	key   string          // the same for the same tools
	says  string          // one sentence for the model
}

func (l *leftOut) has(t *registry.Tool) bool { return l != nil && (l.tools[t.Name] || l.gone[t.Name]) }

// sentenceTokens is what the sentence about tools that are left out costs at the most. They are kept free from the
// beginning: a site may be opened when the list is full.
const sentenceTokens = 100

// profileTokens is what a tool costs more while it lists the argument profile.
const profileTokens = 8

// gatewayTokens is what the gateway costs.
var gatewayTokens = func() (sum int) {
	for _, g := range gatewayTools {
		var one struct {
			Description string
			InputSchema json.RawMessage
		}
		if json.Unmarshal([]byte(g.object), &one) == nil { // which is a constant
			sum += registry.Tokens(g.name) + registry.Tokens(one.Description) + registry.Tokens(one.InputSchema)
		}
	}
	return sum
}()

// overBudget returns the tools of v that do not fit into most tokens; nil: all fit. Tools that the session was shown
// stay listed, so a site that is opened when the budget is spent adds only the sentence about what is left out.
func (o *offered) overBudget(
	most int, instructions string, snapshot *registry.Snapshot, v *visible,
) *leftOut {
	if most == 0 || !v.tools.Adaptive {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	key := v.key()
	if o.budgeted.snapshot != snapshot || o.budgeted.key != key {
		most -= registry.Tokens(instructions) + gatewayTokens + sentenceTokens
		listed, left := spendBudget(most, snapshot.Tools, v, o.budgeted.listed)
		o.budgeted = budgetedList{listed, snapshot, key, left}
	}
	return o.budgeted.left
}

// byPlugin is the tools of one plugin, or those of all pages.
type byPlugin struct {
	name string
	used int              // tokens of those that are listed
	wait []*registry.Tool // those that are not listed yet, the most important first
}

// spendBudget decides which tools of v are listed: first those that were listed before, then, one at a time, the next
// tool of the plugin whose listed tools cost least so far.
func spendBudget(budget int, tools []*registry.Tool, v *visible, had map[string]bool) (map[string]bool, *leftOut) {
	listed, groups := map[string]bool{}, map[string]*byPlugin{}
	left := &leftOut{tools: map[string]bool{}, gone: map[string]bool{}}
	price := func(t *registry.Tool) int {
		if v.offer.Profiles && t.TakesProfile {
			return t.Tokens + profileTokens
		}
		return t.Tokens
	}
	for _, t := range tools {
		if !v.lists(t) {
			continue
		}
		if !registry.OfSite(t) {
			budget -= price(t)
			continue
		}
		if !had[t.Name] && isGone(t) {
			left.gone[t.Name] = true
			continue
		}
		g := groups[t.Group]
		if g == nil {
			g = &byPlugin{name: t.Group}
			groups[g.name] = g
		}
		if had[t.Name] {
			listed[t.Name] = true
			g.used += price(t)
			budget -= price(t)
		} else {
			g.wait = append(g.wait, t)
		}
	}
	byUse := slices.SortedFunc(maps.Values(groups), func(a, b *byPlugin) int { return strings.Compare(a.name, b.name) })
	for _, g := range byUse {
		slices.SortStableFunc(g.wait, func(a, b *registry.Tool) int { return a.Order - b.Order })
	}
	for {
		byUse = slices.DeleteFunc(byUse, func(g *byPlugin) bool { return len(g.wait) == 0 })
		if len(byUse) == 0 {
			break
		}
		g := slices.MinFunc(byUse, func(a, b *byPlugin) int { return cmp.Compare(a.used, b.used) })
		next := g.wait[0]
		g.wait = g.wait[1:]
		if price(next) > budget {
			left.tools[next.Name] = true
			continue
		}
		listed[next.Name] = true
		g.used += price(next)
		budget -= price(next)
	}
	if len(left.tools)+len(left.gone) == 0 {
		return listed, nil
	}
	left.describe(tools)
	return listed, left
}

// isGone reports whether a tool is one of pages, and no page has it now. When one has it again, a new snapshot says so.
func isGone(t *registry.Tool) bool {
	return t.Page != nil && !t.Page.In(0) && !slices.ContainsFunc(t.Page.Others, func(other *registry.Tool) bool {
		return other.Page.In(0)
	})
}

// maxNamed is how many plugins the sentence about what is left out names.
const maxNamed = 8

func (l *leftOut) describe(tools []*registry.Tool) {
	counts := map[string]int{}
	for _, t := range tools {
		if l.tools[t.Name] {
			counts[t.Group]++
		}
	}
	var parts []string
	others := 0
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if len(parts) < maxNamed {
			parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
		} else {
			others += counts[name]
		}
	}
	if others > 0 {
		parts = append(parts, fmt.Sprintf("others %d", others))
	}
	names := slices.Concat(slices.Sorted(maps.Keys(l.tools)), slices.Sorted(maps.Keys(l.gone)))
	l.key = digestOf("left out", [][]byte{[]byte(strings.Join(names, " "))})
	if len(parts) == 0 {
		return
	}
	l.says = "Of open sites, these have more tools than are listed: " + strings.Join(parts, ", ") + "."
}
