package build

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/grafana/sobek"
	"github.com/grafana/sobek/parser"
	"github.com/rogpeppe/go-internal/txtar"

	"tabrelay/relay/road/plugin"
)

var update = flag.Bool("update", false, "write what a build answers into testdata")

func init() { loadLimit = time.Hour }

const want = "want" // the file of an archive that is the answer

// unpack writes the files of an archive into a folder of its own. Packages of this repository can be imported there.
func unpack(t testing.TB, archive *txtar.Archive) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range archive.Files {
		if f.Name == want {
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	modules, err := filepath.Abs("../../../node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestBuildGivesWhatTheArchivesSay(t *testing.T) {
	files, err := filepath.Glob("testdata/build/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := answer(t, unpack(t, archive))
			expected := &archive.Files[len(archive.Files)-1]
			if expected.Name != want {
				t.Fatalf("%s does not end with the file %q", file, want)
			}
			if *update {
				expected.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(expected.Data), got); diff != "" {
				t.Errorf("the answer differs (-want +got); to accept it run: go test ./relay/plugin -update\n%s", diff)
			}
		})
	}
}

// resolveImport is what a build says: its diagnostics, the manifest, and the adapter when it is small enough to be
// read.
func answer(t *testing.T, dir string) string {
	t.Helper()
	p, found, err := Build(t.Context(), dir, Options{})
	var out strings.Builder
	for _, d := range found {
		fmt.Fprintln(&out, d)
	}
	if err != nil {
		var bad *InvalidError
		if !errors.As(err, &bad) {
			t.Fatalf("Build failed with %T: %v", err, err)
		}
		return out.String()
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "dist", plugin.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	out.Write(manifest)
	// An adapter that uses the SDK changes whenever the SDK does.
	if len(p.Adapter) < 4096 && !bytes.Contains(p.Adapter, []byte("ToolError")) {
		out.Write(p.Adapter)
	} else {
		fmt.Fprintf(&out, "adapter: zod %v\n", bytes.Contains(p.Adapter, []byte("safeParse")))
	}
	loaded, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if loaded.Hash != p.Hash {
		t.Error("the plugin has another hash after it was written and read")
	}
	return out.String()
}

// call runs a handler of a built adapter without a page.
func call(t *testing.T, p *plugin.Plugin, tool, params string) string {
	t.Helper()
	vm := sobek.New()
	script := fmt.Sprintf(`%s
globalThis.structuredClone = (value) => JSON.parse(JSON.stringify(value));
let result = 'pending';
(async () => {
  const tool = tabrelayPlugin.default.tools.find((one) => one.name === %q);
  try { result = JSON.stringify(await tool.handle(%s, {})); } catch (error) { result = 'threw ' + error; }
})();`, p.Adapter, tool, params)
	if _, err := vm.RunString(script); err != nil {
		t.Fatal(err)
	}
	return vm.Get("result").String()
}

func buildArchive(t testing.TB, name string) *plugin.Plugin {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata/build", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := Build(context.Background(), unpack(t, archive), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestHandlersSeeDefaults(t *testing.T) {
	p := buildArchive(t, "zod")
	for params, want := range map[string]string{
		`{id: "7"}`:                            `"id":"7false0"`,
		`{id: "7", dryRun: true, tags: ["a"]}`: `"id":"7true1"`,
	} {
		if got := call(t, p, "pay_order", params); !strings.Contains(got, want) {
			t.Errorf("pay_order(%s) = %s, want %s in it", params, got, want)
		}
	}
}

func TestSchemaUsedByHandlerIsBundled(t *testing.T) {
	p := buildArchive(t, "zod-at-run-time")
	if got := call(t, p, "count", `{text: '{"count":"3"}'}`); got != `{"count":3}` {
		t.Errorf("the handler answers %s", got)
	}
	if got := call(t, p, "count", `{text: '{"count":"x"}'}`); !strings.Contains(got, "threw") {
		t.Errorf("the handler answers %s for a value its schema refuses", got)
	}
}

// What a page pays for: 29 tools with Zod schemas, and a plugin that uses a third of the SDK.
func TestAdapterSize(t *testing.T) {
	p, _, err := Build(t.Context(), unpack(t, large(29)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Adapter) > 60<<10 || bytes.Contains(p.Adapter, []byte("safeParse")) {
		t.Errorf("the adapter of 29 tools has %d bytes", len(p.Adapter))
	}
	dir := unpack(t, &txtar.Archive{Files: []txtar.File{
		{Name: "package.json", Data: []byte(smallPackage)},
		{Name: "src/index.ts", Data: []byte(`import * as sdk from '@tabrelay/plugin-sdk';
export default sdk.definePlugin({ tools: [sdk.defineTool({
  name: 'use', description: 'Uses the SDK.',
  async handle(_, { signal }) {
    const button = await sdk.waitForSelector('button', { signal });
    await sdk.sleep(1, { signal });
    const token = sdk.getCookie('csrf') ?? sdk.getMetaContent('csrf');
    if (!token) throw sdk.ToolError.auth('Sign in');
    const saved = await sdk.postJSON('/api', { text: button.textContent }, { signal });
    return await sdk.retry(() => sdk.fetchJSON('/api?' + sdk.buildQueryString({ token }))) ?? sdk.ok(saved);
  },
})] });
`)}}})
	if p, _, err = Build(t.Context(), dir, Options{}); err != nil {
		t.Fatal(err)
	}
	t.Logf("a third of the SDK: %d bytes", len(p.Adapter))
	if len(p.Adapter) > 9<<10 { // docs/decisions.md: requests in the main world
		t.Errorf("the adapter that uses a third of the SDK has %d bytes", len(p.Adapter))
	}
}

// A failure in the page says where in the sources it is, also behind the schemas that were left out.
func TestSourceMap(t *testing.T) {
	p := buildArchive(t, "source-map")
	program, err := sobek.Parse("adapter.js", string(p.Adapter)+"\n//# sourceMappingURL=adapter.js.map",
		parser.WithSourceMapLoader(func(string) ([]byte, error) { return p.SourceMap, nil }))
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := sobek.CompileAST(program, false)
	if err != nil {
		t.Fatal(err)
	}
	vm := sobek.New()
	if _, err := vm.RunProgram(compiled); err != nil {
		t.Fatal(err)
	}
	_, err = vm.RunString("tabrelayPlugin.default.tools[0].handle()")
	var thrown *sobek.Exception
	if !errors.As(err, &thrown) {
		t.Fatalf("the handler answers %v", err)
	}
	if at := thrown.Stack()[0].Position(); !strings.HasSuffix(at.Filename, "src/index.ts") || at.Line != 17 {
		t.Errorf("it throws at %v, want src/index.ts:17", at)
	}
}

var codeBlock = regexp.MustCompile("(?s)```ts\n(.*?)```")

// What the guides show is what builds.
func TestDocumentedPlugins(t *testing.T) {
	for _, page := range []string{"plugins.md", "opentabs.md", "guides/first-plugin.md", "guides/errors.md",
		"guides/sign-in.md", "guides/testing.md", "guides/worlds.md"} {
		text, err := os.ReadFile("../../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		built := 0
		for _, block := range codeBlock.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(block[1], "'zod'") {
				continue // e2e/specs/first-plugin.spec.ts follows that page to the letter
			}
			files := []txtar.File{{Name: "package.json", Data: []byte(smallPackage)}}
			switch source := block[1]; {
			case strings.Contains(source, "export default"):
				files = append(files, txtar.File{Name: "src/index.ts", Data: []byte(source)})
			case strings.Contains(source, "definePreScript"):
				files = append(files, txtar.File{Name: "src/index.ts",
					Data: []byte("import './early.ts';\nexport default { tools: [{ name: 'x', description: 'x', " +
						"handle() {} }] };\n")},
					txtar.File{Name: "src/early.ts", Data: []byte(source)})
			default:
				continue
			}
			built++
			if _, _, err := Build(t.Context(), unpack(t, &txtar.Archive{Files: files}), Options{Out: "-"}); err != nil {
				t.Errorf("docs/%s: %v\n%s", page, err, block[1])
			}
		}
		if built == 0 {
			t.Errorf("docs/%s shows no plugin", page)
		}
	}
}
