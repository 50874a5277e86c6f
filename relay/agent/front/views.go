package front

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tabrelay/relay/lib/called"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// Views knows which tools each client may see. Its methods are called concurrently, View for every list.
type Views interface {
	View(call.Session) registry.View
	// OnChange calls changed when views show something other than before, until stop. changed does not block.
	OnChange(changed func()) (stop func())
}

// Missing reports whether there is no plugin of a name, and which one was probably meant; empty: none is like it.
type Missing func(plugin string) (missing bool, meant string)

// Toolset reads the toolset that a client asks for. A name that no plugin has would leave the client without tools, and
// nobody would know why: it is refused.
func (f *Front) Toolset(text string) (registry.Toolset, *fault.Error) {
	words := append([]string{"all", "gateway"}, slices.Sorted(maps.Keys(f.options.GroupInstructions))...)
	hint := fault.WithHint("Use " + strings.Join(words, ", ") + ", or names of plugins with commas between: " +
		"`tabrelay plugin list` names them.")
	t, err := registry.ParseToolset(text)
	if err != nil {
		return t, fault.New(fault.InvalidRequest, err.Error(), hint)
	}
	if f.options.Missing == nil {
		return t, nil
	}
	for _, name := range t.Plugins() {
		if missing, meant := f.options.Missing(name); missing {
			message := fmt.Sprintf("toolset %.60q: no plugin is called %s", text, name)
			if meant != "" {
				message += "; did you mean " + meant + "?"
			}
			return t, fault.New(fault.InvalidRequest, message, hint)
		}
	}
	return t, nil
}

// visible is what one peer is shown: of the toolset it asked for, what its view shows.
type visible struct {
	tools registry.Toolset
	view  registry.View
	offer *registry.Offer // which of the tools are listed when the toolset is adaptive
	left  *leftOut        // which of these are not, because the list would be too long; nil: none
}

// everything is what a client gets that asks for no toolset where nothing is known of what is open.
var everything = registry.Toolset{Key: "all", All: true}

// visibleTo returns what a client is shown that asked for a toolset and was offered something before.
func (f *Front) visibleTo(s call.Session, asked registry.Toolset, o *offered) visible {
	v := visible{tools: asked, offer: f.offerTo(o)}
	if f.options.Views != nil {
		v.view = f.options.Views.View(s)
	}
	if (asked.All || asked.Adaptive) && v.view.Toolset != "" {
		if narrowed, err := registry.ParseToolset(v.view.Toolset); err == nil { // it was parsed when the person set it
			v.tools = narrowed
		}
	}
	if v.tools.Adaptive && f.options.Open == nil {
		v.tools = everything
	}
	return v
}

// key is the same for what lists the same.
func (v *visible) key() string {
	key := v.tools.Key + "\x00" + v.view.Key + "\x00"
	switch {
	case v.tools.Adaptive:
		key += v.offer.Key
	case v.offer.Profiles:
		key += "profiles"
	}
	if v.left != nil {
		key += "\x00" + v.left.key
	}
	return key
}

// lists reports whether a tool is listed.
func (v *visible) lists(t *registry.Tool) bool {
	return v.shows(t) && (!v.tools.Adaptive || v.offer.Shows(t) && !v.left.has(t))
}

// shows reports whether a tool can be called by its name.
func (v *visible) shows(t *registry.Tool) bool { return v.tools.Shows(t) && v.mayShow(t) }

// mayShow is shows whatever the toolset.
func (v *visible) mayShow(t *registry.Tool) bool { return v.view.Shows == nil || v.view.Shows(t) }

// only are those of some tools that are shown.
func (v *visible) only(tools []*registry.Tool) []*registry.Tool {
	if v.view.Shows == nil {
		return tools
	}
	return slices.DeleteFunc(slices.Clone(tools), func(t *registry.Tool) bool { return !v.view.Shows(t) })
}

// refuse says why a tool is not shown.
func (v *visible) refuse(t *registry.Tool) *fault.Error {
	if v.view.Why != nil {
		if why := v.view.Why(t); why != nil {
			return why
		}
	}
	return fault.New(fault.PermissionDenied, t.Name+" is off for this client")
}

// without is the plugins of which every tool is hidden; their prompts are as well.
func (v *visible) without(snapshot *registry.Snapshot) map[string]bool {
	hidden := map[string]bool{}
	if v.view.Shows == nil {
		return hidden
	}
	for _, t := range snapshot.Tools {
		if t.Plugin == nil {
			continue
		}
		if all, met := hidden[t.Group]; !met || all {
			hidden[t.Group] = !v.view.Shows(t)
		}
	}
	return hidden
}

// more is one line about tools that are off and that the person could let the client have; empty when there are none.
func (v *visible) more(tools []*registry.Tool) string {
	n, plugins := 0, map[string]bool{}
	for _, t := range tools {
		if !v.mayShow(t) && v.view.Hidden != nil && v.view.Hidden(t) {
			n++
			plugins[t.Group] = true
		}
	}
	if n == 0 {
		return ""
	}
	names, count := slices.Sorted(maps.Keys(plugins)), "1 more tool of %s is off"
	if n > 1 {
		count = fmt.Sprint(n) + " more tools of %s are off"
	}
	const most = 8
	if len(names) > most {
		names = append(names[:most], "others")
	}
	return fmt.Sprintf(count, strings.Join(names, ", ")) +
		called.In("; the person can enable them in tabrelay's side panel or with `tabrelay permit set`")
}

// listPrompts are the prompts a client is shown.
func (f *Front) listPrompts(p *peer) []call.Prompt {
	list := f.options.Prompts.List()
	if f.options.Views == nil {
		return list
	}
	v := f.visibleTo(p.session, p.tools, p.offered)
	hidden := v.without(f.options.Tools.Snapshot())
	return slices.DeleteFunc(list, func(c call.Prompt) bool { return hidden[pluginOf(c.Name)] })
}

// refusePrompt says why a client cannot have a prompt, nil when it can.
func (f *Front) refusePrompt(p *peer, name string) *fault.Error {
	if f.options.Views == nil {
		return nil
	}
	v := f.visibleTo(p.session, p.tools, p.offered)
	if plugin := pluginOf(name); v.without(f.options.Tools.Snapshot())[plugin] {
		return fault.New(fault.UnknownPrompt, fmt.Sprintf("There is no prompt %.80q for this client: every tool of "+
			"%s is off", name, plugin),
			fault.WithHint("The person can enable its tools in tabrelay's side panel or with `tabrelay permit set "+
				plugin+" ask`."))
	}
	return nil
}

// pluginOf is the plugin in a full name.
func pluginOf(name string) string {
	plugin, _, _ := strings.Cut(name, "__")
	return plugin
}
