package join

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread returns how many bytes written to a socket or pipe were not read yet: SIOCOUTQ of unix(7), FIONREAD of
// pipe(7).
func unread(f *os.File) (bytes int, known bool) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, false
	}
	err = conn.Control(func(fd uintptr) {
		for _, request := range []uint{unix.SIOCOUTQ, unix.TIOCINQ} {
			if n, err := unix.IoctlGetInt(int(fd), request); err == nil {
				bytes, known = n, true
				return
			}
		}
	})
	return bytes, known && err == nil
}
