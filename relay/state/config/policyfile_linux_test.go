package config

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// unmapped names the folder of a test that runs in a user namespace without root.
const unmapped = "TABRELAY_TEST_UNMAPPED"

// TestPolicyWhereRootIsUnknown: a sandbox whose user namespace does not know root shows files of the administrator as
// nobody's. Without a policy a relay starts there; with one it does not, and says why.
func TestPolicyWhereRootIsUnknown(t *testing.T) {
	if dir := os.Getenv(unmapped); dir != "" {
		inSandbox(t, dir)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root makes files of the administrator")
	}
	dir, err := os.MkdirTemp("/", "tabrelay-policy-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(filepath.Join(dir, "open"), 0o755),
		os.Chmod(filepath.Join(dir, "open"), 0o777),
		os.WriteFile(filepath.Join(dir, "policy.json"), []byte("{}"), 0o644),
		os.Symlink("nowhere", filepath.Join(dir, "link.json"))); err != nil {
		t.Fatal(err)
	}
	const user = 12345
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestPolicyWhereRootIsUnknown$", "-test.v")
	cmd.Env = append(os.Environ(), unmapped+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: user, HostID: user, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: user, HostID: user, Size: 1}},
		Credential:  &syscall.Credential{Uid: user, Gid: user}}
	out, err := cmd.CombinedOutput()
	if err != nil && !bytes.Contains(out, []byte("=== RUN")) {
		t.Skipf("this machine makes no user namespaces: %v %s", err, out)
	}
	if err != nil {
		t.Errorf("%s", out)
	}
}

func inSandbox(t *testing.T, dir string) {
	for name, want := range map[string]string{
		"none.json": "", "sub/none.json": "", "policy.json": "user namespace", "link.json": "link that leads nowhere",
		"open/none.json": "others than the administrator can write",
	} {
		_, err := readAdministrators(filepath.Join(dir, name))
		missing := errors.Is(err, fs.ErrNotExist)
		if missing != (want == "") || !missing && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
