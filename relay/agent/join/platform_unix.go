//go:build unix

package join

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// listenPrivately makes a socket that no other user can open at any moment: the umask is narrowed while it is made.
// Files that other goroutines make meanwhile are private, too, which does no harm.
func listenPrivately(path string) (net.Listener, error) {
	before := syscall.Umask(0o077)
	defer syscall.Umask(before)
	return net.Listen("unix", path)
}

// detached gives a process a session, and with it a process group, of its own.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// keepDescriptors has programs that are started from now on inherit none of the descriptors that this one was given
// beyond the standard three. Whoever gave it a pipe or a terminal may wait until nobody has that open.
func keepDescriptors() {
	open, _ := os.ReadDir("/dev/fd") // without the list they inherit what others would
	for _, one := range open {
		if number, err := strconv.Atoi(one.Name()); err == nil && number > 2 {
			unix.CloseOnExec(number)
		}
	}
}

// ClaimStdout returns the process's stdout for MCP alone and redirects descriptor 1 to stderr, so that whatever else is
// printed, by a library or a child process, cannot get between two messages.
func ClaimStdout() (*os.File, error) {
	own, err := unix.FcntlInt(os.Stdout.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		err = unix.Dup2(int(os.Stderr.Fd()), int(os.Stdout.Fd()))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot take stdout for MCP: %w", err)
	}
	claimed := os.NewFile(uintptr(own), "stdout")
	os.Stdout = os.Stderr
	return claimed, nil
}
