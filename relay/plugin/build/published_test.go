package build

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabrelay/relay/road/plugin"
)

func TestPublishedScriptsAreKeptApart(t *testing.T) {
	for given, want := range map[string]string{
		`globalThis.__openTabs.adapters`:            `tabrelayPage.__openTabs.adapters`,
		`globalThis.__openTabs?.pluginConfig`:       `tabrelayPage.__openTabs?.pluginConfig`,
		`var o=(globalThis).__openTabs;`:            `var o=(tabrelayPage).__openTabs;`,
		`window["__openTabs"]`:                      `tabrelayPage["__openTabs"]`,
		`delete globalThis?.__openTabs`:             `delete tabrelayPage?.__openTabs`,
		`page.globalThis.__openTabs`:                `page.globalThis.__openTabs`,
		`globalThis.__openTabsOther`:                `globalThis.__openTabsOther`,
		"a();\n//# sourceMappingURL=adapter.js.map": "a();\n",
	} {
		if got := string(apart([]byte(given))); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

const (
	publishedAbout = `{"name": "@opentabs-dev/opentabs-plugin-tea", "version": "1.0.0", "opentabs": {
  "displayName": "Tea", "urlPatterns": ["https://tea.example/*"], "preScript": "src/pre-script.ts"}}`
	publishedList = `{"sdkVersion": "0.0.115", "configSchema": {"token": {"type": "string"}}, "tools": [{"name": "list_teas",
  "displayName": "List teas", "description": "Lists teas.", "icon": "leaf", "input_schema": {"type": "object",
  "properties": {"limit": {"type": "number", "default": 3}}}, "output_schema": {"type": "object"}}]}`
	publishedScript = `"use strict"; (() => { globalThis.__openTabs.adapters.tea = { tools: [] }; })();`
)

func TestBuildPublished(t *testing.T) {
	write := func(t *testing.T, files map[string]string) string {
		t.Helper()
		dir := t.TempDir()
		for name, content := range files {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	whole := map[string]string{packageFile: publishedAbout, publishedTools: publishedList,
		publishedAdapter: publishedScript}
	p, _, err := Published(t.Context(), write(t, whole))
	if err != nil {
		t.Fatal(err)
	}
	m := p.Manifest
	if m.Name != "tea" || m.World != plugin.Main || len(m.Tools) != 1 || !m.Tools[0].SaysNothing() ||
		m.PreScript != "" ||
		!strings.Contains(string(m.ConfigSchema), "token") || !strings.Contains(string(p.Adapter), `{limit:`) &&
		!strings.Contains(string(p.Adapter), `"limit":{"v":3}`) {
		t.Errorf("built is %+v", m)
	}
	loaded, err := Load(p.Dir)
	if err != nil || loaded.Hash != p.Hash {
		t.Errorf("loaded is another one, %v", err)
	}
	for name, c := range map[string]struct{ file, content, want string }{
		"no JSON":  {publishedTools, `{`, "dist/tools.json: cannot be read"},
		"no tools": {publishedTools, `{"tools": []}`, "exports no tools"},
		"a bad schema": {publishedTools, strings.Replace(publishedList, `"number"`, `"tea"`, 1),
			"dist/tools.json: tool"},
		"a bad script": {publishedAdapter, "(() => {\n  let;\n", "dist/adapter.iife.js:"},
		"another file": {publishedAdapter, `}); import "../../secret"; (() => {`, "dist/adapter.iife.js"},
		"every page": {packageFile, strings.Replace(publishedAbout, "https://tea.example/*", "*://*/*", 1),
			"url pattern"},
		"an older list": {publishedTools, `[{"name": "a", "description": "A."}]`, ""},
	} {
		files := map[string]string{}
		maps.Copy(files, whole)
		files[c.file] = c.content
		_, _, err := Published(t.Context(), write(t, files))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
