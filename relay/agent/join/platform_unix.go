//go:build unix

package join

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/state/config"

	"golang.org/x/sys/unix"
)

// maxSocketPath is the longest socket path that every system accepts: macOS has 104 bytes with the final zero.
const maxSocketPath = 103

// socketPath is relay.sock in the home folder, or, where that path is too long for a socket, a name derived from it in
// a private folder of this user.
func socketPath(home config.Home) string {
	if path := home.Socket(); len(path) <= maxSocketPath {
		return path
	}
	sum := sha256.Sum256([]byte(home))
	return filepath.Join(os.TempDir(), "tabrelay-"+strconv.Itoa(os.Getuid()), hex.EncodeToString(sum[:8])+".sock")
}

func dial(ctx context.Context, home config.Home) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", socketPath(home))
}

// listen listens on the socket of a home folder, where an earlier relay may have left a file.
func listen(home config.Home) (net.Listener, error) {
	path := socketPath(home)
	if err := makePrivateFolder(filepath.Dir(path), home); err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot remove the socket of an earlier relay: %w", err)
	}
	listener, err := listenPrivately(path)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; set TABRELAY_HOME to a folder on a local disk", path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot close %s to other users: %w", path, err), listener.Close())
	}
	return listener, nil
}

// makePrivateFolder makes the folder of a socket outside the home folder, and refuses one that others can open.
func makePrivateFolder(dir string, home config.Home) error {
	if dir == string(home) {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cannot make a folder for the socket: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("cannot look at the socket's folder: %w", err)
	}
	if !info.IsDir() || diskfile.OthersOf(dir, info).Use || !diskfile.Owned(info) {
		return fmt.Errorf("%s belongs to another user or is open to others; "+
			"remove it, or set TABRELAY_HOME to a shorter path", dir)
	}
	return nil
}

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
