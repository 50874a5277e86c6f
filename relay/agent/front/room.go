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

// places is what a session remembers of a list that has only so much room.
type places struct {
	listed   map[string]bool // names of the tools that have a place; they keep it
	snapshot *registry.Snapshot
	key      string // of the view, for which left was found
	left     *leftOut
}

// leftOut is the tools that an adaptive list has no room for. They are found and called through the gateway.
type leftOut struct {
	tools map[string]bool // by name
	key   string          // the same for the same tools
	says  string          // one sentence for the model
}

func (l *leftOut) has(t *registry.Tool) bool { return l != nil && l.tools[t.Name] }

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

// beyond is what a list of so many tokens leaves out of what v lists; nil: nothing. What the session has been listed
// stays, so a site that is opened when the list is full comes with a sentence only.
func (o *offered) beyond(
	most int, instructions string, snapshot *registry.Snapshot, v *visible,
) *leftOut {
	if most == 0 || !v.tools.Adaptive {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	key := v.key()
	if o.places.snapshot != snapshot || o.places.key != key {
		most -= registry.Tokens(instructions) + gatewayTokens + sentenceTokens
		listed, left := share(most, snapshot.Tools, v, o.places.listed)
		o.places = places{listed, snapshot, key, left}
	}
	return o.places.left
}

// byPlugin is the tools of one plugin, or those of all pages.
type byPlugin struct {
	name string
	used int              // tokens of those that are listed
	wait []*registry.Tool // those that have no place yet, the most important first
}

// share gives the tools that v lists their places: first those that had one, then in turn the next of that plugin which
// takes the least room.
func share(room int, tools []*registry.Tool, v *visible, had map[string]bool) (map[string]bool, *leftOut) {
	listed, groups := map[string]bool{}, map[string]*byPlugin{}
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
			room -= price(t)
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
			room -= price(t)
		} else {
			g.wait = append(g.wait, t)
		}
	}
	left := &leftOut{tools: map[string]bool{}}
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
		if price(next) > room {
			left.tools[next.Name] = true
			continue
		}
		listed[next.Name] = true
		g.used += price(next)
		room -= price(next)
	}
	if len(left.tools) == 0 {
		return listed, nil
	}
	left.describe(tools)
	return listed, left
}

// mostNamed is how many plugins the sentence about what is left out names.
const mostNamed = 8

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
		if len(parts) < mostNamed {
			parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
		} else {
			others += counts[name]
		}
	}
	if others > 0 {
		parts = append(parts, fmt.Sprintf("others %d", others))
	}
	l.says = "Of open sites, these have more tools than are listed: " + strings.Join(parts, ", ") + "."
	l.key = digestOf("left out", [][]byte{[]byte(strings.Join(slices.Sorted(maps.Keys(l.tools)), " "))})
}
