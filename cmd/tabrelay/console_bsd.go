//go:build unix && !linux

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardTyped forgets what was typed at a terminal and not read yet. What cannot be forgotten is read later.
func discardTyped(terminal *os.File) {
	const read = 1 // FREAD of sys/fcntl.h
	_ = unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCFLUSH, read)
}
