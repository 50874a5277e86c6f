package catalog

import (
	"cmp"
	"slices"
	"strings"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/lib/match"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// State is the state of a plugin. When several apply, it is the first in the order below.
type State string

// The states of a plugin.
const (
	Unreviewed State = "unreviewed" // no person accepted its content
	Broken     State = "broken"     // it has a problem that a person has to solve
	Off        State = "off"        // switched off, not set up, or every tool of it is off
	NotOpen    State = "not_open"   // no tab shows its web app
	SignedOut  State = "signed_out" // its last call failed because nobody is signed in to the web app
	Ready      State = "ready"
)

// View is one plugin as a person sees it.
type View struct {
	Name        string     `json:"name"`
	Title       string     `json:"title"`
	Version     string     `json:"version"`
	Description string     `json:"description"`
	Shipped     bool       `json:"shipped"`
	Added       bool       `json:"added"`    // by the person, who can remove it
	Folder      string     `json:"folder"`   // of theirs, which stays; empty for a package
	Settings    int        `json:"settings"` // number of settings
	Unset       bool       `json:"unset"`    // it does not work until a setting is made
	Hash        string     `json:"hash"`
	State       State      `json:"state"`
	Reason      string     `json:"reason"` // why it is not ready, and what to do; empty when it is
	Homepage    string     `json:"homepage"`
	Patterns    []string   `json:"patterns"`
	Tools       []ToolView `json:"tools"`
}

// ToolView is one tool of a plugin.
type ToolView struct {
	Name        string    `json:"name"` // with the plugin's, as agents see it
	Title       string    `json:"title"`
	ReadOnly    bool      `json:"readOnly"`
	Destructive bool      `json:"destructive"` // declared with destructiveHint
	Mode        call.Mode `json:"mode"`        // off, ask or auto, for a client that no rule names
	Why         string    `json:"why"`         // why it has this mode: a clause that follows "because"
}

// List returns all plugins, sorted by name, with their state in a browser profile; an empty id means any profile.
func (c *Catalog) List(profileID string) []View {
	now, snapshot := c.current.Load(), c.options.Tools.Snapshot()
	problems := map[string][]string{}
	for _, p := range c.Problems() {
		if p.Plugin != "" {
			problems[p.Plugin] = append(problems[p.Plugin], p.Reason)
		}
	}
	views := c.published(snapshot, profileID)
	for i := range now.all {
		p := &now.all[i]
		if _, published := views[p.Manifest.Name]; !published {
			views[p.Manifest.Name] = c.unpublished(p, Off, now.whyUnpublished(p))
		}
	}
	for name, f := range now.onDisk {
		if f.serving == f.plugin.Hash {
			continue
		}
		v, published := views[name]
		if published {
			v.Reason = "a new version of it waits for your review; until then the accepted one runs"
		} else {
			v = c.unpublished(f.plugin, Unreviewed, f.withholding().Why)
		}
		views[name] = v
	}
	list := []View{}
	for name, v := range views {
		if reasons := problems[name]; reasons != nil && v.State != Unreviewed {
			v.State, v.Reason = Broken, strings.Join(reasons, "; ")
		}
		delete(problems, name)
		list = append(list, now.withPersonsPart(v))
	}
	for name, reasons := range problems { // plugins without a readable manifest
		list = append(list, now.withPersonsPart(View{
			Name: name, Title: name, State: Broken, Reason: strings.Join(reasons, "; "), Patterns: []string{},
			Tools: []ToolView{},
		}))
	}
	slices.SortFunc(list, func(a, b View) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// withPersonsPart fills in whether the person added a plugin, and which settings it has.
func (s *state) withPersonsPart(v View) View {
	if i := slices.IndexFunc(s.folders, func(f pluginFolder) bool { return f.plugin == v.Name }); i >= 0 {
		v.Added = true
		if !s.folders[i].installed {
			v.Folder = review.Legible(s.folders[i].dir)
		}
	}
	if p, failure := s.runnable(v.Name); failure == nil {
		v.Settings = len(settingNames(p))
		v.Unset = v.Settings > 0 && s.lacksSettings(p)
	}
	return v
}

// published returns the plugins that agents get, by name.
func (c *Catalog) published(snapshot *registry.Snapshot, profileID string) map[string]View {
	tools := map[string][]*registry.Tool{}
	for _, t := range snapshot.Tools {
		tools[t.Group] = append(tools[t.Group], t)
	}
	views := map[string]View{}
	tabs := c.options.Browsers.Tabs()
	for _, site := range snapshot.Sites {
		v := viewOf(site.Plugin)
		v.Homepage, v.Patterns = site.Homepage, nonNil(site.Matches)
		for _, t := range tools[v.Name] {
			v.Tools = append(v.Tools, c.toolView(t))
		}
		v.State, v.Reason = c.stateOf(site, v.Tools, tabs, profileID)
		views[v.Name] = v
	}
	return views
}

func viewOf(p *plugin.Plugin) View {
	m := &p.Manifest
	return View{
		Name: m.Name, Title: review.Legible(cmp.Or(m.DisplayName, m.Name)), Version: review.Legible(m.Version),
		Description: review.Legible(m.Description), Shipped: p.Shipped, Hash: p.Hash,
		Homepage: m.Homepage, Patterns: nonNil(m.URLPatterns), Tools: []ToolView{},
	}
}

func (c *Catalog) toolView(t *registry.Tool) ToolView {
	hint := t.Spec.Annotations.DestructiveHint
	v := ToolView{
		Name: t.Name, Title: review.Legible(cmp.Or(t.Spec.DisplayName, t.Spec.Name)), ReadOnly: t.ReadOnly,
		Destructive: !t.ReadOnly && hint != nil && *hint,
	}
	v.Mode, v.Why = c.options.Mode(t)
	return v
}

// unpublished returns the view of a plugin that agents do not get.
func (c *Catalog) unpublished(p *plugin.Plugin, state State, why string) View {
	v := viewOf(p)
	v.State, v.Reason = state, why
	for _, spec := range p.Manifest.Tools {
		v.Tools = append(v.Tools, c.toolView(&registry.Tool{
			Name: plugin.FullName(p.Manifest.Name, spec.Name), Plugin: p, Spec: spec,
			ReadOnly: spec.Annotations.ReadOnlyHint != nil && *spec.Annotations.ReadOnlyHint,
		}))
	}
	return v
}

// whyUnpublished says why an accepted plugin is not offered.
func (s *state) whyUnpublished(p *plugin.Plugin) string {
	name := p.Manifest.Name
	if m := s.config.Managed; !s.permits(p, m) {
		return "it is not one of the plugins allowed by " + m.Name() + "; " + m.Ask()
	}
	switch _, said := s.config.Plugins[name]; {
	case !said && !s.config.Plugin(name).Enabled:
		return "off until you switch it on: tabrelay config set plugins." + name + ".enabled true"
	case !s.config.Plugin(name).Enabled:
		return "switched off in config.json: plugins." + name + ".enabled"
	}
	return "not set up: say where the web app is, with tabrelay plugin configure " + name + " KEY=VALUE"
}

// stateOf returns the state of a published plugin, and the reason for it.
func (c *Catalog) stateOf(site *registry.Site, tools []ToolView, tabs []hub.Tab, profileID string) (State, string) {
	name := site.Plugin.Manifest.Name
	switch {
	case len(tools) > 0 && !slices.ContainsFunc(tools, func(t ToolView) bool { return t.Mode != call.Off }):
		return Off, "every tool of it is off: " + tools[0].Why
	case !isOpen(site, tabs, profileID):
		if site.Homepage != "" {
			return NotOpen, "no tab shows it; open " + site.Homepage
		}
		return NotOpen, "no tab shows one of its pages"
	case c.options.SignedOut(name, profileID):
		return SignedOut, "nobody was signed in at the last call; sign in to the web app in its tab"
	}
	return Ready, ""
}

// isOpen reports whether a tab of a profile shows a page of a plugin; an empty profile means any.
func isOpen(site *registry.Site, tabs []hub.Tab, profileID string) bool {
	rule, err := match.NewRule(site.Matches, site.Excludes)
	if err != nil {
		return false // reported as a problem of the plugin
	}
	return slices.ContainsFunc(tabs, func(t hub.Tab) bool {
		return (profileID == "" || t.ProfileID == profileID) && rule.Matches(t.URL)
	})
}
