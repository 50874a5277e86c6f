package gateway

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// selector is the argument by which a call says where it is to run.
const selector = "profile"

// list publishes the tools of all nodes. A tool that several have is listed once, as the first of them by name has it,
// with the argument that chooses among them.
func (g *Gateway) list() {
	g.mu.Lock()
	nodes := maps.Clone(g.nodes)
	g.mu.Unlock()
	by := map[string]*registry.Tool{}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		for _, t := range nodes[name].tools {
			if _, listed := by[t.Name]; listed {
				continue
			}
			one := registry.Tool{Name: t.Name, Group: t.Plugin, Run: nil, Spec: plugin.Tool{
				Name: t.Name, DisplayName: t.Title, Description: t.About, OutputSchema: t.Output, Annotations: t.Hints,
				InputSchema: withSelector(t, choices(nodes, t.Name)),
			}}
			err := registry.Sound(one)
			if err == nil {
				err = placed(t)
			}
			if err != nil {
				g.Log.Warn().Str("node", name).Str("tool", fault.Excerpt(t.Name)).Err(err).Msg("a tool is left out")
				continue
			}
			by[t.Name] = &one
		}
	}
	tools := []registry.Tool{}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		tools = append(tools, *by[name])
	}
	g.registry.SetBuiltins(tools)
}

// placed says why a node cannot offer a tool under its name: it is not that of its plugin, or one of the gateway's own.
func placed(t wire.Tool) error {
	switch _, own, ok := strings.Cut(t.Name, "__"); {
	case t.Name == readResult:
		return nil
	case !ok || own == "" || plugin.Owner(t.Name) != t.Plugin:
		return errors.New("its name is not one of a tool of the plugin that it says")
	case t.Plugin != plugin.Browser && t.Plugin != plugin.OptIn && plugin.CheckName(t.Plugin) != nil:
		return errors.New("no plugin can have the name of its plugin")
	}
	return nil
}

// readResult is the one tool that a node lends besides those of plugins.
const readResult = "relay__read_result"

// having are the nodes that have a tool, by name.
func having(nodes map[string]*known, tool string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		if _, ok := nodes[name].tool(tool); ok {
			list = append(list, name)
		}
	}
	return list
}

func (n *known) tool(name string) (wire.Tool, bool) {
	i := slices.IndexFunc(n.tools, func(t wire.Tool) bool { return t.Name == name })
	if i < 0 {
		return wire.Tool{}, false
	}
	return n.tools[i], true
}

// choices are the ways to say where a call of a tool is to run: each node that has it, and each of its profiles where
// there are several. With one choice nothing has to be said.
func choices(nodes map[string]*known, tool string) (list []string) {
	for _, name := range having(nodes, tool) {
		list = append(list, name)
		if profiles := nodes[name].Profiles; len(profiles) > 1 {
			for _, p := range profiles {
				list = append(list, choice(name, p))
			}
		}
	}
	return list
}

// withSelector is the input schema of a tool with the argument by which a node is chosen; required where there are
// several nodes.
func withSelector(t wire.Tool, choices []string) json.RawMessage {
	schema, ok := rawjson.Members(t.Input)
	if t.OwnProfile || !ok || len(choices) < 2 {
		return t.Input
	}
	properties, _ := rawjson.Members(rawjson.Get(schema, "properties"))
	properties = slices.DeleteFunc(slices.Clone(properties), func(m rawjson.Member) bool { return m.Name == selector })
	properties = append(properties, rawjson.Make(selector, rawjson.MustEncode(map[string]any{
		"type": "string", "enum": choices, "description": "Whose browser: a node, or one of its profiles.",
	})))
	var out []rawjson.Member
	for _, m := range schema {
		if m.Name != "properties" {
			out = append(out, m)
		}
	}
	return rawjson.Join(append(out, rawjson.Make("properties", rawjson.Join(properties))))
}

// target is where a call is to run, and the arguments that are for its tool.
func (g *Gateway) target(c *call.Call) (n *known, arguments json.RawMessage, failure *fault.Error) {
	g.mu.Lock()
	nodes, trouble := maps.Clone(g.nodes), g.trouble
	g.mu.Unlock()
	there := having(nodes, c.Tool)
	if len(there) == 0 {
		if trouble != "" {
			return nil, nil, failed(fault.ProfileNotConnected, "Wait a moment and repeat the call; whoever runs the "+
				"gateway can see why with: tabrelay fleet status", "The gateway does not reach its fleet: %s",
				trouble)
		}
		return nil, nil, failed(fault.UnknownTool, "List the tools again: what nodes have comes and goes.",
			"No node of the fleet has a tool named %s", fault.Excerpt(c.Tool))
	}
	tool, _ := nodes[there[0]].tool(c.Tool)
	arguments = c.Arguments
	wanted := ""
	if !tool.OwnProfile {
		if wanted, arguments, failure = takeSelector(c.Arguments); failure != nil {
			return nil, nil, failure
		}
	}
	all := choices(nodes, c.Tool)
	if wanted == "" {
		if len(there) > 1 {
			return nil, nil, failed(fault.ValidationError, "Pass "+selector+" with one of these; ask the person which "+
				"browser is meant if you do not know.", "%s is on %d nodes, and the call does not say where it is to "+
				"run: %s", c.Tool, len(there), names(all))
		}
		return nodes[there[0]], arguments, nil
	}
	for _, name := range there {
		if wanted == name {
			return nodes[name], arguments, nil
		}
		for _, p := range nodes[name].Profiles {
			if wanted == choice(name, p) {
				return nodes[name], withMember(arguments, selector, p), nil
			}
		}
	}
	if len(there) == 1 && !slices.Contains(all, wanted) && slices.Contains(nodes[there[0]].Profiles, wanted) {
		return nodes[there[0]], withMember(arguments, selector, wanted), nil
	}
	return nil, nil, failed(fault.ProfileNotConnected, "Pass "+selector+" with one of these, or wait until it is "+
		"connected.", "The fleet has no %q with %s; there is: %s", fault.Excerpt(wanted), c.Tool, names(all))
}

// takeSelector takes the argument out that says where a call is to run.
func takeSelector(arguments json.RawMessage) (wanted string, rest json.RawMessage, failure *fault.Error) {
	members, ok := rawjson.Members(arguments)
	raw := rawjson.Get(members, selector)
	if !ok || raw == nil {
		return "", arguments, nil
	}
	wanted, ok = rawjson.Text(raw)
	if !ok || wanted == "" {
		return "", nil, failed(fault.ValidationError, "Correct the argument.", "The argument %s is not the name of a "+
			"node or a profile", selector)
	}
	rest = rawjson.Join(slices.DeleteFunc(slices.Clone(members),
		func(m rawjson.Member) bool { return m.Name == selector }))
	return wanted, rest, nil
}

func withMember(arguments json.RawMessage, name, value string) json.RawMessage {
	members, _ := rawjson.Members(arguments)
	return rawjson.Join(append(slices.Clone(members), rawjson.Make(name, rawjson.MustEncode(value))))
}
