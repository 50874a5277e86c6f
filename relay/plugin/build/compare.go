package build

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"tabrelay/relay/road/plugin"
)

// Compare says what a newer version of a plugin changes for its users, one sentence for each change: first what it may
// do and where, then its tools. An empty list means that only code changed.
func Compare(before, after *plugin.Plugin) []string {
	var changes []string
	say := func(format string, args ...any) { changes = append(changes, fmt.Sprintf(format, args...)) }
	was, is := &before.Manifest, &after.Manifest
	if was.Name != is.Name {
		say("the name: %s becomes %s", was.Name, is.Name)
	}
	if was.Version != is.Version {
		say("version %s becomes %s", was.Version, is.Version)
	}
	if was.World != is.World {
		say("the world: %s becomes %s", was.World, is.World)
	}
	compareLists(was.URLPatterns, is.URLPatterns, "works on %s now", "does not work on %s any more", say)
	compareLists(was.ExcludePatterns, is.ExcludePatterns, "leaves out %s now", "does not leave out %s any more", say)
	switch hadIt, hasIt := before.PreScript != nil, after.PreScript != nil; {
	case !hadIt && hasIt:
		say("has a script now that runs before the page")
	case hadIt && !hasIt:
		say("has no script any more that runs before the page")
	case !bytes.Equal(before.PreScript, after.PreScript):
		say("the script that runs before the page has changed")
	}
	if !bytes.Equal(was.ConfigSchema, is.ConfigSchema) {
		say("its settings have changed")
	}
	compareTools(was.Tools, is.Tools, say)
	prompts := func(m *plugin.Manifest) (names []string) {
		for _, p := range m.Prompts {
			names = append(names, p.Name)
		}
		return names
	}
	compareLists(prompts(was), prompts(is), "new prompt %s", "no prompt %s any more", say)
	return changes
}

func compareTools(was, is []plugin.Tool, say func(string, ...any)) {
	named := func(list []plugin.Tool, name string) int {
		return slices.IndexFunc(list, func(t plugin.Tool) bool { return t.Name == name })
	}
	for i := range is {
		at := named(was, is[i].Name)
		if at < 0 {
			say("new tool %s, which %s", is[i].Name, effectText(&is[i]))
			continue
		}
		old := &was[at]
		var what []string
		note := func(differs bool, name string) {
			if differs {
				what = append(what, name)
			}
		}
		note(effectText(old) != effectText(&is[i]), effectText(old)+" before and "+effectText(&is[i])+" now")
		note(old.Description != is[i].Description, "its description")
		note(!bytes.Equal(old.InputSchema, is[i].InputSchema), "its arguments")
		note(!bytes.Equal(old.OutputSchema, is[i].OutputSchema), "its answer")
		note(effectText(old) == effectText(&is[i]) && !reflect.DeepEqual(old.Annotations, is[i].Annotations),
			"its annotations")
		note(old.Frames != is[i].Frames, "the frames it runs in")
		if len(what) > 0 {
			say("tool %s changed: %s", is[i].Name, strings.Join(what, ", "))
		}
	}
	for i := range was {
		if named(is, was[i].Name) < 0 {
			say("no tool %s any more", was[i].Name)
		}
	}
}

// effectText is what a tool claims about its effects.
func effectText(t *plugin.Tool) string {
	yes := func(b *bool) bool { return b != nil && *b }
	switch a := t.Annotations; {
	case yes(a.ReadOnlyHint):
		return "only reads"
	case a.DestructiveHint != nil && !*a.DestructiveHint:
		return "writes"
	default:
		return "may destroy"
	}
}

func compareLists(was, is []string, gained, lost string, say func(string, ...any)) {
	for _, one := range is {
		if !slices.Contains(was, one) {
			say(gained, one)
		}
	}
	for _, one := range was {
		if !slices.Contains(is, one) {
			say(lost, one)
		}
	}
}
