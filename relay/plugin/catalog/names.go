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

// ownNames are what rules can be about besides plugins and their tools: what agents read by URI, and the groups of the
// relay's own tools.
func ownNames() []string { return append(policy.OwnGroups(), policy.ReadTab, policy.ReadConsole) }

// PluginNames are the names that the scope of a client can have: of the plugins of a home folder, and those that stand
// for the relay's own groups of tools.
func PluginNames(home config.Home) []string {
	names := slices.Concat(namesOnDisk(home), []string{"all", "none", "gateway"}, policy.OwnGroups())
	return slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, "__") })
}

// UnknownName reports whether there is no plugin of a name, in whatever state, nor a group of the relay's own tools, and
// which one was probably meant.
func (c *Catalog) UnknownName(name string) (missing bool, meant string) {
	for _, t := range c.options.Tools.Snapshot().Tools {
		if t.Group == name {
			return false, ""
		}
	}
	known := slices.DeleteFunc(PluginNames(c.options.Home), func(name string) bool {
		return name == "none" || policy.IsFree(name) && name != policy.RelayPlugin // those that are here have tools
	})
	for _, p := range c.List("") { // those of a workshop are elsewhere on disk
		known = append(known, p.Name)
	}
	return !slices.Contains(known, name), suggest.Nearest(name, known)
}

// RuleTarget reports whether rules can be about a name, and which one was probably meant: a tool or a plugin of a home
// folder, be it off or not reviewed, or one of tools, which are those of a relay that runs, or its own.
func RuleTarget(home config.Home, tools []*registry.Tool, name string) (exists bool, suggestion string) {
	names := ownNames()
	for _, t := range tools {
		names = append(names, t.Name, t.Group)
	}
	if slices.Contains(names, name) || registry.IsPageTool(name) { // its page may be closed now
		return true, ""
	}
	names = append(names, namesOnDisk(home)...)
	return slices.Contains(names, name), suggest.Nearest(name, names)
}

func namesOf(plugins []plugin.Plugin) (names []string) {
	for _, p := range plugins {
		names = append(names, p.Manifest.Name)
		for _, t := range p.Manifest.Tools {
			names = append(names, plugin.FullName(p.Manifest.Name, t.Name))
		}
	}
	return names
}

// namesOnDisk are the names of all plugins there are, shipped and added, and of their tools.
func namesOnDisk(home config.Home) (names []string) {
	cfg, _ := config.Load(home) // what is wrong with it is said elsewhere
	if shipped, err := Shipped(cfg); err == nil {
		names = append(names, namesOf(shipped)...)
	}
	entries, _ := build.List(home.Plugins()) // those that cannot be read have no name to be known by
	for _, e := range entries {
		names = append(names, e.Name)
		if e.Plugin != nil {
			names = append(names, namesOf([]plugin.Plugin{*e.Plugin})...)
		}
	}
	return names
}
