package main

import (
	"context"
	"slices"
	"strings"

	"tabrelay/relay/call"
	"tabrelay/relay/catalog"
	"tabrelay/relay/config"
	"tabrelay/relay/connect"
	"tabrelay/relay/suggest"
)

// notePlugins tells of names in a scope that no plugin has. They are kept: a plugin of that name may come.
func (a *app) notePlugins(s call.Scope) {
	known := catalog.PluginNames(a.home)
	for name := range strings.FieldsFuncSeq(s.Toolset+","+s.Plugins, func(r rune) bool { return r == ',' }) {
		if !slices.Contains(known, name) {
			a.notef("note: no plugin is called %q%s; the name counts when one comes\n", name, meant(name, known))
		}
	}
}

// noteClient tells of a rule whose client nobody has heard of. It is kept: the client may come.
func (a *app) noteClient(ctx context.Context, name string) {
	clients, err := a.clientsNow(ctx)
	if err != nil || name == "" {
		return // the rule was made, which is what was asked for
	}
	known := []string{config.LocalClient}
	for _, c := range clients {
		known = append(known, c.Name)
	}
	if !slices.Contains(known, name) {
		others := slices.DeleteFunc(append(known, connect.Names()...), func(one string) bool { return one == name })
		a.notef("note: no client is called %q so far%s; the rule counts when one comes\n", name, meant(name, others))
	}
}

func meant(name string, known []string) string {
	if one := suggest.Nearest(name, known); one != "" {
		return " (did you mean " + one + "?)"
	}
	return ""
}
