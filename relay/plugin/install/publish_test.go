package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tabrelay/relay/plugin/build"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
)

// scaffolded is a new plugin, built.
func scaffolded(t *testing.T, edit func(manifest string) string) *plugin.Plugin {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tea-shop")
	if err := build.Scaffold(dir, ""); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "package.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(edit(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	p, _, err := build.Build(t.Context(), dir, build.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// enough is more than a repository of a test takes on disk.
const enough = 256 << 20

func unchanged(text string) string { return text }

// A new plugin packs without an edit, and what comes out is installed as what went in.
func TestPackedPluginInstallsAsItWas(t *testing.T) {
	p := scaffolded(t, unchanged)
	if err := os.WriteFile(filepath.Join(p.Dir, "README.md"), []byte("# Tea shop\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	packed, err := Pack(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"README.md", "dist/adapter.js", "dist/adapter.js.map", "dist/manifest.json", "package.json"}
	if !slices.Equal(packed.Files, want) || len(packed.Left) > 0 ||
		packed.Name != "tabrelay-plugin-tea-shop-0.1.0.tgz" {
		t.Errorf("packed are %v as %s, and npm would differ in %v", packed.Files, packed.Name, packed.Left)
	}
	again, err := Pack(t.Context(), p)
	if err != nil || !slices.Equal(again.Tarball, packed.Tarball) {
		t.Errorf("packing it again gives other bytes, %v", err)
	}
	entry := added(t, t.TempDir(), &Package{Spec: Spec{Name: "tea.tgz"}, Tarball: packed.Tarball,
		Integrity: integrityOf(packed.Tarball)}, false)
	if entry.Plugin.Hash != p.Hash {
		t.Errorf("installed is %.12s, packed was %.12s", entry.Plugin.Hash, p.Hash)
	}
}

func TestPackSaysWhatNpmWouldDoOtherwise(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(string) string
		want string
		err  string
	}{
		"private": {func(s string) string { return strings.Replace(s, `"type":`, `"private": true, "type":`, 1) },
			`"private": true`, ""},
		"no files": {func(s string) string { return strings.Replace(s, `"files": ["dist"],`, "", 1) }, `"files"`, ""},
		"no version": {func(s string) string { return strings.Replace(s, `"version": "0.1.0",`, "", 1) }, "",
			`no "version"`},
		"negated": {func(s string) string { return strings.Replace(s, `["dist"]`, `["dist", "!dist/x"]`, 1) }, "",
			`names "!dist/x"`},
	} {
		packed, err := Pack(t.Context(), scaffolded(t, c.edit))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || len(packed.Left) != 1 || !strings.Contains(packed.Left[0], c.want) {
			t.Errorf("%s: %+v, %v", name, packed, err)
		}
	}
}

const sha1 = "0123456789abcdef0123456789abcdef01234567"

func TestParseRepository(t *testing.T) {
	for text, want := range map[string]string{
		"github:tea/shop":                        "https://github.com/tea/shop.git#",
		"github:tea/shop.git#v1.2":               "https://github.com/tea/shop.git#v1.2",
		"git+https://git.example/tea.git#main":   "https://git.example/tea.git#main",
		"git+ssh://git@git.example/tea":          "ssh://git@git.example/tea#",
		"git+file:///srv/tea":                    "file:///srv/tea#",
		"github:tea":                             "error",
		"github:tea/shop/more":                   "error",
		"github:tea/../shop":                     "error",
		"git+ext::sh -c id":                      "error",
		"git+http://git.example/tea":             "error",
		"github:tea/shop#--upload-pack=touch x":  "error",
		"github:tea/shop//plugins/tea":           "https://github.com/tea/shop.git# plugins/tea",
		"github:tea/shop//plugins/tea#v1.2":      "https://github.com/tea/shop.git#v1.2 plugins/tea",
		"git+https://git.example/a//b/c#" + sha1: "https://git.example/a#" + sha1 + " b/c",
		"git+ssh://git@git.example/tea//b":       "ssh://git@git.example/tea# b",
		"git+file:///srv/tea//plugins/tea#main":  "file:///srv/tea#main plugins/tea",
		"github:tea/shop//":                      "error",
		"github:tea/shop//../..":                 "error",
		"github:tea/shop//a/../../b":             "error",
		"github:tea/shop//-a":                    "error",
		"github:tea/shop//a//b":                  "error",
		"github:tea/shop//a:b":                   "error",
		"github:tea/shop#":                       "error",
		"github:tea/shop#+main:main":             "error",
		"github:tea/shop#main~1":                 "error",
		"github:tea/shop#a:refs/heads/b":         "error",
		"tea-shop":                               "other",
		"@tea/shop@1.0.0":                        "other",
	} {
		r, ok, err := ParseRepository(text)
		got := r.URL + "#" + r.Ref
		if r.Folder != "" {
			got += " " + r.Folder
		}
		if err != nil {
			got = "error"
		} else if !ok {
			got = "other"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A password in the address of a repository would be written down and shown with it; what is said does not show it.
func TestRepositoryWithAPassword(t *testing.T) {
	for _, text := range []string{"git+https://user:hunter2@git.example/tea.git", "git+https://hunter2@git.example/tea",
		"git+ssh://git:hunter2@git.example/tea", "git+https://hunter2@git.example//b#main"} {
		_, ok, err := ParseRepository(text)
		if !ok || err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "password") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Git works in the folder that it is given, also where a hook of another repository runs tabrelay.
func TestFetchLeavesOtherRepositoriesAlone(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	repository := func(name string) string {
		dir, put, git := emptyRepository(t)
		put("package.json", `{"name":"`+name+`"}`)
		git("add", "-A")
		git("commit", "-q", "-m", name)
		return dir
	}
	tea, own := repository("tea"), repository("own")
	r, _, err := ParseRepository("git+file://" + filepath.ToSlash(tea))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_DIR", filepath.Join(own, ".git"))
	t.Setenv("GIT_WORK_TREE", own)
	if _, err := r.Fetch(t.Context(), enough); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(own, ".git", "FETCH_HEAD")); err == nil {
		t.Error("it was fetched into the other repository")
	}
}

// A repository is installed at its newest commit, and updated to a later one.
func TestFetchRepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	p := scaffolded(t, unchanged)
	git := func(args ...string) {
		t.Helper()
		about := []string{"-C", p.Dir, "-c", "user.name=a", "-c", "user.email=a@b.c"}
		cmd := exec.Command("git", append(about, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
	for link, to := range map[string]string{"CLAUDE.md": "README.md", "src/all": "..", "etc": "/etc"} {
		if err := os.Symlink(to, filepath.Join(p.Dir, filepath.FromSlash(link))); err != nil {
			t.Skip("links cannot be made here") // as on Windows without developer mode
		}
	}
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-q", "-m", "first")
	name, home := "git+file://"+filepath.ToSlash(p.Dir), t.TempDir()
	fetch := func(text string) *Package {
		t.Helper()
		r, ok, err := ParseRepository(text)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		fetched, err := r.Fetch(t.Context(), enough)
		if err != nil {
			t.Fatal(err)
		}
		return fetched
	}
	first := added(t, home, fetch(name), false)
	if first.Plugin.Hash != p.Hash || first.Pin.From != "git:"+name || len(first.Pin.Version) != 40 {
		t.Errorf("installed is %.12s, pinned to %+v", first.Plugin.Hash, first.Pin)
	}
	for _, link := range []string{"CLAUDE.md", "src/all", "etc"} {
		_, err := os.Lstat(filepath.Join(first.Plugin.Dir, filepath.FromSlash(link)))
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the link %s was taken: %v", link, err)
		}
	}
	git("commit", "-q", "--allow-empty", "-m", "second")
	_, from, err := Installed(home, "tea-shop")
	if err != nil || from != name {
		t.Errorf("an update is looked for in %q, %v", from, err)
	}
	if second := added(t, home, fetch(from), true); second.Pin.Version == first.Pin.Version {
		t.Error("the update is the same commit")
	}
	folder := Repository{Text: name, URL: strings.TrimPrefix(name, "git+"), Folder: "src"}
	if _, err := folder.Fetch(t.Context(), enough); err == nil ||
		!strings.Contains(err.Error(), "its folder src has no package.json") {
		t.Errorf("a folder that is no plugin: %v", err)
	}
	missing := Repository{Text: "github:tea/none", URL: "file:///nowhere/tea"}
	if _, err := missing.Fetch(t.Context(), enough); err == nil ||
		!strings.Contains(err.Error(), "cannot fetch github:tea/none") {
		t.Errorf("a repository that is not there: %v", err)
	}
}

// emptyRepository makes a git repository, and functions that write a file into it and run git in it.
func emptyRepository(t *testing.T) (dir string, put func(name, content string), git func(args ...string) string) {
	t.Helper()
	dir = t.TempDir()
	put = func(name, content string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git = func(args ...string) string {
		t.Helper()
		about := []string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b.c"}
		cmd := exec.Command("git", append(about, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	return dir, put, git
}

// A plugin in a folder of a repository is installed at the commit that is named, also where that is not the newest.
func TestFetchFolderOfRepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir, put, git := emptyRepository(t)
	put("README.md", "many plugins")
	put("plugins/tea/package.json", strings.ReplaceAll(teaManifest, "VERSION", "1.0.0"))
	put("plugins/tea/src/index.ts", strings.ReplaceAll(teaSource, "TOOL", "first"))
	git("add", "-A")
	git("commit", "-q", "-m", "first")
	first := git("rev-parse", "HEAD")
	git("tag", "-a", "v1", "-m", "one")
	put("plugins/tea/src/index.ts", strings.ReplaceAll(teaSource, "TOOL", "second"))
	git("commit", "-q", "-am", "second")
	name := "git+file://" + filepath.ToSlash(dir)
	fetch := func(text string) (*Package, error) {
		t.Helper()
		r, ok, err := ParseRepository(text)
		if err != nil || !ok {
			t.Fatal(text, ok, err)
		}
		return r.Fetch(t.Context(), enough)
	}
	for ref, tool := range map[string]string{"": "second", "#main": "second", "#v1": "first", "#" + first: "first"} {
		p, err := fetch(name + "//plugins/tea" + ref)
		if err != nil {
			t.Fatal(err)
		}
		entry := added(t, t.TempDir(), p, false)
		if got := entry.Plugin.Manifest.Tools[0].Name; got != tool {
			t.Errorf("%q gives the tool %s, want %s", ref, got, tool)
		}
	}
	_, err := fetch(name)
	if err == nil || !strings.Contains(fault.HintOf(err), name+"//plugins/tea") {
		t.Errorf("the repository without its folder: %v (%s)", err, fault.HintOf(err))
	}
	home := t.TempDir()
	p, err := fetch(name + "//plugins/tea#" + first)
	if err != nil {
		t.Fatal(err)
	}
	added(t, home, p, false)
	if _, from, err := Installed(home, "tea"); err != nil || from != name+"//plugins/tea" {
		t.Errorf("what is pinned to a commit is updated from %q, %v", from, err)
	}
}

// A repository takes no more on disk than the limit says, to the byte, and nothing of one that does is left.
func TestRepositoryThatIsTooLarge(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	t.Setenv("TMPDIR", t.TempDir())
	dir, put, git := emptyRepository(t)
	put("package.json", strings.ReplaceAll(teaManifest, "VERSION", "1.0.0"))
	put("src/index.ts", strings.ReplaceAll(teaSource, "TOOL", "first"))
	git("add", "-A")
	git("commit", "-q", "-m", "first")
	name := "git+file://" + filepath.ToSlash(dir)
	r, _, err := ParseRepository(name)
	if err != nil {
		t.Fatal(err)
	}
	var takes int64
	err = r.in(t.Context(), enough, func(c clone) error {
		takes = sizeOf(c.dir)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Fetch(t.Context(), takes); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	_, err = r.Fetch(t.Context(), takes-1)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("takes more than %d bytes", takes-1)) ||
		!strings.Contains(fault.HintOf(err), "pluginSources.gitBytes") {
		t.Errorf("a byte over the limit: %v (%s)", err, fault.HintOf(err))
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// A fetch that writes more and more is ended while it runs: this one would never end.
func TestFetchThatNeverEnds(t *testing.T) {
	dir := t.TempDir()
	err := within(t.Context(), dir, 1000, func(ctx context.Context) error {
		if err := os.WriteFile(filepath.Join(dir, "pack"), make([]byte, 1001), 0o600); err != nil {
			return err
		}
		<-ctx.Done()
		return os.Remove(filepath.Join(dir, "pack")) // as git does with what it has not finished
	})
	if err == nil || !strings.Contains(err.Error(), "takes more than 1000 bytes") {
		t.Errorf("it ends with %v", err)
	}
}

// What a few bytes of a repository become is bounded too.
func TestOutputOfGitIsBounded(t *testing.T) {
	all, err := exec.CommandContext(t.Context(), "git", "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int]string{len(all): string(all), len(all) - 1: ""} {
		out := bounded{most: most}
		cmd := exec.CommandContext(t.Context(), "git", "version")
		cmd.Stdout = &out
		err := cmd.Run()
		if out.over != (want == "") || (err != nil) != out.over || out.text.String() != want {
			t.Errorf("at most %d: %q, over: %t, %v", most, out.text.String(), out.over, err)
		}
	}
}

// A plugin from elsewhere gets the name of one in the program only when the person says that name.
func TestNameOfShippedPlugin(t *testing.T) {
	p := scaffolded(t, unchanged)
	packed, err := Pack(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), packed.Name)
	if err := os.WriteFile(file, packed.Tarball, 0o600); err != nil {
		t.Fatal(err)
	}
	step := func(string) func() { return func() {} }
	home := t.TempDir()
	for replace, want := range map[string]string{"": "as one that comes with tabrelay", "mediawiki": "not mediawiki"} {
		s := Source{From: file, Shipped: []string{"mediawiki", "tea-shop"}, Replace: replace}
		if _, _, err := Add(t.Context(), home, s, step); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", replace, err)
		}
		if list, err := build.List(home); err != nil || len(list) > 0 {
			t.Fatalf("%q: there is %+v, %v", replace, list, err)
		}
	}
	s := Source{From: file, Shipped: []string{"mediawiki", "tea-shop"}, Replace: "tea-shop"}
	if _, _, err := Add(t.Context(), home, s, step); err != nil {
		t.Fatal(err)
	}
	// And the name of one from elsewhere never: the refusal names both.
	_, _, err = Add(t.Context(), home, s, step)
	if err == nil || strings.Count(err.Error(), "file:") != 2 ||
		!strings.Contains(err.Error(), "plugin remove tea-shop") {
		t.Errorf("the second one: %v", err)
	}
}

// A newer version of a package or repository is from the same place, and another repository is another one.
func TestOtherOrigin(t *testing.T) {
	for _, c := range []struct {
		was, is string
		other   bool
	}{
		{"npm:tea@1.0.0", "npm:tea@1.1.0", false},
		{"npm:@a/tea@1.0.0", "npm:@b/tea@1.0.0", true},
		{"git:github:a/tea#v1", "git:github:a/tea", false},
		{"git:github:a/tea", "git:github:a/teas", true},
		{"git:github:a/b//tea", "git:github:a/b//coffee", true},
		{"file:/x/tea-1.tgz", "file:/y/tea-2.tgz", false},
		{"npm:tea@1.0.0", "file:/y/tea-2.tgz", true},
	} {
		candidate := &Candidate{pin: build.Pin{From: c.is}}
		if _, got := candidate.OtherOrigin(build.Pin{From: c.was}); (got != "") != c.other {
			t.Errorf("%s after %s: %q", c.is, c.was, got)
		}
	}
}

// The same package of another registry is another one, as is one of which nobody wrote down the registry.
func TestOtherRegistry(t *testing.T) {
	mine, others := newRegistry(t), newRegistry(t)
	home := t.TempDir()
	mine.tarballs = map[string][]byte{"1.0.0": tea(t, "1.0.0", "list")}
	others.tarballs = map[string][]byte{"2.0.0": tea(t, "2.0.0", "list")}
	fetched, err := mine.configured(t, "").Fetch(t.Context(), Spec{Name: "tea"})
	if err != nil {
		t.Fatal(err)
	}
	was := *added(t, home, fetched, false).Pin
	if want := mine.URL + "/… (path with digest "; !strings.HasPrefix(was.Registry, want) {
		t.Errorf("the pin has %q, want %s…", was.Registry, want)
	}
	for name, c := range map[string]struct {
		of    *registry
		was   build.Pin
		other bool
	}{
		"the same one":         {mine, was, false},
		"another one":          {others, was, true},
		"it was not written":   {mine, build.Pin{From: was.From}, true},
		"the file of a person": {mine, build.Pin{From: "file:/x/tea.tgz"}, false},
	} {
		fetched, err := c.of.configured(t, "").Fetch(t.Context(), Spec{Name: "tea"})
		if err != nil {
			t.Fatal(name, err)
		}
		candidate := &Candidate{pin: build.Pin{From: fetched.source(), Registry: fetched.Registry}}
		if got := candidate.OtherRegistry(c.was); got != c.other {
			t.Errorf("%s: %v", name, got)
		}
		if from, is := candidate.OtherOrigin(c.was); c.other && (!strings.Contains(is, c.of.URL) || from == is) {
			t.Errorf("%s: from %q, and now from %q", name, from, is)
		}
	}
}

// What is written down of a registry tells it from another, and holds no secret.
func TestTheNameOfARegistry(t *testing.T) {
	for address, want := range map[string]string{
		"https://Registry.example":                 "https://registry.example/",
		"https://registry.example:443/":            "https://registry.example/",
		"https://ann:secret@registry.example/?k=v": "https://registry.example/",
		"http://localhost:4873/":                   "http://localhost:4873/",
		"https://registry.example/secret/npm":      "https://registry.example/… (path with digest bb2f4e48)",
	} {
		c := &Config{values: map[string]string{"registry": address}}
		u, err := c.registry("tea")
		if err != nil {
			t.Fatal(address, err)
		}
		if got := nameOf(u); got != want {
			t.Errorf("%s is %s, want %s", address, got, want)
		}
	}
}
