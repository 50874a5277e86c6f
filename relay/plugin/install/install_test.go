package install

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tabrelay/relay/plugin/build"
)

// added installs a package, and returns what the home knows of it.
func added(t *testing.T, home string, p *Package, replace bool) *build.Entry {
	t.Helper()
	c, err := Prepare(t.Context(), home, p, nobody)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Install(replace); err != nil {
		t.Fatal(err)
	}
	entry, err := build.Find(home, c.Plugin.Manifest.Name)
	if err != nil || entry == nil || entry.Plugin == nil {
		t.Fatalf("installed, there is %+v, %v", entry, err)
	}
	return entry
}

func TestInstallUpdateRemove(t *testing.T) {
	home, r := t.TempDir(), newRegistry(t)
	config := r.configured(t, "")
	fetch := func(spec string) *Package {
		t.Helper()
		s, err := ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		p, err := config.Fetch(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	r.tarballs["1.0.0"] = tea(t, "1.0.0", "list")
	first := added(t, home, fetch("tea@1.0.0"), false)
	if pin := first.Pin; pin == nil || pin.From != "npm:tea@1.0.0" || pin.Version != "1.0.0" ||
		pin.Integrity != integrityOf(r.tarballs["1.0.0"]) || pin.Hash != first.Plugin.Hash {
		t.Errorf("it is pinned to %+v", pin)
	}
	again, err := Prepare(t.Context(), home, fetch("tea"), nobody)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Install(false); err == nil || !strings.Contains(err.Error(), "already a plugin tea") {
		t.Errorf("a second one: %v", err)
	}
	if err := again.Discard(); err != nil {
		t.Error(err)
	}

	r.tarballs["1.1.0"] = tea(t, "1.1.0", "brew")
	before, from, err := Installed(home, "tea")
	if err != nil || from != "npm:tea" {
		t.Fatalf("a newer one is looked for in %q, %v", from, err)
	}
	second := added(t, home, fetch(strings.TrimPrefix(from, fromRegistry)), true)
	want := []string{"version 1.0.0 becomes 1.1.0", "new tool brew, which may destroy", "no tool list any more"}
	if got := build.Compare(before.Plugin, second.Plugin); !slices.Equal(got, want) {
		t.Errorf("the update changes %q", got)
	}
	if kept, err := os.ReadDir(filepath.Join(home, packagesDir)); err != nil || len(kept) != 1 {
		t.Errorf("there are %v, %v", kept, err)
	}

	if err := Remove(home, "tea"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(second.Dir); !os.IsNotExist(err) {
		t.Errorf("its files stay: %v", err)
	}
}

func TestChangedFilesAreNotOffered(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(t.TempDir(), "tea.tgz")
	if err := os.WriteFile(file, tea(t, "1.0.0", "list"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := ReadTarball(file)
	if err != nil {
		t.Fatal(err)
	}
	entry := added(t, home, p, false)
	if entry.Pin.From != "file:"+file {
		t.Errorf("it is from %s", entry.Pin.From)
	}
	adapter := filepath.Join(entry.Dir, "dist", "adapter.js")
	if err := os.WriteFile(adapter, []byte("var tabrelayPlugin = {};"), 0o600); err != nil {
		t.Fatal(err)
	}
	entry, err = build.Find(home, "tea")
	if err != nil || entry.Plugin != nil || !strings.Contains(entry.Problem, "not the ones that were installed") {
		t.Errorf("changed, it is %+v, %v", entry, err)
	}
	if _, from, err := Installed(home, "tea"); err != nil || from != file {
		t.Errorf("it is mended from %q, %v", from, err)
	}
	if mended := added(t, home, p, true); mended.Problem != "" {
		t.Errorf("mended, it is %+v", mended)
	}
}

func TestPrepareRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		files []file
		want  string
	}{
		"no plugin": {[]file{{name: "package/index.js"}}, "it is not a plugin"},
		"what is broken": {[]file{{name: "package/package.json", content: teaManifest},
			{name: "package/src/index.ts", content: "export default {{{"}}, "src/index.ts:1:"},
		"a missing import": {[]file{{name: "package/package.json", content: teaManifest},
			{name: "package/src/index.ts", content: "import 'zod';" + teaSource}}, "zod"},
		"a bad manifest": {[]file{{name: "package/dist/manifest.json", content: `{"name":"mcp","world":"main"}`},
			{name: "package/dist/adapter.js"}}, "is not accepted"},
		"a hostile path": {[]file{{name: "package/../../x"}}, "leads elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			p := &Package{Spec: Spec{Name: "tea"}, Tarball: pack(t, c.files...)}
			_, err := Prepare(t.Context(), home, p, nobody)
			if err == nil || !strings.Contains(err.Error(), "tea was not installed: ") ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("Prepare = %v, want %q", err, c.want)
			}
			if left, err := os.ReadDir(filepath.Join(home, packagesDir)); err != nil || len(left) > 0 {
				t.Errorf("it leaves %v, %v", left, err)
			}
		})
	}
}

func TestLibraryReplacesItsFormerVersion(t *testing.T) {
	r, dir := newRegistry(t), t.TempDir()
	r.tarballs["1.0.0"] = pack(t, file{name: "package/package.json", content: `{"name":"tea"}`})
	c := r.configured(t, "")
	if _, err := c.Library(t.Context(), dir, Spec{Name: "tea"}); err == nil ||
		!strings.Contains(err.Error(), "no package.json") {
		t.Errorf("in a folder of something else: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second one takes the place of the first
		if _, err := c.Library(t.Context(), dir, Spec{Name: "tea"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules/tea/package.json")); err != nil {
		t.Error(err)
	}
	r.spoil = func(_ string, d map[string]any) { d["dependencies"] = map[string]string{"water": "^1.0.0"} }
	if _, err := c.Library(t.Context(), dir, Spec{Name: "tea"}); err == nil ||
		!strings.Contains(err.Error(), "needs other packages (water); use npm install") {
		t.Errorf("one that needs others: %v", err)
	}
}

// A device has no end, and reading it would take all memory.
func TestATarballIsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tea.tgz")
	if err := os.Symlink(os.DevNull, file); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadTarball(file); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("a device: %v", err)
	}
}

// An installation that was killed before the plugin was listed leaves nothing behind either, and nothing that is listed
// goes, nor anything where no list says what is.
func TestRemoveUnlisted(t *testing.T) {
	home, r := t.TempDir(), newRegistry(t)
	r.tarballs["1.0.0"] = tea(t, "1.0.0", "list")
	p, err := r.configured(t, "").Fetch(t.Context(), Spec{Name: "tea"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Prepare(t.Context(), home, p, nobody)
	if err != nil {
		t.Fatal(err)
	}
	unlisted := filepath.Join(home, packagesDir, "coffee-0123456789ab")
	folders := func(when string, want int) {
		t.Helper()
		if err := os.MkdirAll(unlisted, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := RemoveUnfinished(home); err != nil {
			t.Error(err)
		}
		if entries, err := os.ReadDir(filepath.Join(home, packagesDir)); err != nil || len(entries) != want {
			t.Errorf("%s: %v, %v, want %d", when, entries, err, want)
		}
	}
	folders("while one is installed", 2)
	if err := c.Install(false); err != nil {
		t.Fatal(err)
	}
	folders("later", 1)
	if entry, err := build.Find(home, "tea"); err != nil || entry == nil || entry.Plugin == nil {
		t.Errorf("installed: %+v, %v", entry, err)
	}
	if err := os.Remove(filepath.Join(home, "plugins.json")); err != nil {
		t.Fatal(err)
	}
	folders("without a list", 2)
}

// What an installation left that was killed goes with the next start, and what is being installed stays.
func TestRemoveUnfinished(t *testing.T) {
	home, r := filepath.Join(t.TempDir(), "[a]"), newRegistry(t) // a pattern for no other folder than itself
	other := filepath.Join(filepath.Dir(home), "a", packagesDir, newPrefix+"other")
	if err := os.MkdirAll(other, 0o700); err != nil {
		t.Fatal(err)
	}
	left := func() (names []string) {
		entries, err := os.ReadDir(filepath.Join(home, packagesDir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), newPrefix) {
				names = append(names, e.Name())
			}
		}
		return names
	}
	clean := func(want int) {
		t.Helper()
		if err := RemoveUnfinished(home); err != nil {
			t.Error(err)
		}
		if all := left(); len(all) != want {
			t.Errorf("left: %q, want %d", all, want)
		}
	}
	clean(0) // nothing was ever installed
	r.tarballs["1.0.0"] = tea(t, "1.0.0", "list")
	p, err := r.configured(t, "").Fetch(t.Context(), Spec{Name: "tea"})
	if err != nil {
		t.Fatal(err)
	}
	abandoned := filepath.Join(home, packagesDir, newPrefix+"1")
	if err := os.MkdirAll(filepath.Join(abandoned, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := Prepare(t.Context(), home, p, nobody)
	if err != nil {
		t.Fatal(err)
	}
	clean(2)
	if err := c.Install(false); err != nil {
		t.Fatal(err)
	}
	clean(0)
	if entry, err := build.Find(home, "tea"); err != nil || entry == nil || entry.Plugin == nil {
		t.Errorf("installed: %+v, %v", entry, err)
	}
	if c, err = Prepare(t.Context(), home, p, nobody); err != nil {
		t.Fatal(err)
	}
	clean(1)
	if err := c.Discard(); err != nil {
		t.Error(err)
	}
	if err := os.MkdirAll(abandoned, 0o700); err != nil {
		t.Fatal(err)
	}
	clean(0)
	if _, err := os.Stat(other); err != nil {
		t.Errorf("what another home was installing is gone: %v", err)
	}
}
