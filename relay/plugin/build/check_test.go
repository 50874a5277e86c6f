package build

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"tabrelay/relay/road/plugin"
)

func TestCheckWarnsOfWeakDescriptionsAndSchemas(t *testing.T) {
	const pack = `{ "name": "tabrelay-plugin-lint", "version": "0.0.1", "tabrelay": { "displayName": "Lint",` +
		` "urlPatterns": ["http://lint.example/*"] } }`
	const source = `import { definePlugin, defineTool } from '@tabrelay/plugin-sdk';
const good = defineTool({ name: 'list_pages', description: 'The pages of the site, newest first.', annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false }, output: { type: 'object' }, handle: () => ({}) });
const bad = defineTool({ name: 'create_page', description: 'Creates.', annotations: { readOnlyHint: true },
  input: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } }, handle: () => ({}) });
const odd = defineTool({ name: 'pages', description: 'The pages of the site, newest first.', output: { type: 'object' }, handle: () => ({}) });
export default definePlugin({ tools: [good, bad, odd] });
`
	dir := unpack(t, &txtar.Archive{Files: []txtar.File{{Name: "package.json", Data: []byte(pack)},
		{Name: "src/index.ts", Data: []byte(source)}}})
	p, _, err := Build(t.Context(), dir, Options{Out: "-"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range Check(p) {
		got = append(got, d.String())
	}
	want := `warning: package.json has no description of the plugin; people choose by it
warning: there is no homepage; without one nobody can be told what to open when no tab matches
warning: the pattern http://lint.example/* is for unencrypted pages only; write https:// or *://
warning: tool "create_page": its description is too short to choose it by
warning: tool "create_page": it claims readOnlyHint, and its name says that it writes; a call that failed would be repeated
warning: tool "create_page": it has no output schema, so agents get its answer as text only
warning: tool "create_page": its input takes arguments of any name; with additionalProperties: false a misspelt one is an error
warning: tool "create_page": none of its arguments has a description
warning: tool "pages": its name does not begin with what it does, such as list_ or create_
warning: tool "pages": it has neither readOnlyHint nor destructiveHint, so it counts as one that may destroy`
	if diff := cmp.Diff(strings.Split(want, "\n"), got); diff != "" {
		t.Error(diff)
	}
}

func TestCheckReportsUndeclaredAndUnused(t *testing.T) {
	const head = `{ "name": "tabrelay-plugin-tea", "tabrelay": { "displayName": "Tea", "urlPatterns": ` +
		`["https://*.tea.example/shop/*", "http://localhost:8080/*"], `
	const source = "import { definePlugin, defineTool, fetchJSON, getPreScriptValue } from '@tabrelay/plugin-sdk';\n"
	const end = "\nexport default definePlugin({ tools: [defineTool({ name: 'x', description: 'x', handle() { return " +
		"[getPreScriptValue, fetchJSON].length; } })] });\n"
	for name, c := range map[string]struct {
		about, code string
		want        []string
	}{
		"what fits": {`"world": "main", "configSchema": {"limit": {"type": "number"}, "shop": {"type": "url"}} } }`,
			"const a = () => [fetchJSON('https://api.tea.example/x'), fetchJSON(`http://localhost:8080/${1}`), " +
				"globalThis.limit, fetchJSON('/x')];", nil},
		"a stranger": {`"world": "isolated" } }`, "const a = () => [fetchJSON<string>(\n'https://coffee.example/x'), " +
			"fetch(`https://coffee.example/${1}`), 'https://else.example/'];\n// fetch('https://comment.example/')",
			[]string{
				"it sends requests to https://coffee.example, which is on none of its pages: there the site's CORS " +
					"decides, and the person's session may be missing"}},
		"too much": {`"world": "main", "configSchema": {"limit": {"type": "number"}} } }`, "/* window.limit */",
			[]string{
				`it asks for the main world, and its sources name nothing that only a page has; "world": "isolated" ` +
					`keeps it out of the page's reach`,
				`it asks for the setting "limit", and its sources do not name it`}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, &txtar.Archive{Files: []txtar.File{{Name: "package.json", Data: []byte(head + c.about)},
				{Name: "src/index.ts", Data: []byte(source + c.code + end)}}})
			p, _, err := Build(t.Context(), dir, Options{Out: "-"})
			if err != nil {
				t.Fatal(err)
			}
			if got := checkDeclared(p); !slices.Equal(got, c.want) {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
}

func TestCompareListsWhatChangesForAgents(t *testing.T) {
	yes, no := true, false
	before := &plugin.Plugin{Manifest: plugin.Manifest{
		Name: "tea", Version: "1.0.0", World: plugin.Isolated, URLPatterns: []string{"https://a.example/*",
			"https://b.example/*"},
		Tools: []plugin.Tool{
			{Name: "list", Description: "Lists.", Annotations: plugin.Annotations{ReadOnlyHint: &yes}},
			{Name: "order", Annotations: plugin.Annotations{DestructiveHint: &no}},
			{Name: "same", InputSchema: json.RawMessage(`{}`)},
		},
	}}
	after := &plugin.Plugin{PreScript: []byte("x"), Manifest: plugin.Manifest{
		Name: "tea", Version: "1.1.0", World: plugin.Main,
		URLPatterns:     []string{"https://a.example/*", "https://*.example/*"},
		ExcludePatterns: []string{"https://x.example/*"},
		ConfigSchema:    json.RawMessage(`{"a":{"type":"string"}}`),
		Tools: []plugin.Tool{
			{Name: "list", Description: "Lists teas.", InputSchema: json.RawMessage(`{"type":"object"}`),
				Annotations: plugin.Annotations{ReadOnlyHint: &no}},
			{Name: "same", InputSchema: json.RawMessage(`{}`)},
			{Name: "burn"},
		},
		Prompts: []plugin.Prompt{{Name: "brew"}},
	}}
	want := []string{
		"version 1.0.0 becomes 1.1.0",
		"the world: isolated becomes main",
		"works on https://*.example/* now",
		"does not work on https://b.example/* any more",
		"leaves out https://x.example/* now",
		"has a script now that runs before the page",
		"its settings have changed",
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
