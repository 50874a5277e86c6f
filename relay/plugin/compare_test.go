package plugin

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestCompare(t *testing.T) {
	yes, no := true, false
	before := &Plugin{Manifest: Manifest{
		Name: "tea", Version: "1.0.0", World: Isolated, URLPatterns: []string{"https://a.example/*", "https://b.example/*"},
		Tools: []Tool{
			{Name: "list", Description: "Lists.", Annotations: Annotations{ReadOnlyHint: &yes}},
			{Name: "order", Annotations: Annotations{DestructiveHint: &no}},
			{Name: "same", InputSchema: json.RawMessage(`{}`)},
		},
	}}
	after := &Plugin{PreScript: []byte("x"), Manifest: Manifest{
		Name: "tea", Version: "1.1.0", World: Main, URLPatterns: []string{"https://a.example/*", "https://*.example/*"}, ExcludePatterns: []string{"https://x.example/*"},
		ConfigSchema: json.RawMessage(`{"a":{"type":"string"}}`),
		Tools: []Tool{
			{Name: "list", Description: "Lists teas.", InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: Annotations{ReadOnlyHint: &no}},
			{Name: "same", InputSchema: json.RawMessage(`{}`)},
			{Name: "burn"},
		},
		Prompts: []Prompt{{Name: "brew"}},
	}}
	want := []string{
		"version 1.0.0 becomes 1.1.0",
		"the world: isolated becomes main",
		"works on https://*.example/* now",
		"does not work on https://b.example/* any more",
		"leaves out https://x.example/* now",
		"has a script now that runs before the page",
		"its settings are others",
		"tool list changed: only reads before and may destroy now, its description, its arguments",
		"new tool burn, which may destroy",
		"no tool order any more",
		"new prompt brew",
	}
	if got := Compare(before, after); !slices.Equal(got, want) {
		t.Errorf("Compare gives\n%q, want\n%q", got, want)
	}
	if got := Compare(before, before); len(got) > 0 {
		t.Errorf("a plugin differs from itself: %q", got)
	}
}
