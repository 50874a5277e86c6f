package build

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"tabrelay/relay/road/plugin"
)

const smallPackage = `{ "name": "tabrelay-plugin-small", "version": "1.0.0", "tabrelay": { "displayName": "Small",` +
	` "urlPatterns": ["https://small.example/*"] } }`

func smallSource(tool string) string {
	return `import { definePlugin, defineTool } from '@tabrelay/plugin-sdk';
export default definePlugin({ tools: [defineTool({ name: '` + tool + `', description: 'Does a little.', handle: () => 1 })] });
`
}

func small(t *testing.T) string {
	return unpack(t, &txtar.Archive{Files: []txtar.File{
		{Name: "package.json", Data: []byte(smallPackage)},
		{Name: "src/index.ts", Data: []byte(smallSource("look"))},
	}})
}

func overwrite(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAddListRemove(t *testing.T) {
	home, dir := filepath.Join(t.TempDir(), "plugins"), small(t)
	for range 2 { // the second time it is built again
		if _, _, err := Add(t.Context(), home, dir); err != nil {
			t.Fatal(err)
		}
	}
	if got := listed(t, home); got != "small ok" {
		t.Errorf("after Add: %s", got)
	}
	if _, _, err := Add(t.Context(), home, small(t)); err == nil ||
		!strings.Contains(err.Error(), "already a plugin small") {
		t.Errorf("a second plugin of the same name: %v", err)
	}
	overwrite(t, filepath.Join(dir, "dist", plugin.ManifestFile), "{")
	if got := listed(t, home); !strings.Contains(got, "small "+mustAbs(t, dir)+": its manifest.json cannot be read") {
		t.Errorf("with a broken manifest: %s", got)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if got := listed(t, home); !strings.Contains(got, "is gone") {
		t.Errorf("without its folder: %s", got)
	}
	if err := Remove(home, "smal"); err == nil || !strings.Contains(err.Error(), "added are: small") {
		t.Errorf("removing what is not there: %v", err)
	}
	if err := Remove(home, "small"); err != nil {
		t.Fatal(err)
	}
	if got := listed(t, home); got != "" {
		t.Errorf("after Remove: %s", got)
	}
}

func mustAbs(t *testing.T, dir string) string {
	t.Helper()
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func listed(t *testing.T, home string) string {
	t.Helper()
	entries, err := List(home)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range entries {
		state := "ok"
		if e.Plugin == nil {
			state = e.Problem
		}
		lines = append(lines, e.Name+" "+state)
	}
	return strings.Join(lines, "\n")
}

func TestAddRefuses(t *testing.T) {
	home, dir := t.TempDir(), small(t)
	overwrite(t, filepath.Join(dir, "src", "index.ts"), "export default {{{")
	var bad *InvalidError
	if _, _, err := Add(t.Context(), home, dir); !errors.As(err, &bad) ||
		!strings.Contains(err.Error(), "src/index.ts:1:17: ") {
		t.Errorf("Add of a plugin that does not build: %v", err)
	}
	if got := listed(t, home); got != "" {
		t.Errorf("it is listed: %s", got)
	}
}

func TestOfferedPrefersInstalledPlugins(t *testing.T) {
	named := func(name, dir string) plugin.Plugin {
		return plugin.Plugin{Manifest: plugin.Manifest{Name: name}, Dir: dir}
	}
	mine := named("b", "mine")
	offered := Offered([]plugin.Plugin{named("b", ""), named("a", "")},
		[]Entry{{Name: "b", Plugin: &mine}, {Name: "c", Problem: "broken"}})
	var got []string
	for _, p := range offered {
		got = append(got, p.Manifest.Name+p.Dir)
	}
	if diff := cmp.Diff([]string{"a", "bmine"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestComposeWrapsTheAdapterForItsWorld(t *testing.T) {
	p := plugin.Plugin{Hash: "abc", Manifest: plugin.Manifest{Name: "x", World: plugin.Isolated,
		URLPatterns: []string{"https://x.example/*"}}, Adapter: []byte("var tabrelayPlugin={};")}
	want := "(()=>{var tabrelayPlugin={};\n" +
		`;globalThis.tabrelayBridge.register({"name":"x","hash":"abc","matches":["https://x.example/*"]},` +
		`tabrelayPlugin.default,tabrelayPlugin.enter);})();` + "\n"
	if diff := cmp.Diff(want, string(Compose(p, []byte("runtime"), false))); diff != "" {
		t.Error(diff)
	}
	p.Manifest.World = plugin.Main
	if got := string(Compose(p, []byte("var tabrelayRuntime={};"), false)); !strings.HasPrefix(got,
		"(()=>{var tabrelayRuntime={};\n;var tabrelayPlugin") || !strings.Contains(got, ";tabrelayRuntime.start({") {
		t.Errorf("main world: %s", got)
	}
}

func TestWatchBuildsAfterEachChange(t *testing.T) {
	dir := small(t)
	ctx, stop := context.WithCancel(t.Context())
	builds, done := make(chan Result, 16), make(chan error, 1)
	go func() { done <- Watch(ctx, dir, Options{}, func(b Result) { builds <- b }) }()

	tool := func(b Result) string {
		if b.Plugin == nil {
			return "failed"
		}
		return b.Plugin.Manifest.Tools[0].Name
	}
	await := func(want string) {
		t.Helper()
		// One change may be seen as several, and give several builds.
		for {
			select {
			case b := <-builds:
				if tool(b) == want {
					return
				}
			case <-time.After(time.Minute):
				t.Fatalf("no build gave %q", want)
			}
		}
	}
	await("look")
	overwrite(t, filepath.Join(dir, "src", "index.ts"), smallSource("peek"))
	await("peek")
	overwrite(t, filepath.Join(dir, "src", "index.ts"), "export default {{{")
	await("failed")
	if err := os.MkdirAll(filepath.Join(dir, "src", "more"), 0o755); err != nil {
		t.Fatal(err)
	}
	overwrite(t, filepath.Join(dir, "src", "more", "name.ts"), "export const name = 'gaze';")
	overwrite(t, filepath.Join(dir, "src", "index.ts"), "import { name } from './more/name.ts';"+
		strings.Replace(smallSource("look"), "'look'", "name", 1))
	await("gaze")
	stop()
	if err := <-done; err != nil {
		t.Errorf("Watch ended with %v", err)
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	first, second := buildArchive(t, "zod"), buildArchive(t, "zod")
	if first.Hash != second.Hash {
		t.Error("two builds of the same sources in two folders differ")
	}
}

// A build after a change of a handler reads no tools again. It must still see everything else.
func TestBuilderSeesChanges(t *testing.T) {
	dir := unpack(t, large(3))
	b, err := NewBuilder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	build := func() *plugin.Plugin {
		t.Helper()
		p, _, err := b.Build(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	file := filepath.Join(dir, "src", "tool-1.ts")
	before := build()
	overwrite(t, file, strings.Replace(largeTool(1, ""), "'Nobody is called '", "'No one is called '", 1))
	if p := build(); !strings.Contains(string(p.Adapter), "No one is called") {
		t.Error("the changed handler is not in the adapter")
	}
	overwrite(t, file, largeTool(1, "Once more."))
	if p := build(); !strings.Contains(p.Manifest.Tools[1].Description, "Once more.") {
		t.Error("the changed description is not in the manifest")
	}
	overwrite(t, file, largeTool(1, ""))
	if p := build(); p.Hash != before.Hash {
		t.Error("the same sources give another plugin than before")
	}
	overwrite(t, file, strings.Replace(largeTool(1, ""), ".max(200)", ".max(300)", 1))
	if p := build(); !strings.Contains(string(p.Manifest.Tools[1].InputSchema), "300") {
		t.Error("the changed schema is not in the manifest")
	}
}

func TestEndlessRecursionWhileLoading(t *testing.T) {
	dir := small(t)
	overwrite(t, filepath.Join(dir, "src", "index.ts"), "for (;;);")
	b, err := NewBuilder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	b.reader.limit = 20 * time.Millisecond
	if _, _, err := b.Build(t.Context(), Options{}); err == nil ||
		!strings.Contains(err.Error(), "takes longer than 20ms") {
		t.Errorf("Build = %v", err)
	}
	b.reader.limit = time.Hour
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, stop)
	if _, _, err := b.Build(ctx, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled Build = %v", err)
	}
}

func FuzzPackage(f *testing.F) {
	archives, err := filepath.Glob("testdata/build/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archives {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		src, found := parsePackage(&folder{dir: t.TempDir()}, raw, packageUse{})
		for _, d := range found {
			if d.File != packageFile || d.Text == "" || d.Line < 0 || d.Column < 0 {
				t.Errorf("a diagnostic without a place or a text: %+v", d)
			}
		}
		if src == nil || invalid(found) != nil {
			return
		}
		m := src.manifest()
		m.Tools = []plugin.Tool{{Name: "a", InputSchema: emptyInput}}
		files, err := (&plugin.Plugin{Manifest: m, Adapter: []byte{}}).Files()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plugin.FromFiles(files); err != nil {
			t.Errorf("a package that was accepted gives a manifest that is not: %v", err)
		}
	})
}

func TestInvalidPackageJSON(t *testing.T) {
	_, found := parsePackage(&folder{dir: t.TempDir()}, []byte("{\n  \"name\": oops\n}"), packageUse{})
	if len(found) != 1 || found[0].String() != "package.json:2:11: is not valid JSON: invalid literal: oops" {
		t.Errorf("got %v", found)
	}
}
