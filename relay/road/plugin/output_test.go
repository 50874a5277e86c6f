package plugin

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	json "github.com/go-json-experiment/json/v1"
)

func TestFromFilesIsInverseOfFiles(t *testing.T) {
	p := &Plugin{
		Manifest: Manifest{
			Name: "shop", Version: "1.0.0", DisplayName: "Shop", World: Main, PreScript: PreScriptFile,
			URLPatterns: []string{"https://shop.example/*"},
			Tools:       []Tool{{Name: "read", InputSchema: []byte(`{ "type": "object" }`)}},
			Prompts: []Prompt{{Name: "order", Description: "Orders <tea> & cups.", Template: "Order {{what}}",
				Arguments: []PromptArgument{{Name: "what"}}}},
		},
		Adapter: []byte("var tabrelayPlugin;"), PreScript: []byte("hello()"),
	}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	files, err := p.Files()
	if err != nil {
		t.Fatal(err)
	}
	again, err := FromFiles(files)
	if err != nil || again.Hash != p.Hash {
		t.Fatalf("%v, hash %s, want %s", err, again.Hash, p.Hash)
	}
	for name := range files {
		changed := maps.Clone(files)
		changed[name] = slices.Concat(files[name][:len(files[name])-1], []byte(" "), files[name][len(files[name])-1:])
		if name == ManifestFile {
			changed[name] = slices.Concat(files[name][:len(files[name])-2],
				[]byte(`,"homepage":"https://evil.example/"}`))
		}
		if other, err := FromFiles(changed); err != nil || other.Hash == p.Hash {
			t.Errorf("%s: a change goes unnoticed: %v", name, err)
		}
	}
	delete(files, PreScriptFile)
	if _, err := FromFiles(files); err == nil {
		t.Error("the pre-script is missing, and nobody minds")
	}
}

func TestLoadFS(t *testing.T) {
	manifest := `{"name":"x","world":"isolated","urlPatterns":["https://x.example/*"],"tools":[{"name":"a",` +
		`"inputSchema":{}}]}`
	files := fstest.MapFS{
		"x/manifest.json": {Data: []byte(manifest)},
		"x/adapter.js":    {Data: []byte("var tabrelayPlugin={}")},
		".gitkeep":        {},
	}
	plugins, err := LoadFS(files)
	if err != nil || len(plugins) != 1 || !plugins[0].Shipped || len(plugins[0].Hash) != 64 {
		t.Fatalf("LoadFS = %+v, %v", plugins, err)
	}
	for bad, want := range map[string]string{
		strings.Replace(manifest, `"x"`, `"relay"`, 1):                         "is reserved",
		strings.Replace(manifest, "isolated", "page", 1):                       "world",
		strings.Replace(manifest, "x.example", "*", 1):                         "every site",
		strings.Replace(manifest, `"a"`, `"A"`, 1):                             "tool name",
		strings.Replace(manifest, `,"inputSchema":{}`, "", 1):                  "no inputSchema",
		strings.Replace(manifest, "]}", `,{"name":"a","inputSchema":{}}]}`, 1): "two tools",
	} {
		files["x/manifest.json"] = &fstest.MapFile{Data: []byte(bad)}
		if _, err := LoadFS(files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("LoadFS of %s = %v, want an error with %q", bad, err, want)
		}
	}
}

// TestOnlyShippedPluginsMatchEveryPage: a plugin of the binary that only reads may work everywhere; one from a folder
// may not.
func TestOnlyShippedPluginsMatchEveryPage(t *testing.T) {
	manifest := `{"name":"x","world":"isolated","urlPatterns":["*://*/*"],"tools":[{"name":"a","inputSchema":{},` +
		`"annotations":{"readOnlyHint":true}}]}`
	files := fstest.MapFS{"x/manifest.json": {Data: []byte(manifest)},
		"x/adapter.js": {Data: []byte("var tabrelayPlugin={}")}}
	plugins, err := LoadFS(files)
	if err != nil || !plugins[0].Manifest.EveryPage() {
		t.Fatalf("LoadFS = %+v, %v", plugins, err)
	}
	var m Manifest
	if err := json.Unmarshal([]byte(manifest), &m); err != nil {
		t.Fatal(err)
	}
	if err := m.validate(false); err == nil || !strings.Contains(err.Error(), "every site") {
		t.Errorf("a plugin from a folder: %v", err)
	}
	for _, bad := range []string{strings.Replace(manifest, "isolated", "main", 1),
		strings.Replace(manifest, "true", "false", 1)} {
		files["x/manifest.json"] = &fstest.MapFile{Data: []byte(bad)}
		if _, err := LoadFS(files); err == nil || !strings.Contains(err.Error(), "works on every site") {
			t.Errorf("LoadFS of %s = %v", bad, err)
		}
	}
}
