//go:build unix

package resource

import (
	"os/exec"
	"syscall"
)

// withGroup makes a command end together with everything it started.
func withGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
}
