package worker

import (
	"os/exec"
	"strconv"
	"syscall"
)

// ownGroup gives a program a process group of its own, so that Ctrl+C in the relay's console does not reach it.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// askGroup does nothing: Windows has no SIGTERM. A program without a window is asked to exit by closing its input.
func askGroup(*exec.Cmd) {}

// killGroup ends a program and what it started.
func killGroup(command *exec.Cmd) {
	if command.ProcessState == nil { // its children can only be found while it runs
		_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(command.Process.Pid)).Run()
		_ = command.Process.Kill() // fails when taskkill has ended it
	}
}

// guardGroup does nothing: when the relay dies, the program's input is closed.
func guardGroup(*exec.Cmd) (release func()) { return func() {} }
