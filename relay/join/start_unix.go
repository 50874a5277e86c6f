//go:build unix

package join

import "syscall"

// detached gives a process a session, and with it a process group, of its own.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
