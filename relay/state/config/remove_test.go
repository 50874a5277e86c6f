package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabrelay/relay/road/fault"
)

// What is written into a folder while it is removed is named, and it is no matter of disk space.
func TestRemoveSaysWhatIsInTheWay(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Cookies"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := Home(dir).Unwritable(stillWritten(os.Remove(dir)))
	if want := "another program writes there: " + filepath.Join(dir, "Cookies"); err.Error() != want {
		t.Errorf("it says %q, want %q", err, want)
	}
	if next := fault.HintOf(err); !strings.HasPrefix(next, "end it") {
		t.Errorf("the next step is %q", next)
	}
}

// A folder that goes as a whole leaves nothing beside it; one that somebody else uses, or a link, stays where it is.
func TestRemoveMovesTheFolderAside(t *testing.T) {
	for _, c := range []struct {
		name          string
		foreign, link bool
	}{{name: "own"}, {name: "foreign", foreign: true}, {name: "link", link: true}} {
		t.Run(c.name, func(t *testing.T) {
			parent := t.TempDir()
			dir, elsewhere := filepath.Join(parent, "home"), t.TempDir()
			if c.link {
				if err := os.Symlink(elsewhere, dir); err != nil {
					t.Skip(err) // where links need a right
				}
			}
			home := Home(dir)
			if err := home.Create(); err != nil {
				t.Fatal(err)
			}
			if c.foreign {
				if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if !home.Exists() {
				t.Error("a home folder that was made does not exist")
			}
			if err := home.Remove(t.Context()); err != nil {
				t.Fatal(err)
			}
			if home.Exists() {
				t.Error("something of tabrelay is left")
			}
			var left []string
			for _, in := range []string{parent, dir, elsewhere} {
				entries, _ := os.ReadDir(in)
				for _, entry := range entries {
					left = append(left, entry.Name())
				}
			}
			if want := map[bool]string{true: "home,notes.txt"}[c.foreign]; strings.Join(left, ",") != want {
				t.Errorf("%q is left, want %q", left, want)
			}
		})
	}
}
