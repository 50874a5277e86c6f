//go:build unix

package resources

import (
	"os/exec"
	"syscall"
)

// openNonblocking keeps the opening of a pipe, put where a file was a moment ago, from waiting for a writer.
const openNonblocking = syscall.O_NONBLOCK | syscall.O_NOFOLLOW

// errNotFolder is what the system says of a path that goes on below a file.
const errNotFolder = syscall.ENOTDIR

// inProcessGroup makes a command end together with everything it started.
func inProcessGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
}
