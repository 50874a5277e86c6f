package relay

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each test that docs/proofs.md names is there.
func TestDocProofsNameTestsThatExist(t *testing.T) {
	text, err := os.ReadFile("../docs/proofs.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for _, folder := range []string{"../relay", "../cmd", "../adapters"} {
		err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
			if d != nil && d.IsDir() && d.Name() == "node_modules" {
				return fs.SkipDir
			}
			if err != nil || !strings.HasSuffix(file, "_test.go") {
				return err
			}
			source, err := os.ReadFile(file)
			for _, found := range declared.FindAllStringSubmatch(string(source), -1) {
				there[found[1]] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, found := range regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`).FindAllString(string(text), -1) {
		if !there[found] {
			t.Errorf("docs/proofs.md names %s, which there is not", found)
		}
	}
	for _, found := range regexp.MustCompile(`\bTestScript/([\w-]+)`).FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat("../cmd/tabrelay/testdata/script/" + found[1] + ".txtar"); err != nil {
			t.Errorf("docs/proofs.md names %s, which there is not", found[0])
		}
	}
	specs := regexp.MustCompile("`(?:e2e/specs/)?([\\w-]+)\\.spec\\.ts")
	for _, found := range specs.FindAllStringSubmatch(string(text), -1) {
		files, err := filepath.Glob("../e2e/*/" + found[1] + ".spec.ts")
		if err != nil || len(files) == 0 {
			t.Errorf("docs/proofs.md names %s.spec.ts, which there is not", found[1])
		}
	}
}
