//go:build unix

package doctor

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tabrelay/relay/state/config"
)

// nobody is a user without rights, for tests that the superuser runs, who may do everything.
const nobody = 65534

// TestAsNobody is not a test: it examines a home folder for one that is, as another user.
func TestAsNobody(t *testing.T) {
	home := os.Getenv("DOCTOR_TEST_HOME")
	if home == "" {
		t.Skip("it is run by TestPermissionTroubleIsToldOnce")
	}
	s := sound(t)
	s.Home, s.Running = config.Home(home), false
	if err := json.NewEncoder(os.Stderr).Encode(Examine(t.Context(), *s)); err != nil {
		t.Fatal(err)
	}
}

// examineAsNobody is what a user without rights finds.
func examineAsNobody(t *testing.T, home string) (found []Finding) {
	t.Helper()
	folder := open(t)
	program := filepath.Join(folder, "doctor.test")
	own, err := os.Executable()
	if err == nil {
		err = copyFile(program, own)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=^TestAsNobody$")
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "DOCTOR_TEST_HOME="+home, "TMPDIR="+folder)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	var said strings.Builder
	cmd.Stderr = &said
	if out, err := cmd.Output(); err != nil || json.Unmarshal([]byte(said.String()), &found) != nil {
		t.Fatalf("%v: %s%s", err, out, said.String())
	}
	return found
}

// open is a temporary folder that every user may use.
func open(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(folder), 0o755), os.Chmod(folder, 0o777)); err != nil {
		t.Fatal(err)
	}
	return folder
}

func copyFile(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close() // only read from
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// Whatever may not be used in a home folder, one finding says it, and nothing that follows from it is said beside it.
func TestPermissionTroubleIsToldOnce(t *testing.T) {
	give := func(t *testing.T, paths ...string) {
		t.Helper()
		for _, path := range paths {
			if os.Geteuid() == 0 {
				if err := os.Chown(path, nobody, nobody); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for name, tt := range map[string]struct {
		spoil          func(t *testing.T, home string)
		id, what, next string
		root           bool // only the superuser can provoke it
	}{
		"a folder of another user": {func(*testing.T, string) {}, "home-foreign", "belongs to the user root",
			"run: sudo chown -R", true},
		"files of another user, as sudo leaves them": {func(t *testing.T, home string) { give(t, home) },
			"home-foreign", "secrets.json, tabrelay.db", "run: sudo chown -R", true},
		"a folder that is closed to its owner": {func(t *testing.T, home string) {
			give(t, home)
			chmod(t, home, 0)
		}, "home-shut", "your own home folder", "run: chmod 700", false},
		"a folder that cannot be written": {func(t *testing.T, home string) {
			give(t, append(within(t, home), home)...)
			chmod(t, home, 0o500)
		}, "home-shut", "(mode 0500)", "run: chmod 700", false},
		"a file that its owner cannot read": {func(t *testing.T, home string) {
			give(t, append(within(t, home), home)...)
			chmod(t, filepath.Join(home, "secrets.json"), 0)
		}, "home-shut", ": secrets.json", "run: chmod -R u+rwX", false},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.root && os.Geteuid() != 0 {
				t.Skip("only the superuser can make files of another user")
			}
			s := sound(t)
			home := filepath.Join(open(t), "home")
			if err := os.Rename(string(s.Home), home); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{"config.json", "tabrelay.db", "relay.lock"} {
				write(t, filepath.Join(home, file), "")
			}
			tt.spoil(t, home)
			t.Cleanup(func() { _ = os.Chmod(home, 0o700) }) // for it to be removed
			found := slices.DeleteFunc(examineAsNobody(t, home), func(f Finding) bool { return f.Severity != Problem })
			if len(found) != 1 || found[0].ID != tt.id || !strings.Contains(found[0].What, tt.what) ||
				!strings.HasPrefix(found[0].Next, tt.next) {
				t.Errorf("%+v", found)
			}
			if !Unusable(found) {
				t.Error("a relay is expected to start with it")
			}
		})
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// within is everything in a folder.
func within(t *testing.T, folder string) (paths []string) {
	t.Helper()
	for _, name := range tree(t, folder) {
		if name != folder {
			paths = append(paths, name)
		}
	}
	return paths
}
