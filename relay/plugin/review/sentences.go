package review

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tabrelay/relay/lib/match"
	"tabrelay/relay/road/plugin"
)

// effect is what a tool says it does to the world.
type effect int

const (
	reads effect = iota
	changes
	destroys
)

// effectOf reads the hints as MCP has them: without readOnlyHint a tool writes, without destructiveHint it may destroy.
func effectOf(t *plugin.Tool) effect {
	switch a := t.Annotations; {
	case a.ReadOnlyHint != nil && *a.ReadOnlyHint:
		return reads
	case a.DestructiveHint != nil && !*a.DestructiveHint:
		return changes
	}
	return destroys
}

// asked collects what a plugin asks for.
type asked struct {
	*plugin.Manifest
	settings map[string]plugin.Setting
	list     []string
}

func (a *asked) say(format string, args ...any) {
	a.list = append(a.list, Legible(fmt.Sprintf(format, args...)))
}

// permissions says what a plugin asks for, a sentence each: where it is, what it can do there, and what it says it
// does.
func permissions(m *plugin.Manifest) []string {
	a := &asked{Manifest: m}
	a.settings, _ = plugin.Settings(m.ConfigSchema) // one that cannot be read gives it none
	a.pages()
	a.code()
	a.secrets()
	a.tools()
	return a.list
}

func (a *asked) pages() {
	switch {
	case a.EveryPage():
		a.say("It works on the pages of every site.")
	case len(a.URLPatterns) > 0:
		a.say("It works on the pages %s.", strings.Join(a.URLPatterns, ", "))
	}
	if len(a.ExcludePatterns) > 0 {
		a.say("It leaves out the pages %s.", strings.Join(a.ExcludePatterns, ", "))
	}
	if names := a.settingsWith(func(s plugin.Setting) bool { return s.Type == "url" }); len(names) > 0 {
		a.say("It also works on the pages of the addresses you give it as %s.", strings.Join(names, ", "))
	}
	if slices.ContainsFunc(a.Tools, func(t plugin.Tool) bool { return t.Frames == "all" }) {
		a.say("It works in the frames inside these pages too.")
	}
}

func (a *asked) code() {
	a.say("There its code can read and do what you can, as you, whatever its tools say they do.")
	if a.World == plugin.Main {
		a.say("Its code runs among the page's own scripts (main world): it can use and change them, and the page can " +
			"falsify what it reads.")
	} else {
		a.say("Its code runs apart from the page's scripts (isolated world).")
	}
	if a.PreScript != "" {
		a.say("It runs a script before each of these pages, even when no agent works, and can see and change what " +
			"they load.")
	}
}

func (a *asked) secrets() {
	if names := a.settingsWith(plugin.Setting.IsSecret); len(names) > 0 {
		a.say("It gets secrets that you give it: %s.", strings.Join(names, ", "))
	}
}

func (a *asked) tools() {
	for _, one := range []struct {
		effect effect
		what   string
	}{{reads, "It says it only reads with: %s."}, {changes, "It changes things with: %s."},
		{destroys, "It may change or destroy things with: %s."}} {
		var names []string
		for i := range a.Tools {
			if effectOf(&a.Tools[i]) == one.effect {
				names = append(names, a.Tools[i].Name)
			}
		}
		if len(names) > 0 {
			a.say(one.what, strings.Join(names, ", "))
		}
	}
	if len(a.Prompts) > 0 {
		var names []string
		for _, p := range a.Prompts {
			names = append(names, p.Name)
		}
		a.say("It offers agents the prompts %s.", strings.Join(names, ", "))
	}
}

func (a *asked) settingsWith(has func(plugin.Setting) bool) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(a.settings)) {
		if has(a.settings[name]) {
			names = append(names, name)
		}
	}
	return names
}

// hosts are the hosts in a plugin's patterns, each once, in their order.
func hosts(m *plugin.Manifest) []string {
	list := []string{}
	for _, text := range m.URLPatterns {
		_, rest, _ := strings.Cut(text, "://")
		host, _, _ := strings.Cut(rest, "/")
		if p, err := match.Parse(text); err == nil && p.EverySite() {
			host = "*"
		}
		if !slices.Contains(list, host) {
			list = append(list, host)
		}
	}
	return list
}
