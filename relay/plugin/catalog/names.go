package catalog

import (
	"slices"
	"strings"

	"tabrelay/relay/lib/suggest"
	"tabrelay/relay/plugin/build"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
)

// ownNames returns the targets of rules that are neither plugins nor their tools: resources, and the groups of the
// relay's own tools.
func ownNames() []string { return append(policy.OwnGroups(), policy.ReadTab, policy.ReadConsole) }

// PluginNames returns the names that the scope of a client can have: the plugins of a home folder, and the groups of
// the relay's own tools.
func PluginNames(home config.Home) []string {
	names := slices.Concat(namesOnDisk(home), []string{"all", "none", "gateway"}, policy.OwnGroups())
	return slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, "__") })
}

// UnknownName reports whether a name is neither that of a plugin, in whatever state, nor that of a group of the relay's
// own tools, and the known name that was probably meant.
func (c *Catalog) UnknownName(name string) (unknown bool, meant string) {
	for _, t := range c.options.Tools.Snapshot().Tools {
		if t.Group == name {
			return false, ""
		}
	}
	known := slices.DeleteFunc(PluginNames(c.options.Home), func(name string) bool {
		// the group of a capability that is switched on has tools, and was found above
		return name == "none" || policy.IsFree(name) && name != policy.RelayPlugin
	})
	for _, p := range c.List("") { // Options.Plugins are not in the home folder
		known = append(known, p.Name)
	}
	return !slices.Contains(known, name), suggest.Nearest(name, known)
}

// RuleTarget reports whether a rule can have a name as its target, and which one was probably meant. Targets are the
// plugins of a home folder, their tools and their sign-in checks, also those that are off or not reviewed, the given
// tools of a running relay, and the relay's own.
func RuleTarget(home config.Home, tools []*registry.Tool, name string) (exists bool, suggestion string) {
	names := ownNames()
	for _, t := range tools {
		names = append(names, t.Name, t.Group)
		if t.Site != nil && t.Site.SignIn != nil {
			names = append(names, t.Site.SignIn.Name)
		}
	}
	if slices.Contains(names, name) || registry.IsPageTool(name) { // also while its page is closed
		return true, ""
	}
	names = append(names, namesOnDisk(home)...)
	return slices.Contains(names, name), suggest.Nearest(name, names)
}

func namesOf(plugins []plugin.Plugin) (names []string) {
	for _, p := range plugins {
		names = append(names, p.Manifest.Name)
		if !p.Manifest.EveryPage() { // that of every site has no sign-in
			names = append(names, plugin.FullName(p.Manifest.Name, plugin.SignInCheck))
		}
		for _, t := range p.Manifest.Tools {
			names = append(names, plugin.FullName(p.Manifest.Name, t.Name))
		}
	}
	return names
}

// namesOnDisk returns the names of all plugins, shipped and added, and of their tools.
func namesOnDisk(home config.Home) (names []string) {
	cfg, _ := config.Load(home) // the relay reports its errors; here the defaults do
	if shipped, err := Shipped(cfg); err == nil {
		names = append(names, namesOf(shipped)...)
	}
	entries, _ := build.List(home.Plugins()) // without a readable list there are no names
	for _, e := range entries {
		names = append(names, e.Name)
		if e.Plugin != nil {
			names = append(names, namesOf([]plugin.Plugin{*e.Plugin})...)
		}
	}
	return names
}
