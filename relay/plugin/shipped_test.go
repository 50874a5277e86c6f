package plugin

import (
	"os"
	"path/filepath"
	"testing"
)

// A plugin that is shipped has the hash of its build, though its manifest is not encoded again.
func TestShippedHash(t *testing.T) {
	built := buildArchive(t, "zod")
	dir := t.TempDir()
	if err := write(filepath.Join(dir, built.Manifest.Name), built); err != nil {
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
