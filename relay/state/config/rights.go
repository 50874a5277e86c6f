package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tabrelay/relay/road/call"
)

// Rights are the settings that say what agents, plugins and programs may do, as far as more of them is a matter for the
// person. Their form is kept in the database: what is not in an older one has its zero value.
type Rights struct {
	Permissions map[string]map[string]string `json:"permissions"` // those confirmed last
	// later ones, which allow more than was confirmed: of what all of them say, the strictest is in effect
	Unconfirmed     []map[string]map[string]string `json:"unconfirmed,omitempty"`
	Unreviewed      bool                           `json:"unreviewed"` // review.required is false
	ExtensionIDs    []string                       `json:"extensionIds"`
	AllowedOrigins  []string                       `json:"allowedOrigins"`
	Ownership       string                         `json:"ownership"`
	OwnedBy         string                         `json:"ownedBy"`
	ReadPatterns    []string                       `json:"readPatterns"` // resources.tabs
	ExcludePatterns []string                       `json:"excludePatterns"`
	FileRoots       []string                       `json:"fileRoots"`
	HTTPSHosts      []string                       `json:"httpsHosts"`
	GitHosts        []string                       `json:"gitHosts"`
	Providers       map[string][]string            `json:"providers"` // their commands, by scheme
	MetricsOpen     bool                           `json:"metricsOpen"`
	TrustedInput    bool                           `json:"trustedInput"`
	NoPageTools     bool                           `json:"noPageTools"` // webmcp.enabled is false
	Plugins         map[string]PluginRights        `json:"plugins"`     // those with settings of their own
	Shipped         []string                       `json:"shipped"`     // plugins of the program; nil: not written down

	ModelProviders map[string]string `json:"modelProviders"` // where pages may be sent to, in words, by id
	Workers        map[string]string `json:"workers"`        // programs that may run, in words, by id
	CostPerDay     float64           `json:"costPerDay"`     // US dollars; 0: no bound
}

// PluginRights are those of one plugin.
type PluginRights struct {
	Off         bool     `json:"off"`
	URLPatterns []string `json:"urlPatterns"`
}

// off reports whether a plugin was switched off; rights that were kept by an earlier version do not name every one.
func (r *Rights) off(name string) bool {
	p, known := r.Plugins[name]
	return p.Off || !known && name == OptIn
}

// Rules are the permissions confirmed last and those after them.
func (r *Rights) Rules() []map[string]map[string]string {
	return append([]map[string]map[string]string{r.Permissions}, r.Unconfirmed...)
}

// RightsOf takes the rights out of a configuration.
func RightsOf(c *Config) Rights {
	r := Rights{
		Permissions: c.Permissions, Unreviewed: !c.Review.Required, ExtensionIDs: c.ExtensionIDs,
		AllowedOrigins: c.AllowedOrigins,
		Ownership:      c.Tabs.Ownership, OwnedBy: c.Tabs.OwnedBy, ReadPatterns: c.Resources.Tabs.URLPatterns,
		ExcludePatterns: c.Resources.Tabs.ExcludePatterns,
		FileRoots:       c.Resources.File.Roots, HTTPSHosts: c.Resources.HTTPS.Hosts, GitHosts: c.Resources.Git.Hosts,
		MetricsOpen: c.Metrics.Open, TrustedInput: c.TrustedInput, NoPageTools: !c.WebMCP.Enabled,
		Providers: map[string][]string{}, Plugins: map[string]PluginRights{},
		ModelProviders: map[string]string{}, Workers: map[string]string{}, CostPerDay: c.Delegation.CostPerDayUSD,
	}
	for id, p := range c.Providers {
		r.ModelProviders[id] = p.words()
	}
	for id, w := range c.Workers {
		r.Workers[id] = w.words()
	}
	for scheme, p := range c.Resources.Providers {
		r.Providers[scheme] = p.Command
	}
	for name, p := range c.Plugins {
		r.Plugins[name] = PluginRights{Off: !p.Enabled, URLPatterns: p.URLPatterns}
	}
	if _, set := r.Plugins[OptIn]; !set {
		r.Plugins[OptIn] = PluginRights{Off: true}
	}
	return r
}

