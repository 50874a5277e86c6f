package adapters

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tabrelay/relay/plugin"
)

// TestRecipesNameToolsThatExist holds the recipes to the tools they tell a model to call.
func TestRecipesNameToolsThatExist(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	docs, err := os.ReadFile("../docs/prompts.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`[a-z0-9-]+__[a-z0-9_]+`)
	for _, name := range sources(t) {
		m := readManifest(t, files, name)
		if len(m.Prompts) < 2 {
			t.Errorf("%s: has %d recipes; two or three show a person what it is good for", name, len(m.Prompts))
		}
		for _, p := range m.Prompts {
			for _, full := range named.FindAllString(p.Template, -1) {
				if !slices.ContainsFunc(m.Tools, func(tool plugin.Tool) bool { return m.Name+"__"+tool.Name == full }) {
					t.Errorf("%s: the recipe %s tells the model to call %s, which does not exist", name, p.Name, full)
				}
			}
			if !bytes.Contains(docs, []byte("`"+m.Name+"__"+p.Name+"`")) {
				t.Errorf("docs/prompts.md does not list %s__%s", name, p.Name)
			}
			if p.Title == "" || !strings.HasSuffix(p.Description, ".") {
				t.Errorf("%s: the recipe %s needs a title and a description that is a sentence", name, p.Name)
			}
		}
	}
}
