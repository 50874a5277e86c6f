package plugin

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

func TestCheck(t *testing.T) {
	const pack = `{ "name": "tabrelay-plugin-lint", "version": "0.0.1", "tabrelay": { "displayName": "Lint", "urlPatterns": ["http://lint.example/*"] } }`
	const source = `import { definePlugin, defineTool } from '@tabrelay/plugin-sdk';
const good = defineTool({ name: 'list_pages', description: 'The pages of the site, newest first.', annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false }, output: { type: 'object' }, handle: () => ({}) });
const bad = defineTool({ name: 'create_page', description: 'Creates.', annotations: { readOnlyHint: true },
  input: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } }, handle: () => ({}) });
const odd = defineTool({ name: 'pages', description: 'The pages of the site, newest first.', output: { type: 'object' }, handle: () => ({}) });
export default definePlugin({ tools: [good, bad, odd] });
`
	dir := unpack(t, &txtar.Archive{Files: []txtar.File{{Name: "package.json", Data: []byte(pack)}, {Name: "src/index.ts", Data: []byte(source)}}})
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
