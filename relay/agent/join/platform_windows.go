package join

import (
	"net"
	"os"
	"syscall"
)

// listenPrivately makes a socket in the user's own folder, whose access list it inherits.
func listenPrivately(path string) (net.Listener, error) { return net.Listen("unix", path) }

// Flags of CreateProcess that package syscall does not name.
const (
	detachedProcess        = 0x00000008
	createBreakawayFromJob = 0x01000000
)

// detached gives a process no console and a group of its own, outside the job of the client that started us.
func detached() *syscall.SysProcAttr {
	const flags = detachedProcess | createBreakawayFromJob | syscall.CREATE_NEW_PROCESS_GROUP
	return &syscall.SysProcAttr{CreationFlags: flags, HideWindow: true}
}

// keepDescriptors has nothing to do: programs inherit no handles but those that they are given.
func keepDescriptors() {}

// ClaimStdout returns the process's stdout for MCP alone. From then on what writes to os.Stdout writes to stderr.
func ClaimStdout() (*os.File, error) {
	claimed := os.Stdout
	os.Stdout = os.Stderr
	return claimed, nil
}
