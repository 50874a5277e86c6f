package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two builds of the same sources are the same files: the relay compares hashes to see whether the browser is current.
func TestBuildIsRepeatable(t *testing.T) {
	one, two := build(t), build(t)
	if one["bundle.json"] == "" || one["bundle.json"] != two["bundle.json"] {
		t.Errorf("hashes differ: %s and %s", one["bundle.json"], two["bundle.json"])
	}
	for name, content := range one {
		if content != two[name] {
			t.Errorf("%s differs between two builds", name)
		}
	}
	if strings.Contains(one["worker.js"], hashPlaceholder) {
		t.Error("worker.js still has the place of the hash")
	}
	if !strings.Contains(one["page-main.js"], "var tabrelayRuntime=") {
		t.Error("page-main.js does not define tabrelayRuntime, which adapter files call")
	}
}

func TestHashCoversNamesAndContents(t *testing.T) {
	base := hashOf(map[string][]byte{"a": []byte("1"), "b": []byte("2")})
	for _, other := range []map[string][]byte{
		{"a": []byte("1"), "b": []byte("3")},
		{"a": []byte("1"), "c": []byte("2")},
		{"a": []byte("1b\n1\n2")},
		{"a": []byte("1")},
	} {
		if hashOf(other) == base {
			t.Errorf("%v has the hash of another bundle", other)
		}
	}
}

// build bundles this module's extension into a copy of its folder and returns what came out.
func build(t *testing.T) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "extension")
	for _, folder := range []string{"src", "icons", "preact"} {
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS("../"+folder)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{
		"extension/manifest.json", "extension/tsconfig.json", "tsconfig.base.json", "LICENSE",
	} {
		data, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(filepath.Dir(dir), name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "dist"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := run(dir); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	dist := os.DirFS(filepath.Join(dir, "dist"))
	err := fs.WalkDir(dist, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(dist, path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
