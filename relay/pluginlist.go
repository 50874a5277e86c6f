package relay

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"tabrelay/relay/call"
	"tabrelay/relay/hub"
	"tabrelay/relay/match"
	"tabrelay/relay/plugin"
	"tabrelay/relay/policy"
	"tabrelay/relay/registry"
	"tabrelay/relay/review"
)

// PluginState is how a plugin is, in one word. Of several the first holds.
type PluginState string

// The states of a plugin.
const (
	PluginUnreviewed PluginState = "unreviewed" // no person accepted its content
	PluginBroken     PluginState = "broken"     // something about it needs a person
	PluginOff        PluginState = "off"        // switched off, not set up, or every tool of it is off
	PluginNotOpen    PluginState = "not_open"   // no tab shows its web app
	PluginSignedOut  PluginState = "signed_out" // its web app wanted the person to sign in
	PluginReady      PluginState = "ready"
)

// PluginView is one plugin as a person sees it.
type PluginView struct {
	Name        string      `json:"name"`
	Title       string      `json:"title"`
	Version     string      `json:"version"`
	Description string      `json:"description"`
	Shipped     bool        `json:"shipped"`
	Hash        string      `json:"hash"`
	State       PluginState `json:"state"`
	Reason      string      `json:"reason"` // why it is not ready, and what to do; or empty
	Homepage    string      `json:"homepage"`
	Patterns    []string    `json:"patterns"`
	Tools       []ToolView  `json:"tools"`
}

// ToolView is one tool of a plugin.
type ToolView struct {
	Name        string    `json:"name"` // full
	Title       string    `json:"title"`
	ReadOnly    bool      `json:"readOnly"`
	Destructive bool      `json:"destructive"` // it says that it can delete or overwrite
	Mode        call.Mode `json:"mode"`        // off, ask or auto, for a client that no rule names
	Why         string    `json:"why"`         // after "because"
}

// PluginsView is the answer of GET /api/v1/plugins.
type PluginsView struct {
	Plugins []PluginView `json:"plugins"`
}

// showPlugins answers a panel with how plugins are in its profile, and the terminal with how they are in any.
func (r *Relay) showPlugins(w http.ResponseWriter, req *http.Request) {
	session, _ := sender(req.Context())
	reply(w, http.StatusOK, r.pluginsAt(atProfile(session)))
}

