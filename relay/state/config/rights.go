package config

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/plugin"
)

// Rights are the settings that say what agents, plugins and programs may do, as far as more of them is a matter for the
// person. Their form is kept in the database: what is not in an older one has its zero value.
type Rights struct {
	Permissions map[string]map[string]string `json:"permissions"` // those confirmed last
	// later ones, which allow more than was confirmed: of what all of them say, the strictest is in effect
	Unconfirmed []map[string]map[string]string `json:"unconfirmed,omitempty"`
	Plugins     map[string]PluginRights        `json:"plugins"` // those with settings of their own
	Shipped     []string                       `json:"shipped"` // plugins of the program; nil: not written down

	// Settings are the other ones by name, those of capabilities that this program does not have included. In the
	// database they stand beside the fields above.
	Settings map[string]json.RawMessage `json:"-"`

	managed *Managed // what it sets is not the person's to allow
}

// plainRights are the fields that have names of their own.
type plainRights Rights

// MarshalJSON writes all of them into one object.
func (r Rights) MarshalJSON() ([]byte, error) {
	own, err := json.Marshal(plainRights(r))
	all := maps.Clone(r.Settings)
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	if err == nil {
		err = json.Unmarshal(own, &all)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// UnmarshalJSON reads them back.
func (r *Rights) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, (*plainRights)(r)); err != nil {
		return err
	}
	r.Settings = nil
	if err := json.Unmarshal(text, &r.Settings); err != nil {
		return err
	}
	maps.DeleteFunc(r.Settings, func(name string, _ json.RawMessage) bool {
		return slices.Contains([]string{"permissions", "unconfirmed", "plugins", "shipped"}, name)
	})
	return nil
}

// With are these rights with another one.
func (r Rights) With(name string, value any) Rights {
	r.Settings = maps.Clone(r.Settings)
	if r.Settings == nil {
		r.Settings = map[string]json.RawMessage{}
	}
	r.Settings[name] = rawjson.MustEncode(value)
	return r
}

// PluginRights are those of one plugin.
type PluginRights struct {
	Off         bool     `json:"off"`
	URLPatterns []string `json:"urlPatterns"`
	// match patterns of the sites that its settings name, by setting; nil: not written down
	Sites map[string][]string `json:"sites"`
}

// switchedOff are the rights of a plugin that is off, and for which nothing is configured.
func switchedOff() PluginRights { return PluginRights{Off: true, Sites: map[string][]string{}} }

// off reports whether a plugin was switched off; rights that were kept by an earlier version do not name every one.
func (r *Rights) off(name string) bool {
	p, known := r.Plugins[name]
	return p.Off || !known && name == plugin.OptIn
}

// Rules are the permissions confirmed last and those after them.
func (r *Rights) Rules() []map[string]map[string]string {
	return append([]map[string]map[string]string{r.Permissions}, r.Unconfirmed...)
}

// RightsOf takes the rights out of a configuration.
func RightsOf(c *Config) Rights {
	r := Rights{Permissions: c.Permissions, Plugins: map[string]PluginRights{}, Settings: map[string]json.RawMessage{},
		managed: c.Managed}
	for _, one := range rights {
		r.Settings[one.name] = one.of(c)
	}
	for name, p := range c.Plugins {
		r.Plugins[name] = PluginRights{!p.Enabled, p.URLPatterns, plugin.Sites(p.Settings)}
	}
	if _, set := r.Plugins[plugin.OptIn]; !set {
		r.Plugins[plugin.OptIn] = switchedOff()
	}
	return r
}

