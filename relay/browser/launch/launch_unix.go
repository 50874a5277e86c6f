//go:build unix

package launch

import (
	"os"
	"syscall"
)

// detached gives the browser a session of its own: closing the terminal does not close it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// interrupt asks a process to end.
func interrupt(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
