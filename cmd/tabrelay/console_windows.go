package main

import (
	"errors"
	"os"
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
