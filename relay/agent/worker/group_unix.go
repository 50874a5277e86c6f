//go:build unix

package worker

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a program a process group: what it starts itself can be ended with it.
func ownGroup(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// askGroup asks a program, and what it started, to end.
func askGroup(command *exec.Cmd) {
	_ = syscall.Kill(-command.Process.Pid, syscall.SIGTERM) // it fails when nothing is left
}

// killGroup ends a program and what it started.
func killGroup(command *exec.Cmd) {
	_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // as above
}
