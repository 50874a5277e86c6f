package main

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// openConsole opens the console of this process.
func openConsole() (in, out *os.File, err error) {
	in, err = os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	if out, err = os.OpenFile("CONOUT$", os.O_RDWR, 0); err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	return in, out, nil
}

// discardTyped forgets what was typed at a console and not read yet. What cannot be forgotten is read later.
func discardTyped(console *os.File) {
	_ = windows.FlushConsoleInputBuffer(windows.Handle(console.Fd()))
}
