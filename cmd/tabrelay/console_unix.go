//go:build unix

package main

import "os"

// openConsole opens the terminal that controls this process.
func openConsole() (in, out *os.File, err error) {
	in, err = os.OpenFile("/dev/tty", os.O_RDWR, 0)
	return in, in, err
}
