package worker

import (
	"os/exec"
	"strconv"
	"syscall"
)

// ownGroup keeps what ends our console from ending a program.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// askGroup does nothing: a program without a window cannot be asked to end but by closing its input.
func askGroup(*exec.Cmd) {}

// killGroup ends a program and what it started.
func killGroup(command *exec.Cmd) {
	if command.ProcessState == nil { // its children can only be found while it runs
		_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(command.Process.Pid)).Run()
		_ = command.Process.Kill() // it fails when that was enough
	}
}

// guardGroup does nothing: a program is told of our end by that of its input.
func guardGroup(*exec.Cmd) (release func()) { return func() {} }
