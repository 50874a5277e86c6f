package registry_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tabrelay/relay/plugin"
	"tabrelay/relay/registry"
)

// A candidate whose list would be larger than may be sent is refused as a whole, and the last good one stays.
func TestReplaceRefusesTooLargeAList(t *testing.T) {
	r := registry.New(nil)
	tool := func(name string, about int) plugin.Tool {
		return plugin.Tool{Name: name, Description: name,
			InputSchema: json.RawMessage(`{"type":"object","description":"` + strings.Repeat("x", about) + `"}`)}
	}
	offer := func(name string, tools ...plugin.Tool) plugin.Plugin {
		return plugin.Plugin{Hash: strings.Repeat("0", 64),
			Manifest: plugin.Manifest{Name: name, Version: "1.0.0", URLPatterns: []string{"https://a.example/*"},
				World: plugin.Isolated, Tools: tools}}
	}
	if err := r.Replace([]plugin.Plugin{offer("small", tool("one", 10))}, nil); err != nil {
		t.Fatal(err)
	}
	good := r.Snapshot()
	heard := 0
	defer r.OnChange(func(*registry.Snapshot) { heard++ })()
	const each = 60 << 10
	var tools []plugin.Tool
	for i := range (100<<20)/each + 1 {
		tools = append(tools, tool(fmt.Sprintf("t%d", i), each))
	}
	err := r.Replace([]plugin.Plugin{offer("huge", tools...)}, nil)
	if err == nil || !strings.Contains(err.Error(), "the tools stay as they were") {
		t.Errorf("got %v", err)
	}
	if r.Snapshot() != good || heard != 0 {
		t.Errorf("the snapshot changed, and %d were told", heard)
	}
}
