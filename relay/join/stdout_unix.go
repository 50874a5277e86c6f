//go:build unix

package join

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ClaimStdout takes the process's stdout for MCP alone. From then on whatever else writes to it, a library or a child
// process, writes to stderr.
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
