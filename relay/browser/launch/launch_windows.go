package launch

import (
	"errors"
	"os"
	"syscall"
)

// detached gives the browser a process group of its own.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// interrupt has no polite form for a program without a console.
func interrupt(*os.Process) error { return errors.ErrUnsupported }
