package registry

import (
	"encoding/json"
	"testing"

	"tabrelay/relay/road/plugin"
)

// The estimate is near what o200k counts, which e2e/stage/tokens.ts says, and rather above it.
func TestTokensAreEstimatedNearACount(t *testing.T) {
	for text, counted := range map[string]int{
		"": 0, " ": 1, "mediawiki__search": 4, "Full-text search of the wiki that is open.": 10,
		`{"type":"object","properties":{"id":{"type":"string"},"tabId":{"type":"integer"}},"required":["id"]}`: 27,
		"Sends at most 20,000 messages per minute, then waits 1500 ms.":                                        19,
		"XMLHttpRequest": 3,
		"在维基百科中搜索页面并返回匹配的标题列表":                        14,
		"Поиск страниц вики по названию и содержанию": 11,
	} {
		if got := Tokens(text); 10*got < 9*counted-10 || got > 4*counted+1 {
			t.Errorf("%q: %d, and o200k counts %d", text, got, counted)
		}
	}
}

// Tools that an author's prompts call come first, then those that read, then those that change something.
func TestOrderOfTools(t *testing.T) {
	reads := true
	p := &plugin.Plugin{Manifest: plugin.Manifest{Name: "wiki", URLPatterns: []string{"*://wiki.example/*"},
		Prompts: []plugin.Prompt{{Template: "Find it (`wiki__search`), then wiki__edit_page, not wiki__edit."}}}}
	for _, name := range []string{"delete", "edit_page", "look", "edit_pages", "search", "list"} {
		spec := plugin.Tool{Name: name, Description: name, InputSchema: json.RawMessage(`{"type":"object"}`)}
		if name == "look" || name == "search" || name == "list" {
			spec.Annotations.ReadOnlyHint = &reads
		}
		p.Manifest.Tools = append(p.Manifest.Tools, spec)
	}
	site, _ := newSite(p, Configured{})
	tools, rejected := site.tools(newSchemas(nil))
	if len(rejected) > 0 {
		t.Fatal(rejected)
	}
	want := []string{"edit_page", "search", "look", "list", "delete", "edit_pages"}
	for _, tool := range tools {
		if tool.Order >= len(want) || "wiki__"+want[tool.Order] != tool.Name {
			t.Errorf("%s comes at %d", tool.Name, tool.Order)
		}
	}
}