// rights are those of settings, but for permissions, whose meaning is not in this package. Sections add theirs.
var rights = []Right[Config]{
	Switch("unreviewed", "review.required", false, true, func(c *Config) *bool { return &c.Review.Required }),
	Switch("metricsOpen", "metrics.open", true, false, func(c *Config) *bool { return &c.Metrics.Open }),
	Switch("trustedInput", "trustedInput", true, false, func(c *Config) *bool { return &c.TrustedInput }),
	Longer("extensionIds", "extensionIds", func(c *Config) *[]string { return &c.ExtensionIDs }),
	Longer("allowedOrigins", "allowedOrigins", func(c *Config) *[]string { return &c.AllowedOrigins }),
	Elsewhere("remoteListen", "remote.listen", func(c *Config) *string { return &c.Remote.Listen }),
	Laxer("ownership", "tabs.ownership", func(c *Config) *string { return &c.Tabs.Ownership }, "all", "writes", "off"),
	Laxer("ownedBy", "tabs.ownedBy", func(c *Config) *string { return &c.Tabs.OwnedBy }, "session", "client"),
	NewRight("ownershipIdleMs", "tabs.ownershipIdleMs", func(c Config) int64 {
		return c.Tabs.OwnershipIdle.Milliseconds()
	}, func(before, after int64) (was, is string) {
		if after >= before { // also where an earlier version has not kept it
			return "", ""
		}
		return strconv.FormatInt(before, 10), strconv.FormatInt(after, 10)
	}, func(c *Config, before int64) {
		c.Tabs.OwnershipIdle = max(c.Tabs.OwnershipIdle, time.Duration(before)*time.Millisecond)
	}),
	Longer("readPatterns", "tabs.urlPatterns", func(c *Config) *[]string { return &c.Tabs.URLPatterns }),
	shorter("excludePatterns", "tabs.excludePatterns", func(c *Config) *[]string { return &c.Tabs.ExcludePatterns }),
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
		grown := one.grown(before.Settings[one.name], r.Settings[one.name])
		fixed := func(d call.Difference) bool { return r.managed.Fixes(d.What) }
		list = append(list, slices.DeleteFunc(grown, fixed)...)
	}
	for _, name := range pluginNames(before, r) {
		if before.off(name) && !r.off(name) && !r.managed.Fixes("plugins."+name+".enabled") {
			list = append(list, call.Difference{What: "plugins." + name + ".enabled", Before: "false", After: "true"})
		}
	}
	for _, name := range r.added(before) {
		list = append(list, call.Difference{What: "plugins." + name + ".enabled", Before: "not there", After: "true"})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Plugins)) {
		was, is := before.Plugins[name].URLPatterns, r.Plugins[name].URLPatterns
		if len(without(is, was)) > 0 && !r.managed.Fixes("plugins."+name+".urlPatterns") {
			list = append(list, call.Difference{What: "plugins." + name + ".urlPatterns", Before: listText(was),
				After: listText(is)})
		}
		list = append(list, r.grownSites(before, name)...)
	}
	return list
}

// grownSites are the sites that settings of a plugin name and did not.
func (r *Rights) grownSites(before Rights, name string) (list []call.Difference) {
	sites := r.Plugins[name].Sites
	for _, setting := range slices.Sorted(maps.Keys(sites)) {
		key := "plugins." + name + ".settings." + setting
		was, is := before.Plugins[name].Sites[setting], sites[setting]
		if len(without(is, was)) > 0 && !r.managed.Fixes(key) {
			list = append(list, call.Difference{What: key, Before: listText(was), After: listText(is)})
		}
	}
	return list
}

// WithSites are these rights, in which settings of a plugin may name other sites than before. Settings that are not
// among them may name what they did.
func (r Rights) WithSites(name string, sites map[string][]string) Rights {
	r.Plugins = maps.Clone(r.Plugins)
	if r.Plugins == nil {
		r.Plugins = map[string]PluginRights{}
	}
	p := r.Plugins[name]
	if p.Sites = maps.Clone(p.Sites); p.Sites == nil {
		p.Sites = map[string][]string{}
	}
	maps.Copy(p.Sites, sites)
	r.Plugins[name] = p
	return r
}

// Completed are rights as an earlier program has written them down, with the sites that the settings of a configuration
// name: it put these into effect without a question.
func (r Rights) Completed(c *Config) Rights {
	for name, p := range r.Plugins {
		if p.Sites == nil {
			r = r.WithSites(name, plugin.Sites(c.Plugins[name].Settings))
		}
	}
	return r
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
		bounded.Plugins[name] = switchedOff()
	}
	return bounded
}

// pluginNames are those of which one of two rights says something, sorted.
func pluginNames(a, b Rights) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a.Plugins)), maps.Keys(b.Plugins))
	slices.Sort(names)
	return slices.Compact(names)
}

// Within bounds the rights of a configuration, permissions aside, by earlier ones. What the policy sets stays.
func (c Config) Within(before Rights) Config {
	for _, s := range sections {
		s.own(&c)
	}
	for _, one := range rights {
		if !slices.ContainsFunc(one.Keys, c.Managed.Fixes) {
			one.bound(&c, before.Settings[one.name])
		}
	}
	r := RightsOf(&c)
	plugins := maps.Clone(c.Plugins)
	for _, name := range pluginNames(before, r) {
		p := c.Plugin(name)
		if before.off(name) && p.Enabled && !c.Managed.Fixes("plugins."+name+".enabled") {
			p.Enabled = false
			plugins = with(plugins, name, p)
		}
	}
	for name, p := range plugins {
		if !c.Managed.Fixes("plugins." + name + ".urlPatterns") {
			p.URLPatterns = common(before.Plugins[name].URLPatterns, p.URLPatterns)
		}
		if !c.Managed.Fixes("plugins." + name + ".settings") {
			bounded := plugin.WithinSites(p.Settings, before.Plugins[name].Sites)
			p.Settings, p.Held = bounded, missing(p.Settings, bounded)
		}
		plugins[name] = p
	}
	c.Plugins = plugins
	return c
}

// missing are the names of members that the second object has not, in the order of the first.
func missing(all, some json.RawMessage) (names []string) {
	members, _ := rawjson.Members(all)
	left, _ := rawjson.Members(some)
	for _, m := range members {
		if rawjson.Get(left, m.Name) == nil && !slices.Contains(names, m.Name) {
			names = append(names, m.Name)
		}
	}
	return names
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
