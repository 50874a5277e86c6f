package plugin

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFromFilesIsInverseOfFiles(t *testing.T) {
	p := &Plugin{
		Manifest: Manifest{
			Name: "shop", Version: "1.0.0", DisplayName: "Shop", World: Main, PreScript: preScriptFile,
			URLPatterns: []string{"https://shop.example/*"},
			Tools:       []Tool{{Name: "read", InputSchema: []byte(`{ "type": "object" }`)}},
			Prompts: []Prompt{{Name: "order", Description: "Orders <tea> & cups.", Template: "Order {{what}}",
				Arguments: []PromptArgument{{Name: "what"}}}},
		},
		Adapter: []byte("var tabrelayPlugin;"), PreScript: []byte("hello()"),
	}
	if err := p.seal(); err != nil {
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
		if name == manifestFile {
			changed[name] = slices.Concat(files[name][:len(files[name])-2],
				[]byte(`,"homepage":"https://evil.example/"}`))
		}
		if other, err := FromFiles(changed); err != nil || other.Hash == p.Hash {
			t.Errorf("%s: a change goes unnoticed: %v", name, err)
		}
	}
	delete(files, preScriptFile)
	if _, err := FromFiles(files); err == nil {
		t.Error("the pre-script is missing, and nobody minds")
	}
}

func TestSourceFilesFollowNoLinks(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.ts")
	dir := t.TempDir()
	for file, content := range map[string]string{
		outside:                               "secret",
		filepath.Join(dir, "package.json"):    "{}",
		filepath.Join(dir, "src/index.ts"):    "index",
		filepath.Join(dir, "src/a/b.ts"):      "b",
		filepath.Join(dir, "src/logo.png"):    "png",
		filepath.Join(dir, "src/zero.ts"):     "a\x00b",
		filepath.Join(dir, "prompts/p.md"):    "p",
		filepath.Join(dir, "other/hidden"):    "hidden",
		filepath.Join(dir, "dist/adapter.js"): "built",
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"src/link.ts": outside, "src/folder": filepath.Dir(outside)} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	files, whole := SourceFiles(dir)
	if diff := cmp.Diff([]string{"package.json", "prompts/p.md", "src/a/b.ts", "src/index.ts"},
		slices.Sorted(maps.Keys(files))); diff != "" || !whole {
		t.Errorf("whole %v (-want +got)\n%s", whole, diff)
	}
	if none, whole := SourceFiles(filepath.Join(dir, "nowhere")); len(none) > 0 || !whole {
		t.Errorf("a folder that is gone has sources %v", none)
	}
}

// A plugin that is shipped has the hash of its build, though its manifest is not encoded again.
func TestShippedHash(t *testing.T) {
	built := buildArchive(t, "zod")
	dir := t.TempDir()
	if err := writeOutput(filepath.Join(dir, built.Manifest.Name), built); err != nil {
		t.Fatal(err)
	}
	shipped, err := LoadFS(os.DirFS(dir))
	if err != nil || len(shipped) != 1 || shipped[0].Hash != built.Hash {
		t.Errorf("the hash is %+v, built %s: %v", shipped, built.Hash, err)
	}
	again := shipped[0]
	if err := again.seal(); err != nil || again.Hash != built.Hash {
		t.Errorf("what was read back is another plugin: %s, %v", again.Hash, err)
	}
}
