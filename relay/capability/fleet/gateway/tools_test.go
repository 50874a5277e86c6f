package gateway

import (
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/road/registry"
)

// A node that works against the gateway gets no tool listed whose name is the gateway's own, or another plugin's, or
// whose words or schema are not sound; the others are listed all the same.
func TestToolsOfAHostileNode(t *testing.T) {
	g := &Gateway{Options: Options{Log: zerolog.Nop()}, registry: registry.New(nil), nodes: map[string]*known{}}
	const input = `{"type":"object","properties":{}}`
	tool := func(name, plugin, about, input string) wire.Tool {
		return wire.Tool{Name: name, Plugin: plugin, About: about, Input: []byte(input)}
	}
	g.nodes["ann"] = &known{tools: []wire.Tool{
		tool("shop__read", "shop", "Reads.", input), tool("relay__read_result", "relay", "Reads.", input),
		tool("relay__search_tools", "relay", "Finds.", input), tool("shop__pay", "bank", "Pays.", input),
		tool("bridge_health", "bridge_health", "x", input), tool("tasks__delegate", "tasks", "x", input),
		tool("shop__hidden", "shop", "a\u202eb", input), tool("shop__list", "shop", "x", `[]`),
		tool("shop__list", "shop", "x", `{"type":"string"}`), tool("shop__", "shop", "x", input),
	}}
	g.list()
	names := []string{}
	for _, one := range g.Snapshot().Tools {
		names = append(names, one.Name)
	}
	if len(names) != 2 || names[0] != "relay__read_result" || names[1] != "shop__read" {
		t.Errorf("listed are %q", names)
	}
}
