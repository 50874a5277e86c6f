package build

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabrelay/relay/road/plugin"
)

// A place in what was injected is found again in the file that its author wrote, in both worlds.
func TestSourcePlace(t *testing.T) {
	for _, world := range []plugin.World{plugin.Main, plugin.Isolated} {
		t.Run(string(world), func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range map[string]string{
				"package.json": fmt.Sprintf(`{"name": "tabrelay-plugin-tea",
  "tabrelay": {"displayName": "Tea", "urlPatterns": ["https://tea.example/*"], "world": %q}}`, world),
				"src/index.ts": mistakesHead + "import { price } from './price.ts';\n" +
					"const go = defineTool({ name: 'go', description: 'Goes.', handle: () => price({}) });\n" +
					"export default definePlugin({ tools: [go] });\n",
				"src/price.ts": "// Prices.\nexport function price(tea: any): number {\n  return tea.cost.amount;\n}\n",
			} {
				file := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			p, _, err := Build(t.Context(), dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			injected := Compose(*p, []byte("var tabrelayRuntime={};\nfoo();"), true)
			at := bytes.Index(injected, []byte(".cost.amount")) + len(".")
			line := 1 + bytes.Count(injected[:at], []byte("\n"))
			column := at - bytes.LastIndexByte(injected[:at], '\n')
			found, ok := SourcePlace(p, injected, fmt.Sprintf("/adapters/tea-0123456789ab.js:%d:%d", line, column))
			if !ok || found.Place() != "src/price.ts:3:14" {
				t.Fatalf("%v %v", found.Place(), ok)
			}
			if want := "    3 |   return tea.cost.amount;\n      |              ^"; found.Frame != want {
				t.Errorf("frame:\n%s\nwant:\n%s", found.Frame, want)
			}
		})
	}
}

func TestSourcePlaceOfNothing(t *testing.T) {
	p := &plugin.Plugin{Adapter: []byte("var a=1;\n"), SourceMap: []byte(`{"version":3,"sources":[],"mappings":""}`)}
	injected := Compose(*p, nil, true)
	for _, place := range []string{
		"", "/a.js", "/a.js:0:0", "/a.js:1:1", "/a.js:9:9", "/a.js:1:9999999", "/a.js:99999999:1", "/a.js:2:1",
	} {
		if d, ok := SourcePlace(p, injected, place); ok {
			t.Errorf("%q is at %s", place, d.Place())
		}
	}
	if d, ok := SourcePlace(p, []byte("another build"), "/a.js:1:8"); ok {
		t.Errorf("a place of another build is at %s", d.Place())
	}
}

func FuzzSourcePlace(f *testing.F) {
	p := &plugin.Plugin{Adapter: []byte("var a=1;\nb()\n"), SourceMap: []byte(
		`{"version":3,"sources":["src/index.ts"],"names":[],"mappings":"AAAA,IAAM;AACN"}`)}
	injected := Compose(*p, nil, true)
	f.Add("/adapters/tea-0123456789ab.js:1:8")
	f.Add("/adapters/tea-0123456789ab.js:2:1")
	f.Fuzz(func(t *testing.T, place string) {
		if name := InjectedFile(place); strings.ContainsAny(name, "/") {
			t.Errorf("%q names the file %q", place, name)
		}
		if d, ok := SourcePlace(p, injected, place); ok && (d.File != "src/index.ts" || d.Line < 1) {
			t.Errorf("%q is at %s", place, d.Place())
		}
	})
}
