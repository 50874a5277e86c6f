package registry_test

import (
	"encoding/json"
	"testing"

	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// A tool in TypeScript: short, and nothing in a schema or a description can end the declaration.
func TestTypeScriptOfAToolCannotBeBrokenOutOf(t *testing.T) {
	for name, tt := range map[string]struct{ about, input, output, want string }{
		"plain": {"Reads a page. More words.", `{"type":"object","properties":{"title":{"type":"string"},` +
			`"max-age":{"type":"integer"},"kinds":{"type":"array","items":{"enum":["a","b"]}}},"required":["title"]}`,
			`{"type":"object","properties":{"rows":{"type":"array","items":{"type":"object","properties":` +
				`{"id":{"type":["string","null"]}},"required":["id"]}}},"required":["rows"]}`,
			"/** Reads a page */\ntools.nodeRed.getPage(args: { title: string; \"max-age\"?: number; " +
				"kinds?: (\"a\" | \"b\")[] }): Promise<{ rows: { id: string | null }[] }>;"},
		"nothing": {"Says hello", `{"type":"object","properties":{}}`, "",
			"/** Says hello */\ntools.nodeRed.getPage(args?: { [name: string]: unknown }): Promise<unknown>;"},
		"hostile": {"*/ alert(1) /* \n x", `{"type":"object","properties":{"*/ x":{"const":"*/"},"y":{"anyOf":` +
			`[{"type":"string"},{"type":"number"}]},"z":{"$ref":"#/z"},"w":true}}`, `{"type":"array"}`,
			"/** * / alert(1) /* x */\ntools.nodeRed.getPage(args?: { \"* / x\"?: \"* /\"; y?: string | number; " +
				"z?: unknown; w?: unknown }): Promise<unknown[]>;"},
	} {
		r := registry.New(nil)
		tool := plugin.Tool{Name: "get_page", Description: tt.about, InputSchema: json.RawMessage(tt.input)}
		if tt.output != "" {
			tool.OutputSchema = json.RawMessage(tt.output)
		}
		if err := r.Replace([]plugin.Plugin{{Manifest: plugin.Manifest{Name: "node-red", World: plugin.Isolated,
			URLPatterns: []string{"https://x.example/*"}, Tools: []plugin.Tool{tool}}}}, nil); err != nil {
			t.Fatal(err)
		}
		one, ok := r.Snapshot().Find("node-red__get_page")
		if !ok {
			t.Fatalf("%s: %v", name, r.Snapshot().Problems)
		}
		if got := one.Types(); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, tt.want)
		}
	}
}
