package relay

import (
	"slices"
	"strings"

	"tabrelay/adapters"
	"tabrelay/relay/config"
	"tabrelay/relay/plugin"
	"tabrelay/relay/registry"
	"tabrelay/relay/suggest"
)

// PluginNames are the names that the scope of a client can have: of the plugins of a home folder, and those that stand
// for the relay's own groups of tools.
func PluginNames(home config.Home) []string {
	names := append(namesOnDisk(home), "all", "none", "gateway", "agents", relayName, browserName)
	return slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, "__") })
}

// missing reports whether there is no plugin of a name, in whatever state, nor a group of the relay's own tools.
func (r *Relay) missing(name string) (missing bool, meant string) {
	snapshot := r.tools.Snapshot()
	for _, t := range snapshot.Tools {
		if registry.Group(t) == name {
			return false, ""
		}
	}
	known := slices.DeleteFunc(PluginNames(r.Home), func(name string) bool { return name == "none" })
	for _, p := range r.pluginsAt("").Plugins { // those of a workshop are elsewhere on disk
		known = append(known, p.Name)
	}
	return !slices.Contains(known, name), suggest.Nearest(name, known)
}

func namesOf(plugins []plugin.Plugin) (names []string) {
	for _, p := range plugins {
		names = append(names, p.Manifest.Name)
		for _, t := range p.Manifest.Tools {
			names = append(names, p.Manifest.Name+"__"+t.Name)
		}
	}
	return names
}

// namesOnDisk are the names of all plugins there are, shipped and added, and of their tools.
func namesOnDisk(home config.Home) (names []string) {
	if files, err := adapters.Files(); err == nil {
		if shipped, err := plugin.LoadFS(files); err == nil {
			names = append(names, namesOf(shipped)...)
		}
	}
	entries, _ := plugin.List(home.Plugins()) // those that cannot be read have no name to be known by
	for _, e := range entries {
		names = append(names, e.Name)
		if e.Plugin != nil {
			names = append(names, namesOf([]plugin.Plugin{*e.Plugin})...)
		}
	}
	return names
}
