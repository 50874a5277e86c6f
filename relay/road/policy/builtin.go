package policy

import (
	"maps"
	"slices"
	"strings"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/state/config"
)

// What is done without any rule, and which plugins are part of the program, is as the program has it: an update can
// allow more although nobody changed a file. Therefore both belong to the rights that are written down at each start.

// builtInDefault stands, where rights are compared and kept, for what is done without any rule. Under it are modes by
// kinds of tools, in place of clients. Nobody can write it into a configuration.
const (
	builtInDefault = "built-in default"
	forReading     = "tools that only read"
	forChanging    = "tools that change something"
)

// base is what is done without any rule.
type base struct{ reading, changing call.Mode }

func (b base) of(a *call.Access) call.Mode {
	if a.ReadOnly {
		return b.reading
	}
	return b.changing
}

// shippedBase is that of this program, once that of its first ones.
var shippedBase, once = base{call.Ask, call.Ask}, base{call.Ask, call.Off}

func (b base) permissions() map[string]string {
	return map[string]string{forReading: string(b.reading), forChanging: string(b.changing)}
}

// baseOf is what a configuration, as it is kept, had without any rule.
func baseOf(permissions map[string]map[string]string) base {
	kept, b := permissions[builtInDefault], shippedBase
	if mode := call.Mode(kept[forReading]); mode != "" {
		b.reading = mode
	}
	if mode := call.Mode(kept[forChanging]); mode != "" {
		b.changing = mode
	}
	return b
}

// withBase is a configuration's rules with what is done without any.
func withBase(permissions map[string]map[string]string, b base) map[string]map[string]string {
	if permissions[builtInDefault] != nil {
		return permissions
	}
	permissions = maps.Clone(permissions)
	if permissions == nil {
		permissions = map[string]map[string]string{}
	}
	permissions[builtInDefault] = b.permissions()
	return permissions
}

// The plugins of programs that did not write down which ones they had.
var (
	firstShipped = []string{"demo", "mediawiki", "pocketbase", "prometheus", "roundcube", "webpage", "wordpress"}
	laterShipped = append([]string{"agents", "browser", plugin.OptIn, "dokuwiki", "node-red", "relay", "tt-rss"},
		firstShipped...)
)

// completed are the rights that an earlier program has written down, with what it left out.
func completed(kept keptRights, c *config.Config) keptRights {
	_, later := kept.InEffect.Settings["noPageTools"]
	for _, r := range []*config.Rights{&kept.InEffect, kept.Before, kept.Undone} {
		if r == nil {
			continue
		}
		if *r = r.Completed(c); r.Shipped == nil {
			*r = aged(*r, later)
		}
	}
	return kept
}

// aged are rights as a program had them that did not write down what it did without rules.
func aged(r config.Rights, later bool) config.Rights {
	b := shippedBase
	r.Shipped = laterShipped
	if !later {
		b, r.Shipped = once, append(slices.Clone(firstShipped), "agents", "relay")
		r = r.With("noPageTools", true)
	}
	r.Permissions = withBase(r.Permissions, b)
	r.Unconfirmed = slices.Clone(r.Unconfirmed)
	for i, layer := range r.Unconfirmed {
		r.Unconfirmed[i] = withBase(layer, b)
	}
	return r
}

// rightsOf takes the rights out of a configuration, and out of this program.
func (p *Policy) rightsOf(c *config.Config) config.Rights {
	r := config.RightsOf(c)
	r.Permissions, r.Shipped = withBase(r.Permissions, shippedBase), p.shipped
	return r
}

// shippedNow are the plugins of this program, and the groups of its own tools.
func (p *Policy) shippedNow() []string {
	list := []string{}
	if p.options.Tools != nil {
		for _, a := range p.options.Tools() {
			if a.Shipped || a.BuiltIn {
				list = append(list, a.Plugin)
			}
		}
	}
	slices.SortFunc(list, strings.Compare)
	return slices.Compact(list)
}
