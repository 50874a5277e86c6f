package build

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	mistakesAbout = `{"name": "tabrelay-plugin-tea",
  "tabrelay": {"displayName": "Tea", "urlPatterns": ["https://tea.example/*"]}}`
	mistakesHead = "import { definePlugin, defineTool } from '@tabrelay/plugin-sdk';\n"
)

// What authors typically do wrong gets one error: at its place, with the line, and with what to write.
func TestMistakesGetOneErrorAtTheirPlace(t *testing.T) {
	tool := func(fields string) string {
		return mistakesHead + "const go = defineTool({ name: 'go', description: 'Goes.', handle: () => 1, " + fields +
			" });\nexport default definePlugin({ tools: [go] });\n"
	}
	for name, c := range map[string]struct{ about, file, source, want, frame string }{
		"missing match": {about: `{"name": "tabrelay-plugin-tea",
  "tabrelay": {"displayName": "Tea"}}`, source: tool(""),
			want: `package.json:2:15: "tabrelay" has no "urlPatterns"; name the pages it works on, such as ` +
				`["https://*.example.com/*"]`,
			frame: "    2 |   \"tabrelay\": {\"displayName\": \"Tea\"}}\n      |               ^"},
		"bad schema": {source: tool("input: { type: 'object', properties: { a: { type: 'strin' } } }"),
			want: `src/index.ts:2: tool "go": the schema in "input" is not accepted: not a valid JSON Schema: at ` +
				`schema.properties.a.type: value must be one of "array", "boolean", "integer", "null", "number", ` +
				`"object", "string"`},
		"wrong key": {source: tool("outputSchema: { type: 'object' }"),
			want: `src/index.ts:2:76: tool "go": "outputSchema" is not a field of a tool; did you mean "output"?`},
		"key of nothing": {source: tool("timeout: 5, annotations: {}"),
			want: `src/index.ts:2:76: tool "go": "timeout" is not a field of a tool; did you mean "timeoutMs"?`},
		"misspelt hint": {source: tool("\n  annotations: {\n    readonlyHint: true }"),
			want: `src/index.ts:4:5: tool "go": "readonlyHint" is not a field of annotations; did you mean ` +
				`"readOnlyHint"?`,
			frame: "    4 |     readonlyHint: true } });\n      |     ^"},
		"misspelt description": {source: strings.Replace(tool(""), "description:", "descripton:", 1),
			want: `src/index.ts:2:37: tool "go": "descripton" is not a field of a tool; did you mean "description"?`},
		"required that is no property": {
			source: tool("input: { type: 'object', properties: { word: {} }, required: ['wort'] }"),
			want: `src/index.ts:2: tool "go": the schema in "input" is not accepted: at schema: required names ` +
				`"wort", and properties has no such field; did you mean "word"?`},
		"key of the plugin": {source: mistakesHead +
			"const go = defineTool({ name: 'go', description: 'Goes.', handle: () => 1 });\n" +
			"export default definePlugin({ tools: [go], isRedy: () => true });\n",
			want: `src/index.ts: "isRedy" is not a field of a plugin; did you mean "isReady"?`},
		"thrown while it loads": {source: "throw 'tea';\n" + tool(""),
			want: `src/index.ts:1: throws while it loads: tea`, frame: "    1 | throw 'tea';"},
		"DOM at load": {source: "const bar = document.querySelector('h1') ?? null;\n" +
			"if (bar.nope.deep === 1) bar.x();\n" + tool(""), want: ""},
		"built-in": {source: "import { readFileSync } from 'fs';\nreadFileSync('a');\n" + tool(""),
			want: `src/index.ts:1:30: "fs" is a module of Node, and a plugin runs in a page, which has none; use ` +
				`what browsers have`,
			frame: "    1 | import { readFileSync } from 'fs';\n      |                              ^"},
		"CSS": {source: "import './tea.css';\n" + tool(""),
			want: `src/index.ts:1:8: src/tea.css is not of a kind that a plugin is made of; import it as text: with ` +
				`{ type: 'text' }`, frame: "    1 | import './tea.css';\n      |        ^"},
		"JSX": {source: mistakesHead + "export const view = () => <b>tea</b>;\n",
			want: `src/index.ts:2:38: this is JSX, which needs a file that ends in .tsx; rename it to src/index.tsx, ` +
				`or make elements with document.createElement`,
			frame: "    2 | export const view = () => <b>tea</b>;\n      |                                      ^"},
		"require": {file: "src/index.js", source: "const { definePlugin } = require('@tabrelay/plugin-sdk');\n",
			want: `src/index.js:1:34: a plugin imports its packages, for a page has no require; write: ` +
				`import { … } from "@tabrelay/plugin-sdk"`,
			frame: "    1 | const { definePlugin } = require('@tabrelay/plugin-sdk');\n" +
				"      |                                  ^"},
		"JSX in JavaScript": {file: "src/index.js", source: mistakesHead + "export const view = () => <b>tea</b>;\n",
			want: `src/index.js:2:27: this is JSX, which needs a file that ends in .jsx; rename it to src/index.jsx, ` +
				`or make elements with document.createElement`,
			frame: "    2 | export const view = () => <b>tea</b>;\n      |                           ^"},
		"wrong key in JavaScript": {file: "src/index.js", source: tool("outputSchema: { type: 'object' }"),
			want: `src/index.js:2:76: tool "go": "outputSchema" is not a field of a tool; did you mean "output"?`},
		"nothing exported by JavaScript": {file: "src/index.mjs", source: "export const plugin = {};\n",
			want: `src/index.mjs: has no default export; write: export default definePlugin({ tools: [ … ] })`},
		"outside of src": {file: "index.js", source: tool(""),
			want: `index.js: is not where a plugin begins; move it to src/index.js`},
		"nowhere": {file: "src/plugin.ts", source: tool(""),
			want: `src/index.ts: is missing, and so is src/index.js; it exports the plugin: ` +
				`export default definePlugin({ tools: [ … ] })`},
		"eval in a class": {source: tool("") + "class Old { run = async () => eval('1') }\nnew Old();\n", want: ""},
		"no default export": {source: "export const plugin = {};\n",
			want: `src/index.ts: has no default export; write: export default definePlugin({ tools: [ … ] })`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{"package.json": mistakesAbout, "src/tea.css": "b {}"}
			files[cmp.Or(c.file, "src/index.ts")] = c.source
			if c.about != "" {
				files["package.json"] = c.about
			}
			for name, content := range files {
				file := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, _, err := Build(t.Context(), dir, Options{Out: "-"})
			if c.want == "" {
				if err != nil {
					t.Errorf("it fails: %v", err)
				}
				return
			}
			wrong, ok := errors.AsType[*InvalidError](err)
			if !ok || err.Error() != c.want {
				t.Fatalf("it gives %v, want %s", err, c.want)
			}
			want := "error: " + c.want
			if c.frame != "" {
				want += "\n" + c.frame
			}
			if c.frame != "" && wrong.Framed() != want {
				t.Errorf("it shows\n%s\nwant\n%s", wrong.Framed(), want)
			}
		})
	}
}

// A plugin in JavaScript is built like one in TypeScript; each of its own warnings comes once, with its place.
func TestPlainJavaScript(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"package.json": mistakesAbout,
		"src/lib.js":   "export const mode = process.env.NODE_ENV;\nexport const run = (code) => eval(code);\n",
		"src/index.js": mistakesHead + "import { mode, run } from './lib.js';\n" +
			"export default definePlugin({ tools: [defineTool({ name: 'go', description: 'Goes.', " +
			"handle: () => ({ mode, ran: run('1') }) })] });\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
	p, found, err := Build(t.Context(), dir, Options{Out: "-"})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Place() != "src/lib.js:2:30" || !found[0].Warning {
		t.Errorf("it warns %v, want once, of eval", found)
	}
	if !bytes.Contains(p.Adapter, []byte(`"production"`)) {
		t.Error("its files are told another mode than libraries are")
	}
}
