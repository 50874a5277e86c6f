package join

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread tells how much of what was written to a socket or pipe its reader has not taken: SIOCOUTQ of unix(7), FIONREAD
// of pipe(7).
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
