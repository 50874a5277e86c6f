//go:build unix

package join

import (
	"net"
	"syscall"
)

// listenPrivately makes a socket that no other user can open, not even between its making and the next line: its mode
// is that of the process's mask, which is narrowed for this moment. Files that other goroutines make in it are closed to
// others too, which does no harm.
func listenPrivately(path string) (net.Listener, error) {
	before := syscall.Umask(0o077)
	defer syscall.Umask(before)
	return net.Listen("unix", path)
}
