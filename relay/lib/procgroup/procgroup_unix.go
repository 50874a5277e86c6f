//go:build unix

// Package procgroup ends commands together with what they start.
package procgroup

import (
	"os/exec"
	"syscall"
)

// Join makes a command that is cancelled end together with everything it started: git leaves the program that it talks
// to a server with, and what unpacks, to go on alone. It is called before the command starts.
func Join(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
}
