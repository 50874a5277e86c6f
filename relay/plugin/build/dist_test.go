package build

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/road/plugin"
)

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
	shipped, err := plugin.LoadFS(os.DirFS(dir))
	if err != nil || len(shipped) != 1 || shipped[0].Hash != built.Hash {
		t.Errorf("the hash is %+v, built %s: %v", shipped, built.Hash, err)
	}
	again := shipped[0]
	if err := again.Seal(); err != nil || again.Hash != built.Hash {
		t.Errorf("what was read back is another plugin: %s, %v", again.Hash, err)
	}
}