// rights are the rows by which two of them are compared, but for permissions, whose meaning is not in this package.
var rights = []right{
	{"review.required", func(before, after *Rights) (string, string) {
		return grown(before.Unreviewed, after.Unreviewed, map[bool]string{false: "true", true: "false"})
	}, func(before, after *Rights) { after.Unreviewed = before.Unreviewed && after.Unreviewed }},
	{"metrics.open", func(before, after *Rights) (string, string) {
		return grown(before.MetricsOpen, after.MetricsOpen, map[bool]string{false: "false", true: "true"})
	}, func(before, after *Rights) { after.MetricsOpen = before.MetricsOpen && after.MetricsOpen }},
	{"trustedInput", func(before, after *Rights) (string, string) {
		return grown(before.TrustedInput, after.TrustedInput, map[bool]string{false: "false", true: "true"})
	}, func(before, after *Rights) { after.TrustedInput = before.TrustedInput && after.TrustedInput }},
	{"webmcp.enabled", func(before, after *Rights) (string, string) {
		return grown(!before.NoPageTools, !after.NoPageTools, map[bool]string{false: "false", true: "true"})
	}, func(before, after *Rights) { after.NoPageTools = before.NoPageTools || after.NoPageTools }},
	longer("extensionIds", func(r *Rights) *[]string { return &r.ExtensionIDs }),
	longer("allowedOrigins", func(r *Rights) *[]string { return &r.AllowedOrigins }),
	laxer("tabs.ownership", func(r *Rights) *string { return &r.Ownership }, "all", "writes", "off"),
	laxer("tabs.ownedBy", func(r *Rights) *string { return &r.OwnedBy }, "session", "client"),
	longer("resources.tabs.urlPatterns", func(r *Rights) *[]string { return &r.ReadPatterns }),
	{"resources.tabs.excludePatterns", func(before, after *Rights) (string, string) {
		if len(without(before.ExcludePatterns, after.ExcludePatterns)) == 0 {
			return "", ""
		}
		return listText(before.ExcludePatterns), listText(after.ExcludePatterns)
	}, func(before, after *Rights) {
		after.ExcludePatterns = append(slices.Clone(after.ExcludePatterns),
			without(before.ExcludePatterns, after.ExcludePatterns)...)
	}},
	longer("resources.file.roots", func(r *Rights) *[]string { return &r.FileRoots }),
	longer("resources.https.hosts", func(r *Rights) *[]string { return &r.HTTPSHosts }),
	longer("resources.git.hosts", func(r *Rights) *[]string { return &r.GitHosts }),
	{"delegation.costPerDayUsd", func(before, after *Rights) (string, string) {
		if before.CostPerDay == 0 || after.CostPerDay != 0 && after.CostPerDay <= before.CostPerDay {
			return "", "" // a database that knows nothing of it says 0, too
		}
		return fmt.Sprint(before.CostPerDay), fmt.Sprint(after.CostPerDay)
	}, func(before, after *Rights) {
		if before.CostPerDay != 0 && (after.CostPerDay == 0 || after.CostPerDay > before.CostPerDay) {
			after.CostPerDay = before.CostPerDay
		}
	}},
}

// right is one row: what it was and is, both empty when it grants no more than before; and how it is bounded.
type right struct {
	key   string
	grows func(before, after *Rights) (was, is string)
	bound func(before, after *Rights)
}

func grown(before, after bool, text map[bool]string) (was, is string) {
	if before || !after {
		return "", ""
	}
	return text[before], text[after]
}

// longer is a list that grants more when something is added to it.
func longer(key string, of func(*Rights) *[]string) right {
	return right{key, func(before, after *Rights) (string, string) {
		if len(without(*of(after), *of(before))) == 0 {
			return "", ""
		}
		return listText(*of(before)), listText(*of(after))
	}, func(before, after *Rights) { *of(after) = common(*of(before), *of(after)) }}
}

// laxer is a choice whose values are given from the strictest to the laxest.
func laxer(key string, of func(*Rights) *string, strictFirst ...string) right {
	more := func(before, after *Rights) bool {
		return slices.Index(strictFirst, *of(before)) >= 0 &&
			slices.Index(strictFirst, *of(after)) > slices.Index(strictFirst, *of(before))
	}
	return right{key, func(before, after *Rights) (string, string) {
		if !more(before, after) {
			return "", ""
		}
		return *of(before), *of(after)
	}, func(before, after *Rights) {
		if more(before, after) {
			*of(after) = *of(before)
		}
	}}
}

func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(one string) bool { return slices.Contains(other, one) })
}

func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(b), func(one string) bool { return !slices.Contains(a, one) })
}

func listText(list []string) string { return cmp.Or(strings.Join(list, ", "), "none") }

// Grown lists what these rights, permissions aside, grant that earlier ones did not.
func (r Rights) Grown(before Rights) (list []call.Difference) {
	for _, one := range rights {
		if was, is := one.grows(&before, &r); is != "" {
			list = append(list, call.Difference{What: one.key, Before: was, After: is})
		}
	}
	for _, scheme := range slices.Sorted(maps.Keys(r.Providers)) {
		if was, is := before.Providers[scheme], r.Providers[scheme]; !slices.Equal(was, is) {
			list = append(list, call.Difference{What: "resources.providers." + scheme, Before: listText(was),
				After: listText(is)})
		}
	}
	list = append(list, otherPrograms("providers.", before.ModelProviders, r.ModelProviders)...)
	list = append(list, otherPrograms("workers.", before.Workers, r.Workers)...)
	for _, name := range pluginNames(before, r) {
		if before.off(name) && !r.off(name) {
			list = append(list, call.Difference{What: "plugins." + name + ".enabled", Before: "false", After: "true"})
		}
	}
	for _, name := range r.added(before) {
		list = append(list, call.Difference{What: "plugins." + name + ".enabled", Before: "not there", After: "true"})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Plugins)) {
		if was, is := before.Plugins[name].URLPatterns, r.Plugins[name].URLPatterns; len(without(is, was)) > 0 {
			list = append(list, call.Difference{What: "plugins." + name + ".urlPatterns", Before: listText(was),
				After: listText(is)})
		}
	}
	return list
}

