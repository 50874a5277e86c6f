package catalog

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
)

// SettingsView has the settings of an accepted plugin, in the order of its manifest.
type SettingsView struct {
	Plugin   string        `json:"plugin"`
	Settings []SettingView `json:"settings"`
	Patterns []string      `json:"patterns"`          // match patterns of the pages on which it works now
	Problem  string        `json:"problem,omitempty"` // why its settings cannot be shown
}

// SettingView is one setting. The value of a secret is never in it.
type SettingView struct {
	Name        string          `json:"name"`
	Type        string          `json:"type"` // url, string, number, boolean or select; another one cannot be set
	Label       string          `json:"label"`
	Description string          `json:"description,omitempty"`
	Placeholder string          `json:"placeholder,omitempty"`
	Required    bool            `json:"required"`
	Secret      bool            `json:"secret"`
	Options     []string        `json:"options,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	Set         bool            `json:"set"`             // by the person
	Value       json.RawMessage `json:"value,omitempty"` // what they set
	Problem     string          `json:"problem,omitempty"`
}

// SettingsPlan is what new values for the settings of a plugin would change.
type SettingsPlan struct {
	Problems map[string]string // by setting; nothing is written when there is one
	Before   []string          // patterns of the pages on which the plugin works
	After    []string
	plugin   string
	changes  []config.Edit
	sites    map[string][]string // that the changed settings name
	named    []call.Difference   // of these, the settings that name other sites on which the plugin does not work
}

// Names are the changed settings that name sites which they did not name, where that adds no page. A later version of
// the plugin may take such a value for the address of its web app.
func (p *SettingsPlan) Names() []call.Difference { return p.named }

// Adds returns the patterns in After that are not in Before.
func (p *SettingsPlan) Adds() []string {
	return slices.DeleteFunc(slices.Clone(p.After), func(one string) bool { return slices.Contains(p.Before, one) })
}

// Settings returns the settings of a plugin. It fails for one that waits for a review: labels and descriptions are its
// author's, and nobody has accepted them.
func (c *Catalog) Settings(name string) (SettingsView, *fault.Error) {
	now := c.current.Load()
	p, failure := now.runnable(name)
	if failure != nil {
		return SettingsView{}, failure
	}
	given := now.config.Plugin(name)
	view := SettingsView{Plugin: name, Settings: []SettingView{}, Patterns: nonNil(patternsFor(p, given))}
	declared, err := plugin.Settings(p.Manifest.ConfigSchema)
	if err != nil {
		view.Problem = "The plugin declares its settings in a form that tabrelay does not know"
		return view, nil
	}
	values, _ := rawjson.Members(given.Settings)
	for _, member := range settingNames(p) {
		s := declared[member]
		one := SettingView{
			Name: member, Type: review.Legible(s.Type), Label: review.Legible(s.Label),
			Description: review.Legible(s.Description), Placeholder: review.Legible(s.Placeholder),
			Required: s.Required, Secret: s.IsSecret(), Options: s.Options, Default: s.Default,
		}
		if value := rawjson.Get(values, member); value != nil {
			one.Set = true
			one.Problem = checkSetting(p, member, s, value)
			if !one.Secret {
				one.Value = value
			}
		} else if slices.Contains(given.Held, member) {
			one.Problem = "what is in config.json for it waits for you: " + registry.HeldHint
		}
		view.Settings = append(view.Settings, one)
	}
	return view, nil
}

// PlanSettings checks new values for settings of a plugin, by name; null removes a value. Other settings stay.
func (c *Catalog) PlanSettings(name string, given map[string]json.RawMessage) (plan SettingsPlan,
	failure *fault.Error) {
	now := c.current.Load()
	p, failure := now.runnable(name)
	if failure != nil {
		return plan, failure
	}
	declared, err := plugin.Settings(p.Manifest.ConfigSchema)
	if err != nil {
		declared = nil
	}
	before := now.config.Plugin(name)
	after := before
	plan.Problems, plan.plugin, plan.sites = map[string]string{}, name, map[string][]string{}
	values, _ := rawjson.Members(before.Settings)
	for _, key := range slices.Sorted(maps.Keys(given)) {
		s, known := declared[key]
		value := given[key]
		edit := config.Edit{Path: []string{"plugins", name, "settings", key}, Value: value}
		values = slices.DeleteFunc(values, func(m rawjson.Member) bool { return m.Name == key })
		switch {
		case !known:
			plan.Problems[key] = "there is no such setting"
		case string(value) == "null":
			edit.Value = nil
		default:
			if problem := checkSetting(p, key, s, value); problem != "" {
				plan.Problems[key] = problem
			}
			values = append(values, member(key, value))
		}
		plan.changes = append(plan.changes, edit)
		plan.sites[key] = plugin.Sites(rawjson.Join([]rawjson.Member{member(key, value)}))[key]
	}
	for key, s := range declared {
		_, taken := given[key]
		isHeld := !taken && slices.Contains(before.Held, key) // in config.json it is
		if s.Required && s.Default == nil && rawjson.Get(values, key) == nil && !isHeld && plan.Problems[key] == "" {
			plan.Problems[key] = "it is required"
		}
	}
	after.Settings = rawjson.Join(values)
	plan.Before, plan.After = patternsFor(p, before), patternsFor(p, after)
	plan.name(plugin.Sites(before.Settings))
	return plan, nil
}

// name notes the sites that settings name now, did not, and that are no page on which the plugin works.
func (p *SettingsPlan) name(was map[string][]string) {
	for _, key := range slices.Sorted(maps.Keys(p.sites)) {
		known := func(site string) bool { return slices.Contains(was[key], site) || slices.Contains(p.After, site) }
		if now := p.sites[key]; slices.ContainsFunc(now, func(site string) bool { return !known(site) }) {
			p.named = append(p.named, call.Difference{
				What:   "sites that the setting " + key + " of " + p.plugin + " names",
				Before: cmp.Or(strings.Join(was[key], ", "), "none"), After: strings.Join(now, ", ")})
		}
	}
}

// SetSettings writes a plan into config.json, and reloads. A person has confirmed what it adds.
func (c *Catalog) SetSettings(plan SettingsPlan) (failure *fault.Error) {
	if c.changes.Do(func() { failure = c.setSettings(plan) }) != nil {
		return stopping()
	}
	return failure
}

func (c *Catalog) setSettings(plan SettingsPlan) *fault.Error {
	if err := c.options.Home.Create(); err != nil {
		return fault.New(fault.ConfigError, "The settings were not saved: "+err.Error())
	}
	if err := config.Apply(c.options.Home, plan.changes...); err != nil {
		if managed, ok := errors.AsType[*config.ManagedError](err); ok {
			return fault.New(fault.PermissionDenied, managed.Error(), fault.WithHint(managed.Hint()))
		}
		return fault.New(fault.ConfigError, "The settings were not saved: "+err.Error(),
			fault.WithHint("Correct config.json first; `tabrelay doctor` says what is wrong with it."))
	}
	if err := c.options.Policy.AllowSites(plan.plugin, plan.sites); err != nil {
		return fault.New(fault.ConfigError, "The settings are saved, and wait for you: "+err.Error(),
			fault.WithHint("Answer in the side panel, or run: tabrelay config apply"))
	}
	_, failure := c.reload()
	return failure
}

// runnable returns the accepted or shipped plugin of a name.
func (s *state) runnable(name string) (*plugin.Plugin, *fault.Error) {
	i := slices.IndexFunc(s.all, func(p plugin.Plugin) bool { return p.Manifest.Name == name })
	if i >= 0 {
		return &s.all[i], nil
	}
	if s.onDisk[name] != nil {
		return nil, fault.New(fault.PluginNotReviewed, "The plugin "+name+" has no settings until it is reviewed",
			fault.WithHint("Review it first."))
	}
	return nil, fault.New(fault.ResourceNotFound, "There is no plugin "+fault.Excerpt(name)+" that can run",
		fault.WithHint("`tabrelay plugin list` lists the plugins."))
}

// lacksSettings reports whether a plugin lacks a required setting, or any page to work on.
func (s *state) lacksSettings(p *plugin.Plugin) bool {
	given := s.config.Plugin(p.Manifest.Name)
	values, _ := rawjson.Members(given.Settings)
	declared, _ := plugin.Settings(p.Manifest.ConfigSchema) // a schema that cannot be read requires nothing
	for name, one := range declared {
		if one.Required && one.Default == nil && rawjson.Get(values, name) == nil {
			return true
		}
	}
	return len(patternsFor(p, given)) == 0
}

func patternsFor(p *plugin.Plugin, given config.Plugin) []string {
	return registry.Reach(p, registry.Configured{URLPatterns: given.URLPatterns, Settings: given.Settings,
		Held: given.Held})
}

// settingNames returns the names of the settings of a plugin, in the order of its manifest.
func settingNames(p *plugin.Plugin) (names []string) {
	declared, _ := rawjson.WithoutPrototypes(p.Manifest.ConfigSchema)
	for m := range rawjson.EachMember(declared) {
		if !slices.Contains(names, m.Name) {
			names = append(names, m.Name)
		}
	}
	return names
}

// checkSetting says what is wrong with a value, and leaves the value of a secret out.
func checkSetting(p *plugin.Plugin, key string, s plugin.Setting, value json.RawMessage) string {
	problem := registry.CheckSetting(p.Manifest.ConfigSchema, key, value)
	if s.IsSecret() {
		problem, _, _ = strings.Cut(problem, ", but got")
	}
	return review.Legible(problem)
}

func member(key string, value json.RawMessage) rawjson.Member {
	quoted, _ := json.Marshal(key) // a string always encodes
	return rawjson.Member{Name: key, Key: quoted, Value: value}
}
