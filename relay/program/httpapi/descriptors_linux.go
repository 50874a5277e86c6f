package httpapi

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// queueOf returns how many connections wait to be accepted.
func queueOf(l net.Listener) (n int) {
	socket, ok := l.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { // fails for a listener that was closed
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			n = int(info.Unacked)
		}
	})
	return n
}
