package plugin

import (
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

func TestCheckAsked(t *testing.T) {
	const head = `{ "name": "tabrelay-plugin-tea", "tabrelay": { "displayName": "Tea", "urlPatterns": ["https://*.tea.example/shop/*", "http://localhost:8080/*"], `
	const source = "import { definePlugin, defineTool, fetchJSON, getPreScriptValue } from '@tabrelay/plugin-sdk';\n"
	const end = "\nexport default definePlugin({ tools: [defineTool({ name: 'x', description: 'x', handle() { return [getPreScriptValue, fetchJSON].length; } })] });\n"
	for name, c := range map[string]struct {
		about, code string
		want        []string
	}{
		"what fits": {`"world": "main", "configSchema": {"limit": {"type": "number"}, "shop": {"type": "url"}} } }`,
			"const a = () => [fetchJSON('https://api.tea.example/x'), fetchJSON(`http://localhost:8080/${1}`), globalThis.limit, fetchJSON('/x')];", nil},
		"a stranger": {`"world": "isolated" } }`, "const a = () => [fetchJSON<string>(\n'https://coffee.example/x'), fetch(`https://coffee.example/${1}`), 'https://else.example/'];\n// fetch('https://comment.example/')", []string{
			"it sends requests to https://coffee.example, which is on none of its pages: there the site's CORS decides, and the person's session may be missing"}},
		"too much": {`"world": "main", "configSchema": {"limit": {"type": "number"}} } }`, "/* window.limit */", []string{
			`it asks for the main world, and its sources name nothing that only a page has; "world": "isolated" keeps it out of the page's reach`,
			`it asks for the setting "limit", and its sources do not name it`}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, &txtar.Archive{Files: []txtar.File{{Name: "package.json", Data: []byte(head + c.about)}, {Name: "src/index.ts", Data: []byte(source + c.code + end)}}})
			p, _, err := Build(t.Context(), dir, Options{Out: "-"})
			if err != nil {
				t.Fatal(err)
			}
			if got := checkAsked(p); !slices.Equal(got, c.want) {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
}