// pluginsAt lists the plugins as they are in a profile; an empty one means any.
func (r *Relay) pluginsAt(profileID string) PluginsView {
	snapshot := r.tools.Snapshot()
	problems := map[string][]string{}
	for _, p := range r.problems(snapshot) {
		if p.Plugin != "" {
			problems[p.Plugin] = append(problems[p.Plugin], p.Reason)
		}
	}
	tools := map[string][]*registry.Tool{}
	for _, t := range snapshot.Tools {
		tools[t.PluginName()] = append(tools[t.PluginName()], t)
	}
	views := map[string]PluginView{}
	tabs := r.hub.Tabs()
	for _, site := range snapshot.Sites {
		v := viewOf(site.Plugin)
		v.Homepage, v.Patterns = site.Homepage, listed(site.Matches)
		for _, t := range tools[v.Name] {
			v.Tools = append(v.Tools, r.toolView(t))
		}
		v.State, v.Reason = r.stateOf(site, v.Tools, tabs, profileID)
		views[v.Name] = v
	}
	for _, p := range r.idle() {
		if _, offered := views[p.Manifest.Name]; !offered {
			v := viewOf(p)
			v.State, v.Reason = PluginOff, r.whyIdle(p)
			v.Tools = r.idleTools(p)
			views[v.Name] = v
		}
	}
	for name, what := range r.reviews.held() {
		v, offered := views[name]
		if offered {
			v.Reason = "a new content of it waits for a review; until then the one that was accepted runs"
		} else {
			v = viewOf(what.plugin)
			v.State, v.Reason, v.Tools = PluginUnreviewed, what.why, r.idleTools(what.plugin)
		}
		views[name] = v
	}
	list := PluginsView{Plugins: []PluginView{}}
	for name, v := range views {
		if reasons := problems[name]; reasons != nil && v.State != PluginUnreviewed {
			v.State, v.Reason = PluginBroken, strings.Join(reasons, "; ")
		}
		delete(problems, name)
		list.Plugins = append(list.Plugins, v)
	}
	for name, reasons := range problems { // those of which nothing could be read
		list.Plugins = append(list.Plugins, PluginView{Name: name, Title: name, State: PluginBroken, Reason: strings.Join(reasons, "; "), Patterns: []string{}, Tools: []ToolView{}})
	}
	slices.SortFunc(list.Plugins, func(a, b PluginView) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func viewOf(p *plugin.Plugin) PluginView {
	m := &p.Manifest
	return PluginView{
		Name: m.Name, Title: review.Legible(cmp.Or(m.DisplayName, m.Name)), Version: review.Legible(m.Version), Description: review.Legible(m.Description), Shipped: p.Shipped, Hash: p.Hash,
		Homepage: m.Homepage, Patterns: listed(m.URLPatterns), Tools: []ToolView{},
	}
}

func (r *Relay) toolView(t *registry.Tool) ToolView {
	hint := t.Spec.Annotations.DestructiveHint
	v := ToolView{Name: t.Name, Title: review.Legible(cmp.Or(t.Spec.DisplayName, t.Spec.Name)), ReadOnly: t.ReadOnly, Destructive: !t.ReadOnly && hint != nil && *hint}
	v.Mode, v.Why = r.policy.Mode(policy.AccessOf(call.Session{Client: anyClient}, t))
	return v
}

// anyClient is nobody in particular: no client can be called that, so no rule is about it.
const anyClient = "*"

// idleTools are the tools of a plugin that offers none.
func (r *Relay) idleTools(p *plugin.Plugin) []ToolView {
	list := []ToolView{}
	for _, spec := range p.Manifest.Tools {
		t := &registry.Tool{Name: p.Manifest.Name + "__" + spec.Name, Plugin: p, Spec: spec, ReadOnly: spec.Annotations.ReadOnlyHint != nil && *spec.Annotations.ReadOnlyHint}
		list = append(list, r.toolView(t))
	}
	return list
}

// stateOf is how a plugin that is offered is.
func (r *Relay) stateOf(site *registry.Site, tools []ToolView, tabs []hub.Tab, profileID string) (PluginState, string) {
	name := site.Plugin.Manifest.Name
	switch {
	case len(tools) > 0 && !slices.ContainsFunc(tools, func(t ToolView) bool { return t.Mode != call.Off }):
		return PluginOff, "every tool of it is off: " + tools[0].Why
	case !isOpen(site, tabs, profileID):
		if site.Homepage != "" {
			return PluginNotOpen, "no tab shows it; open " + site.Homepage
		}
		return PluginNotOpen, "no tab shows one of its pages"
	case r.signIns.signedOut(name, profileID):
		return PluginSignedOut, "the last call was told to sign in; sign in to the web app in its tab"
	}
	return PluginReady, ""
}

// isOpen reports whether a tab of a profile shows a page of a plugin; an empty profile means any.
func isOpen(site *registry.Site, tabs []hub.Tab, profileID string) bool {
	rule, err := match.NewRule(site.Matches, site.Excludes)
	if err != nil {
		return false // patterns that do not parse are a problem of the plugin
	}
	return slices.ContainsFunc(tabs, func(t hub.Tab) bool { return (profileID == "" || t.ProfileID == profileID) && rule.Matches(t.URL) })
}

// idle are the plugins that exist and may run, whether or not they are offered.
func (r *Relay) idle() []*plugin.Plugin {
	r.offer.mu.Lock()
	defer r.offer.mu.Unlock()
	list := make([]*plugin.Plugin, len(r.offer.all))
	for i := range r.offer.all {
		list[i] = &r.offer.all[i]
	}
	return list
}

// whyIdle says why a plugin is not offered.
func (r *Relay) whyIdle(p *plugin.Plugin) string {
	r.offer.mu.Lock()
	defer r.offer.mu.Unlock()
	name := p.Manifest.Name
	if configured, ok := r.offer.last.Plugins[name]; ok && !configured.Enabled {
		return "switched off in config.json: plugins." + name + ".enabled"
	}
	return "not set up: say where the web app is, with tabrelay plugin configure " + name + " KEY=VALUE"
}

// unaccepted is a content that no person accepted.
type unaccepted struct {
	plugin *plugin.Plugin
	why    string
}

// held are the plugins whose content in the folder does not run, by name.
func (v *reviews) held() map[string]unaccepted {
	v.mu.Lock()
	defer v.mu.Unlock()
	list := map[string]unaccepted{}
	for name, f := range v.found {
		if f.serving != f.plugin.Hash {
			list[name] = unaccepted{f.plugin, f.withheld().Why}
		}
	}
	return list
}

// tabsChanged has panels look at the plugins anew when a tab shows another page, and questions end with their tab.
func (r *Relay) tabsChanged(n hub.TabNews) {
	if n.Closed || n.TabID == 0 {
		r.policy.TabsGone(n.ProfileID)
	}
	if n.Page || n.TabID == 0 {
		r.news(topicPlugins)
	}
}
