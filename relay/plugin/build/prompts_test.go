package build

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"tabrelay/relay/road/plugin"
)

func TestPromptFaultsHaveLines(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/prompts/faults.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(archive.Files); i += 2 {
		file, want := archive.Files[i], archive.Files[i+1]
		p, found := parsePrompt("prompts/"+file.Name, file.Data)
		var got strings.Builder
		for _, d := range found {
			got.WriteString(d.String() + "\n")
		}
		if diff := cmp.Diff(string(want.Data), got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file.Name, diff)
		}
		if (p == nil) != (invalid(found) != nil) {
			t.Errorf("%s: a recipe comes back exactly when nothing is wrong with it", file.Name)
		}
	}
	whole, _ := parsePrompt("prompts/whole.md", archive.Files[0].Data)
	want := &plugin.Prompt{
		Name: "tea_report", Title: "Tea report", Description: "Compares teas and says which to buy.",
		Arguments: []plugin.PromptArgument{
			{Name: "kind", Description: "Green, black or white.", Required: true,
				Complete: []string{"green", "black", "white"}},
			{Name: "since", Default: "2026-01-01"}, {Name: "tab", From: "tabs"},
		},
		Template: "Compare the {{kind}} teas of the shop since {{ since }} in tab {{tab}}.\nA placeholder is written " +
			"\\{{name}}, and \\{{ alone is fine.",
	}
	if diff := cmp.Diff(want, whole); diff != "" {
		t.Error(diff)
	}
}

func TestManifestContainsPrompts(t *testing.T) {
	dir := small(t)
	folder := filepath.Join(dir, promptsFolder)
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	overwrite(t, filepath.Join(folder, "look_around.md"), "---\r\ndescription: Looks around.\r\n---\r\nLook around "+
		"with small__look.\r\n")
	overwrite(t, filepath.Join(folder, "README.md"), "About these recipes.")
	overwrite(t, filepath.Join(folder, "notes.txt"), "x")
	p, found, err := Build(context.Background(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []plugin.Prompt{{Name: "look_around", Description: "Looks around.",
		Template: "Look around with small__look."}}
	if diff := cmp.Diff(want, p.Manifest.Prompts); diff != "" {
		t.Error(diff)
	}
	if len(found) != 1 || found[0].String() != "prompts/notes.txt: warning: is not read: a recipe is a file "+
		"prompts/<name>.md" {
		t.Errorf("diagnostics: %v", found)
	}
	loaded, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, loaded.Manifest.Prompts); diff != "" || loaded.Hash != p.Hash {
		t.Errorf("what was built is not what is loaded: %s", diff)
	}
}

func TestPromptNamesAreUnique(t *testing.T) {
	dir := small(t)
	folder := filepath.Join(dir, promptsFolder)
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	overwrite(t, filepath.Join(folder, "a.md"), "---\nname: one\ndescription: A.\n---\nA")
	overwrite(t, filepath.Join(folder, "b.md"), "---\nname: one\ndescription: B.\n---\nB")
	overwrite(t, filepath.Join(folder, "Big Name.md"), "---\ndescription: C.\n---\nC")
	overwrite(t, filepath.Join(folder, "large.md"), strings.Repeat("x", plugin.MaxPromptFile+1))
	_, _, err := Build(context.Background(), dir, Options{Out: "-"})
	want := `prompts/Big Name.md:1: the prompt name "Big Name" is not allowed; use lower-case letters, digits and underscores, beginning with a letter
prompts/b.md:1: there are two prompts "one"; the other one is prompts/a.md
prompts/large.md: has 65537 bytes, and a recipe may have 65536`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
}

func FuzzPrompt(f *testing.F) {
	archive, err := txtar.ParseFile("testdata/prompts/faults.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for i := 0; i < len(archive.Files); i += 2 {
		f.Add(archive.Files[i].Data)
	}
	f.Add([]byte("---\na: &a [*a]\ndescription: !!binary x\n? {}\n---\n{{a}}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, found := parsePrompt("prompts/x.md", raw)
		if p == nil {
			if invalid(found) == nil {
				t.Error("refused without a reason")
			}
			return
		}
		if p.Description == "" || p.Template == "" || !utf8.ValidString(p.Template) {
			t.Errorf("accepted %+v", p)
		}
		p.Fill(func(name string) string {
			if !plugin.ValidArgument(name) {
				t.Errorf("a placeholder of no argument: %q", name)
			}
			return "{{x}}"
		})
	})
}

// TestDocumentedPromptParses builds the example of docs/prompts.md.
func TestDocumentedPromptParses(t *testing.T) {
	page, err := os.ReadFile("../../../docs/prompts.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```markdown\n")
	example, _, _ = strings.Cut(example, "```")
	p, found := parsePrompt("prompts/compare_teas.md", []byte(example))
	if p == nil || len(found) != 0 {
		t.Fatalf("the example is not accepted: %v", found)
	}
	if got := p.Fill(func(name string) string { return "<" + name + ">" }); !strings.Contains(got,
		"Find the best <kind> tea for at most <budget> per 100 grams, in tab <tab>.") {
		t.Errorf("it reads: %s", got)
	}
}
