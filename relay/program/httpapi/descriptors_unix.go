//go:build unix

package httpapi

import (
	"bytes"
	"errors"
	"math"
	"net"
	"syscall"
)

// descriptors is how many the process may have; Go has raised the limit to the most that is allowed.
func descriptors() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxUint64
	}
	return uint64(limit.Cur)
}

// outOfDescriptors reports whether a connection was not accepted for want of one.
func outOfDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// hasAsked reports whether the headers of a request have come, all of them, and nobody has read them yet.
func hasAsked(conn net.Conn) (whole bool) {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Control(func(fd uintptr) { // fails for a connection that ended
		var head [4 << 10]byte
		n, _, err := syscall.Recvfrom(int(fd), head[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		whole = err == nil && n > 0 && bytes.Contains(head[:n], []byte("\r\n\r\n"))
	})
	return whole
}
