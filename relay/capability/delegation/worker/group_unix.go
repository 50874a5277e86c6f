//go:build unix

package worker

import (
	"os"
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

// guardGroup ends a program and what it started when this process is gone, however that ended: a shell in the group
// waits for the end of a pipe that only this process holds open. It ends with the group, or when release is called.
func guardGroup(command *exec.Cmd) (release func()) {
	r, w, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	defer r.Close() // the shell has its own
	shell := exec.Command("/bin/sh", "-c", "trap '' HUP INT TERM; read -r _; kill -s KILL 0")
	shell.Stdin, shell.Env = r, []string{}
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: command.Process.Pid}
	if shell.Start() != nil { // the group has ended, or there is no shell
		_ = w.Close()
		return func() {}
	}
	return func() {
		_ = shell.Process.Kill() // it fails when the group was ended
		_ = shell.Wait()
		_ = w.Close()
	}
}
