package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardTyped forgets what was typed at a terminal and not read yet. What cannot be forgotten is read later.
func discardTyped(terminal *os.File) {
	_ = unix.IoctlSetInt(int(terminal.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
