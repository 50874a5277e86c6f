package install

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tabrelay/relay/road/fault"
)

// Everything in the shipped index can be added, under a name of its own, and says by which licence.
func TestShippedIndexCanBeAdded(t *testing.T) {
	index, err := ReadIndex(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, l := range index.All() {
		if names[l.Name] || l.Licence() == "" {
			t.Errorf("%s: twice %v, licence %q", l.Name, names[l.Name], l.Licence())
		}
		names[l.Name] = true
	}
	if len(names) < 100 {
		t.Errorf("only %d plugins can have a name", len(names))
	}
}

func TestListingsForAPageAndForWords(t *testing.T) {
	index, err := ReadIndex(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"https://app.slack.com/client/T1":    "slack-enterprise slack",
		"https://app.slack.com.evil.example": "",
		"https://mail.example/":              "",
		"about:blank":                        "",
		"http://localhost:1880/":             "", // no plugin of a repository's own tests
	} {
		page, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := namesOf(index.For(page)); got != want {
			t.Errorf("for %s: %q, want %q", address, got, want)
		}
	}
	for words, want := range map[string]string{
		"SLACK": "slack slack-enterprise", "slack enter": "slack-enterprise", "slack no-such-word": "", "tea ": "teams",
		"app.slack.com": "slack-enterprise slack", "lack": "",
	} {
		if got := namesOf(index.Mentioning(strings.Fields(words))); got != want {
			t.Errorf("%s finds %q, want %q", words, got, want)
		}
	}
}

func namesOf(list []Listing) string {
	names := make([]string, len(list))
	for i, l := range list {
		names[i] = l.Name
	}
	return strings.Join(names, " ")
}

// A repository is listed with what its plugins say of themselves, at one commit; what does not build is named.
func TestUpdateIndexReadsEveryPluginOfARepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir, put, git := emptyRepository(t)
	put("package.json", `{"name": "plugins", "license": "MIT"}`)
	put("plugins/tea/package.json", strings.ReplaceAll(teaManifest, "VERSION", "1.0.0"))
	put("plugins/tea/src/index.ts", strings.ReplaceAll(teaSource, "TOOL", "brew"))
	put("plugins/broken/package.json", strings.ReplaceAll(teaManifest, "VERSION", "1.0.0"))
	put("plugins/broken/src/index.ts", "export default {")
	git("add", "-A")
	git("commit", "-q", "-m", "first")
	name, home := "git+file://"+filepath.ToSlash(dir), t.TempDir()
	quiet := func(string) func() { return func() {} }
	now, left, err := UpdateIndex(t.Context(), home, Source{From: name, GitBytes: enough}, quiet)
	if err != nil || len(now.Plugins) != 1 || now.Commit != git("rev-parse", "HEAD") || now.Licence != "MIT" {
		t.Fatalf("%+v, %v", now, err)
	}
	if len(left) != 1 || !strings.HasPrefix(left[0].Error(), "plugins/broken: ") {
		t.Errorf("left out are %v", left)
	}
	index, err := ReadIndex(home)
	if err != nil {
		t.Fatal(err)
	}
	found := index.Mentioning([]string{"brew"})
	if len(found) != 1 || found[0].From() != name+"//plugins/tea#"+now.Commit || len(found[0].Tools) != 1 {
		t.Fatalf("a tool finds %+v", found)
	}
	r, _, err := ParseRepository(found[0].From())
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Fetch(t.Context(), enough)
	if err != nil {
		t.Fatal(err)
	}
	if entry := added(t, t.TempDir(), p, false); entry.Name != found[0].Name {
		t.Errorf("added is %q, listed was %q", entry.Name, found[0].Name)
	}

	put("plugins/tea/src/index.ts", strings.ReplaceAll(teaSource, "TOOL", "pour"))
	git("commit", "-q", "-am", "second")
	if _, _, err := UpdateIndex(t.Context(), home, Source{From: name, GitBytes: enough}, quiet); err != nil {
		t.Fatal(err)
	}
	index, err = ReadIndex(home)
	if err != nil || len(index.Mentioning([]string{"brew"})) != 0 || len(index.Mentioning([]string{"pour"})) != 1 {
		t.Errorf("after the update it lists %q, %v", namesOf(index.Mentioning([]string{"tea"})), err)
	}
	for _, from := range []string{name + "//plugins/tea", "tea-shop", "github:tea"} {
		if _, _, err := UpdateIndex(t.Context(), home, Source{From: from, GitBytes: enough}, quiet); err == nil {
			t.Errorf("%s is taken for a repository", from)
		}
	}
}

// Repositories that are indexed at the same time are all in the index afterwards.
func TestIndexKeepsWhatIsWrittenAtOnce(t *testing.T) {
	home := filepath.Join(t.TempDir(), "plugins")
	var writers sync.WaitGroup
	for i := range 20 {
		writers.Go(func() {
			tea := IndexedPlugin{Package: "opentabs-plugin-tea", Folder: "plugins/tea", Version: "1"}
			one := IndexedRepository{Source: fmt.Sprintf("github:tea/shop%d", i), Commit: sha1,
				Plugins: []IndexedPlugin{tea}}
			if err := keepIndexed(home, one); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	index, err := ReadIndex(home)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(namesOf(index.All())+" ", "tea "); n != 20 {
		t.Errorf("%d of 20 are in the index", n)
	}
}

// An index that was changed by hand is used as a whole or not at all, and shown without control characters.
func TestOwnIndexIsChecked(t *testing.T) {
	const listed = `{"sources": [{"source": "SOURCE", "commit": "COMMIT", "plugins": [{"package": "opentabs-plugin-tea",
		"folder": "FOLDER", "version": "1", "displayName": "\u001b[31mTea\nshop",
		"urlPatterns": ["https://tea.example/*"]}]}]}`
	for name, c := range map[string]struct{ source, commit, folder, want string }{
		"good":             {"github:tea/shop", sha1, "plugins/tea", ""},
		"no commit":        {"github:tea/shop", "main", "plugins/tea", "it has no commit"},
		"out of it":        {"github:tea/shop", sha1, "../tea", "cannot be added"},
		"not a repository": {"tea-shop", sha1, "plugins/tea", "cannot be added"},
		"a command":        {"git+ext::sh -c id", sha1, "plugins/tea", "cannot be added"},
	} {
		home := t.TempDir()
		text := strings.NewReplacer("SOURCE", c.source, "COMMIT", c.commit, "FOLDER", c.folder).Replace(listed)
		if err := os.WriteFile(filepath.Join(home, indexFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		index, err := ReadIndex(home)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) || fault.HintOf(err) == "" {
				t.Errorf("%s: %v (%s)", name, err, fault.HintOf(err))
			}
			continue
		}
		page, _ := url.Parse("https://tea.example/")
		if found := index.For(page); err != nil || len(found) != 1 || found[0].DisplayName != "Tea shop" {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}
