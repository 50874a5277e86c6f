package join

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/Microsoft/go-winio"

	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/lib/random"
	"tabrelay/relay/state/config"
)

// pipes is where named pipes are. They are no files of a folder: any program may make one of any name.
const pipes = `\\.\pipe\tabrelay-`

// listen listens on a named pipe that nobody can know before, so that no other program can have made it, and that this
// user alone may open. Its name is in the home folder, in the place of a socket.
func listen(home config.Home) (net.Listener, error) {
	name := pipes + random.Hex(16)
	listener, err := winio.ListenPipe(name, &winio.PipeConfig{SecurityDescriptor: diskfile.PipeAccess()})
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", name, err)
	}
	occupyFirst(name)
	if err := diskfile.Write(home.Socket(), []byte(name), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot write %s: %w", home.Socket(), err), listener.Close())
	}
	return listener, nil
}

// occupyFirst connects once to a pipe before anybody knows its name. Under Wine, and not on Windows, the instance that
// only reserves the name takes a connection, which then waits for ever.
func occupyFirst(name string) {
	soon := 10 * time.Millisecond
	if conn, err := winio.DialPipe(name, &soon); err == nil {
		_ = conn.Close() // nothing was written
	}
}

// dial connects to the pipe whose name is in the home folder. A relay that crashed has left one that nobody serves.
func dial(ctx context.Context, home config.Home) (net.Conn, error) {
	name, err := os.ReadFile(home.Socket())
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(string(name), pipes) {
		return nil, fmt.Errorf("%s does not name the pipe of a relay", home.Socket())
	}
	return winio.DialPipeContext(ctx, string(name))
}

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
