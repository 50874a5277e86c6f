//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What other users of this machine could have put in place is not used, wherever links lead to it.
func TestWhatOthersCouldWrite(t *testing.T) {
	fresh := func(t *testing.T) Home {
		home := Home(filepath.Join(t.TempDir(), "home"))
		if err := home.Create(); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenSecrets(home); err != nil {
			t.Fatal(err)
		}
		return home
	}
	const nobody = 65534
	for name, test := range map[string]struct {
		spoil func(Home) error
		says  string
	}{
		"nothing": {func(Home) error { return nil }, ""},
		"a home others can write to": {func(h Home) error { return os.Chmod(string(h), 0o777) },
			"other users can write to"},
		"a home of somebody else": {func(h Home) error { return os.Chown(string(h), nobody, nobody) },
			"belongs to another user"},
		"secrets others can read": {func(h Home) error { return os.Chmod(h.Secrets(), 0o644) },
			"can be read by other users"},
		"secrets the group can read": {func(h Home) error { return os.Chmod(h.Secrets(), 0o640) },
			"can be read by other users"},
		"secrets of somebody else": {func(h Home) error { return os.Chown(h.Secrets(), nobody, nobody) },
			"belongs to another user"},
		"a link to secrets of others": {func(h Home) error {
			return linked(h.Secrets(), func(to string) error { return os.Chown(to, nobody, nobody) })
		}, "belongs to another user"},
		"a link to secrets all can read": {func(h Home) error {
			return linked(h.Secrets(),
				func(to string) error { return os.Chmod(to, 0o604) })
		}, "can be read by other users"},
		"settings others can write": {func(h Home) error { return os.Chmod(h.Config(), 0o646) },
			"other users can write to the file"},
		"settings of somebody else": {func(h Home) error { return os.Chown(h.Config(), nobody, nobody) },
			"other users can write to the file"},
	} {
		t.Run(name, func(t *testing.T) {
			home := fresh(t)
			if err := test.spoil(home); os.IsPermission(err) {
				t.Skip("only the superuser can give files away")
			} else if err != nil {
				t.Fatal(err)
			}
			link := Home(filepath.Join(t.TempDir(), "link"))
			if err := os.Symlink(string(home), string(link)); err != nil {
				t.Fatal(err)
			}
			for _, h := range []Home{home, link} {
				err := h.Create()
				if err == nil {
					_, err = OpenSecrets(h)
				}
				if err == nil {
					_, err = Load(h)
				}
				switch {
				case err == nil && test.says != "":
					t.Errorf("%s is used", h)
				case err != nil && (test.says == "" || !strings.Contains(err.Error(), test.says)):
					t.Errorf("%s: %v", h, err)
				}
			}
		})
	}
}

// linked moves a file elsewhere, changes it there, and puts a link in its place.
func linked(file string, change func(to string) error) error {
	to := filepath.Join(filepath.Dir(filepath.Dir(file)), "elsewhere")
	if err := os.Rename(file, to); err != nil {
		return err
	}
	if err := change(to); err != nil {
		return err
	}
	return os.Symlink(to, file)
}

// A file whose mode was right when it was looked at, and is another by the time it is read, is not believed: what is
// looked at and what is read are one.
func TestSecretsSwappedMeanwhile(t *testing.T) {
	home := Home(t.TempDir())
	s, err := OpenSecrets(home)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := s.Local(), "tabrelay_"+strings.Repeat("e", 64)
	forged := strings.ReplaceAll(readFile(t, home.Secrets()), ours, theirs)
	stop := make(chan struct{})
	swapped := make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				swapped <- nil
				return
			default:
			}
			for mode, text := range map[os.FileMode]string{0o644: forged, 0o600: strings.ReplaceAll(forged, theirs,
				ours)} {
				next := filepath.Join(string(home), "next")
				err := os.WriteFile(next, []byte(text), mode)
				if err == nil {
					err = os.Chmod(next, mode)
				}
				if err == nil {
					err = os.Rename(next, home.Secrets())
				}
				if err != nil {
					swapped <- err
					return
				}
			}
		}
	}()
	for range 100_000 {
		if client, ok := s.Verify(theirs); ok {
			t.Errorf("a file that all can read made %s known", client)
			break
		}
	}
	close(stop)
	if err := <-swapped; err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
