package trial

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"tabrelay/relay/plugin/build"
)

var step = regexp.MustCompile("(?s)ut this into `([^`]+)`:\n\n```\\w+\n(.*?)```")

// The guide's fixture holds for the guide's plugin.
func TestGuideFixtureHoldsForItsPlugin(t *testing.T) {
	page, err := os.ReadFile("../../../docs/guides/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, content string) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("package.json",
		`{"name":"tabrelay-plugin-shop","tabrelay":{"displayName":"Shop","urlPatterns":["https://shop.example/*"]}}`)
	for _, found := range step.FindAllStringSubmatch(string(page), -1) {
		write(found[1], found[2])
	}
	p, _, err := build.Build(t.Context(), dir, build.Options{Out: "-"})
	if err != nil {
		t.Fatal(err)
	}
	fixtures, err := Read(dir, p)
	if err != nil || len(fixtures) != 1 {
		t.Fatalf("the guide has the fixtures %+v, %v", fixtures, err)
	}
	if got := Run(t.Context(), p, &fixtures[0]); len(got.Problems) > 0 || got.NeedsPage != "" {
		t.Errorf("the guide's fixture gives %+v", got)
	}
}
