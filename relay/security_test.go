package relay

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest = regexp.MustCompile("`([a-z0-9/_.-]+\\.(?:go|ts)): ([^`]+)`")
	threatRow = regexp.MustCompile(`(?m)^\| .* \|$`)
)

// TestTestsOfTheSecurityPage: each threat of docs/security.md names a test, and each test it names exists.
func TestTestsOfTheSecurityPage(t *testing.T) {
	page, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	files := map[string]string{}
	found := namedTest.FindAllStringSubmatch(text, -1)
	for _, named := range found {
		file, name := named[1], named[2]
		if _, read := files[file]; !read {
			content, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(file)))
			if err != nil {
				t.Errorf("%s is named, and cannot be read: %v", file, err)
			}
			files[file] = string(content)
		}
		if filepath.Ext(file) == ".go" {
			name = "func " + name + "("
		}
		if !strings.Contains(files[file], name) {
			t.Errorf("%s has no test %q", file, named[2])
		}
	}
	if len(found) < 70 {
		t.Errorf("only %d tests are named", len(found))
	}
	_, threats, _ := strings.Cut(text, "## Threats")
	threats, _, _ = strings.Cut(threats, "## What it does not defend against")
	for _, row := range threatRow.FindAllString(threats, -1) {
		if head := strings.Contains(row, "| test |") || strings.Contains(row, "| test that") ||
			strings.Contains(row, "| --- |"); !head && !namedTest.MatchString(row) &&
			!strings.Contains(row, "| the same two |") {
			t.Errorf("no test is named in %s", row)
		}
	}
}