// added are the plugins of the program that an earlier one did not have, and that are on.
func (r *Rights) added(before Rights) (names []string) {
	for _, name := range r.Shipped {
		if _, known := before.Plugins[name]; before.Shipped != nil && !known && !r.off(name) &&
			!slices.Contains(before.Shipped, name) {
			names = append(names, name)
		}
	}
	return names
}

// Without are these rights with the plugins off that a later program has and theirs had not.
func (r *Rights) Without(shipped []string) Rights {
	later, bounded := Rights{Shipped: shipped}, *r
	bounded.Plugins = maps.Clone(r.Plugins)
	if bounded.Plugins == nil {
		bounded.Plugins = map[string]PluginRights{}
	}
	for _, name := range later.added(*r) {
		bounded.Plugins[name] = PluginRights{Off: true}
	}
	return bounded
}

// pluginNames are those of which one of two rights says something, sorted.
func pluginNames(a, b Rights) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a.Plugins)), maps.Keys(b.Plugins))
	slices.Sort(names)
	return slices.Compact(names)
}

// otherPrograms lists what is new or another one than before.
func otherPrograms(group string, before, after map[string]string) (list []call.Difference) {
	for _, id := range slices.Sorted(maps.Keys(after)) {
		if was, is := before[id], after[id]; was != is {
			list = append(list, call.Difference{What: group + id, Before: cmp.Or(was, "none"), After: is})
		}
	}
	return list
}

// unchanged leaves of some things those out that are new or others than before.
func unchanged[T interface{ words() string }](things map[string]T, before map[string]string) map[string]T {
	things = maps.Clone(things)
	maps.DeleteFunc(things, func(id string, one T) bool { return before[id] != one.words() })
	return things
}

// Within bounds the rights of a configuration, permissions aside, by earlier ones.
func (c Config) Within(before Rights) Config {
	r := RightsOf(&c)
	for _, one := range rights {
		one.bound(&before, &r)
	}
	c.Review.Required, c.ExtensionIDs, c.AllowedOrigins = !r.Unreviewed, r.ExtensionIDs, r.AllowedOrigins
	c.Tabs.Ownership, c.Tabs.OwnedBy, c.Metrics.Open = r.Ownership, r.OwnedBy, r.MetricsOpen
	c.TrustedInput = r.TrustedInput
	c.WebMCP.Enabled = !r.NoPageTools
	c.Resources.Tabs.URLPatterns, c.Resources.Tabs.ExcludePatterns = r.ReadPatterns, r.ExcludePatterns
	c.Resources.File.Roots, c.Resources.HTTPS.Hosts, c.Resources.Git.Hosts = r.FileRoots, r.HTTPSHosts, r.GitHosts
	c.Resources.Providers = maps.Clone(c.Resources.Providers)
	maps.DeleteFunc(c.Resources.Providers, func(scheme string,
		p Program) bool {
		return !slices.Equal(before.Providers[scheme], p.Command)
	})
	c.Providers, c.Workers = unchanged(c.Providers, before.ModelProviders), unchanged(c.Workers, before.Workers)
	c.Delegation.CostPerDayUSD = r.CostPerDay
	plugins := maps.Clone(c.Plugins)
	for _, name := range pluginNames(before, r) {
		p := c.Plugin(name)
		if before.off(name) && p.Enabled {
			p.Enabled = false
			plugins = with(plugins, name, p)
		}
	}
	for name, p := range plugins {
		p.URLPatterns = common(before.Plugins[name].URLPatterns, p.URLPatterns)
		plugins[name] = p
	}
	c.Plugins = plugins
	return c
}

func with(plugins map[string]Plugin, name string, p Plugin) map[string]Plugin {
	if plugins == nil {
		plugins = map[string]Plugin{}
	}
	plugins[name] = p
	return plugins
}

// Loosened lists how permissions differ from earlier ones, but for what only forbids more: by target and client.
func Loosened(before, after map[string]map[string]string) (list []call.Difference) {
	rank := map[string]int{"off": 0, "ask": 1, "auto": 2}
	type key struct{ target, client string }
	keys := map[key]bool{}
	for _, one := range []map[string]map[string]string{before, after} {
		for target, modes := range one {
			for client := range modes {
				keys[key{target, client}] = true
			}
		}
	}
	sorted := slices.SortedFunc(maps.Keys(keys),
		func(a, b key) int { return cmp.Or(cmp.Compare(a.target, b.target), cmp.Compare(a.client, b.client)) })
	for _, k := range sorted {
		was, is := before[k.target][k.client], after[k.target][k.client]
		if was == is || is == "off" || was == "auto" || was != "" && is != "" && rank[is] < rank[was] {
			continue
		}
		what := "permissions." + k.target
		if k.client != EveryClient {
			what += " for " + k.client
		}
		list = append(list, call.Difference{What: what, Before: cmp.Or(was, "no rule"),
			After: cmp.Or(is, "no rule")})
	}
	return list
}
