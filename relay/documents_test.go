package relay

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

var namedPath = regexp.MustCompile("`((?:adapters|cmd|docs|e2e|extension|plugin-sdk|relay)/[\\w./*-]+)`")

// TestDocumentsNameFilesThatExist looks for each path of this repository that a document names; dist folders are built.
func TestDocumentsNameFilesThatExist(t *testing.T) {
	root := os.DirFS("..")
	documents := []string{"README.md", "CHANGELOG.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		names, err := fs.Glob(root, pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no files: %v", pattern, err)
		}
		documents = append(documents, names...)
	}
	found := 0
	for _, document := range documents {
		text, err := fs.ReadFile(root, document)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, match := range namedPath.FindAllStringSubmatch(line, -1) {
				name := strings.TrimSuffix(match[1], "/")
				found++
				if !exists(t, root, name) && !strings.HasSuffix(name, "/dist") {
					t.Errorf("%s:%d names %s, which does not exist", document, i+1, match[1])
				}
			}
		}
	}
	if found == 0 {
		t.Error("no document names a path")
	}
}

func exists(t *testing.T, root fs.FS, name string) bool {
	t.Helper()
	if strings.Contains(name, "*") {
		names, err := fs.Glob(root, name)
		if err != nil {
			t.Fatal(err)
		}
		return len(names) > 0
	}
	_, err := fs.Stat(root, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}
