package trial

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tabrelay/relay/plugin/build"
	"tabrelay/relay/road/plugin"
)

// built is a plugin with one tool, whose handler has this body.
func built(t *testing.T, body string) *plugin.Plugin {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"package.json": `{"name":"tabrelay-plugin-tea","tabrelay":{"displayName":"Tea",` +
			`"urlPatterns":["https://tea.example/*"],"homepage":"https://tea.example/shop/?a=1#b"}}`,
		"src/index.ts": `import { definePlugin, defineTool, fetchJSON, fetchText, postForm, ToolError, getConfig } from '@tabrelay/plugin-sdk';
			const kept = [fetchJSON, fetchText, postForm, ToolError, getConfig];
			export default definePlugin({ tools: [defineTool({ name: 'go', description: 'Goes.', input: { type: 'object', properties: {} },
				async handle(_: object, { signal, settings, tab, maxBytes }) {` + body + `} })] });`,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, _, err := build.Build(t.Context(), dir, build.Options{Out: "-"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWorldBehavesLikeAPage(t *testing.T) {
	for name, c := range map[string]struct{ body, fixture, want string }{
		"an address": {
			`const u = new URL('../b?c=d e#f', location.href); u.searchParams.append('g', 'ä&'); u.hash = 'x'; ` +
				`return [u.href,` +
				` u.origin, u.host, location.pathname, String(new URLSearchParams({ a: "~ '" })), URL.canParse('x')]`,
			`{"expect":{"output":["https://tea.example/b?c=d+e&g=%C3%A4%26#x","https://tea.example","tea.example",` +
				`"/shop/",` +
				`"a=%7E+%27",false]}}`, "",
		},
		"the size of the answer, where the fixture says one": {
			`return { maxBytes }`, `{"maxBytes":500,"expect":{"output":{"maxBytes":500}}}`, "",
		},
		"settings, here and in code without a context": {
			`return [settings.n, getConfig('n'), tab.url]`,
			`{"settings":{"n":3},"expect":{"output":[3,3,"https://tea.example/shop/?a=1#b"]}}`, "",
		},
		"a form": {
			`return await postForm('/x', { a: '1 2' }, { signal })`,
			`{"requests":[{"method":"POST","url":"/x","sends":"a=1+2","body":{"ok":true}}],` +
				`"expect":{"output":{"ok":true}}}`, "",
		},
		"two requests at once, in any order": {
			`return await Promise.all([fetchText('/a', { signal }), fetchText('/b', { signal })])`,
			`{"requests":[{"url":"/b","body":"B"},{"url":"/a","body":"A"}],"expect":{"output":["A","B"]}}`, "",
		},
		"a request that takes too long": {
			`return await Promise.race([new Promise(() => {}), new Promise((_, no) => ` +
				`AbortSignal.timeout(5000).addEventListener('abort', () => no(new Error('late ' + ` +
				`performance.now()))))])`,
			`{"expect":{"error":{"code":"INTERNAL_ERROR","message":"late 5000"}}}`, "",
		},
		"no connection": {`return await fetchText('/a')`,
			`{"requests":[{"url":"/a","status":0}],"expect":{"error":{"code":"NETWORK_ERROR","retryable":true,` +
				`"outcome":"unknown"}}}`, ""},
		"a failure of the tool": {`throw ToolError.notFound('no tea')`,
			`{"expect":{"error":{"code":"NOT_FOUND","category":"not_found","message":"no tea"}}}`, ""},
		"a bug": {`return (undefined as any).x`, `{"expect":{"output":1}}`,
			"it fails with INTERNAL_ERROR: "},
		"nothing comes": {`return new Promise(() => {})`, `{}`, "waits for something that never comes"},
		"another failure": {`throw ToolError.notFound('x')`, `{"expect":{"error":{"code":"AUTH_ERROR"}}}`,
			`error.code: expected "AUTH_ERROR", got "NOT_FOUND"`},
		"success for a failure": {`return 1`, `{"expect":{"error":{}}}`,
			"it succeeds with 1, and was expected to fail"},
		"a list of another size": {`return [1]`, `{"expect":{"output":[1,2]}}`, "output: expected [1,2], got [1]"},
		"an unknown request": {`return await fetchText('/a').catch(() => 1)`, `{"expect":{"output":1}}`,
			"it asks GET https://tea.example/a, which the fixture has not"},
	} {
		t.Run(name, func(t *testing.T) {
			p := built(t, c.body)
			f, err := parse([]byte(strings.Replace(c.fixture, "{", `{"tool":"go",`, 1)), p)
			if c.fixture == "{}" {
				f, err = parse([]byte(`{"tool":"go"}`), p)
			}
			if err != nil {
				t.Fatal(err)
			}
			got := Run(t.Context(), p, &f)
			if joined := strings.Join(got.Problems, "; "); got.NeedsPage != "" || c.want == "" && joined != "" ||
				!strings.Contains(joined, c.want) {
				t.Errorf("it gives %+v, want %q", got, c.want)
			}
		})
	}
}

// What an answer loses on the way to the agent is said once, with its place and what to write.
func TestLostValues(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"an un-awaited promise": {`return { page: fetchText('/a', { signal }) }`,
			"output.page is a promise, which arrives as {}; await it"},
		"a Map": {`return { teas: [new Map()] }`,
			"output.teas[0] is a Map, which arrives as {}; answer Object.fromEntries(map)"},
		"a Set": {`return new Set()`, "output is a Set, which arrives as {}; answer [...set]"},
		"a Date": {`return { at: new Date(0) }`,
			"output.at is a Date, which arrives as a text; answer date.toISOString()"},
		"an Error": {`return { e: new Error('x') }`,
			"output.e is an Error, which arrives as {}; throw it, or answer its message"},
		"NaN": {`return { price: 0 / 0 }`, "output.price is NaN, which arrives as null"},
		"a bigint": {`return { id: BigInt(7) }`,
			"output.id is a bigint, which has no JSON form; answer String(value)"},
		"a circle": {`const a: any = {}; a.b = { a }; return a`,
			"output.b.a is inside of itself, which has no JSON form"},
		"a function":    {`return { go: () => 1 }`, "output.go is a function, which is left out"},
		"a thrown text": {`throw 'no tea'`, "it fails with INTERNAL_ERROR: no tea"},
		"nothing lost":  {`const same = { a: 1 }; return [same, same, null, undefined]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := built(t, c.body)
			f, err := parse([]byte(`{"tool":"go","requests":[{"url":"/a","body":"x"}]}`), p)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(c.body, "/a") {
				f.Requests = f.Requests[:0]
			}
			got := Run(t.Context(), p, &f).Problems
			if strings.Join(got, "; ") != c.want {
				t.Errorf("it gives %q, want %q", got, c.want)
			}
		})
	}
}

func TestAHandlerThatNeedsAPageIsNotJudged(t *testing.T) {
	p := built(t, `return document.title`)
	f, err := parse([]byte(`{"tool":"go"}`), p)
	if err != nil {
		t.Fatal(err)
	}
	if got := Run(t.Context(), p, &f); got.NeedsPage != "it uses document" || got.Problems != nil {
		t.Errorf("it gives %+v", got)
	}
	f.Page.HTML = "<p>"
	if got := Run(t.Context(), p, &f); got.NeedsPage != "its page has HTML" {
		t.Errorf("it gives %+v", got)
	}
}

func TestDifferencesAreNotEndless(t *testing.T) {
	many := make([]int, 100)
	want, _ := json.Marshal(many)
	for i := range many {
		many[i] = 1
	}
	got, _ := json.Marshal(many)
	found := differences("output", want, got)
	if len(found) != shownDifferences+1 || !slices.Contains(found, "… and 80 more") {
		t.Errorf("%d differences: %q", len(found), found)
	}
}
