package join

import (
	"bufio"
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
	"sync"
	"time"

	"tabrelay/relay/config"
)

// maxSocketPath is the longest path every system accepts for a socket: macOS has room for 104 bytes with the
// closing zero.
const maxSocketPath = 103

// greeting is how long a program that opened the socket may take to say what it wants.
const greeting = 10 * time.Second

// socketPath is relay.sock, or, where the home folder's path is too long for a socket, a name derived from it in
// a folder of this user only.
func socketPath(home config.Home) string {
	if path := home.Socket(); len(path) <= maxSocketPath {
		return path
	}
	sum := sha256.Sum256([]byte(home))
	return filepath.Join(os.TempDir(), "tabrelay-"+strconv.Itoa(os.Getuid()), hex.EncodeToString(sum[:8])+".sock")
}

// Dial opens the socket of the running relay.
func Dial(ctx context.Context, home config.Home) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", socketPath(home))
}

// Door is the relay's end of the socket. Two kinds of guests come: attachments of MCP clients, whose first byte
// opens a JSON object, and HTTP requests of the command line.
type Door struct {
	listener net.Listener
	attach   func(net.Conn, *bufio.Reader)
	http     *httpGuests

	mu     sync.Mutex
	guests map[net.Conn]bool // that have not said what they want
	closed bool
	done   chan struct{}
	wg     sync.WaitGroup
}

// Open listens on the socket. A file that an earlier relay left behind is removed: the caller holds the [Seat].
// attach is called on a goroutine of its own for every attachment; the connection is closed when it returns.
func (s *Seat) Open(attach func(net.Conn, *bufio.Reader)) (*Door, error) {
	path := socketPath(s.home)
	if err := ownFolder(filepath.Dir(path), s.home); err != nil {
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
	d := &Door{listener: listener, attach: attach, http: newHTTPGuests(listener.Addr()), guests: map[net.Conn]bool{}, done: make(chan struct{})}
	d.wg.Go(d.accept)
	return d, nil
}

// ownFolder makes the folder of a socket outside the home folder, and refuses one that is not ours alone.
func ownFolder(dir string, home config.Home) error {
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
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !config.Owned(info) {
		return fmt.Errorf("%s belongs to another user or is open to others; remove it, or set TABRELAY_HOME to a shorter path", dir)
	}
	return nil
}

func (d *Door) accept() {
	for {
		conn, err := d.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Out of file descriptors, most likely: others have to end before it is worth asking again.
			select {
			case <-time.After(pause):
			case <-d.done:
			}
			continue
		}
		if !d.admit(conn) {
			_ = conn.Close() // the door closed meanwhile
			return
		}
		d.wg.Go(func() { d.greet(conn) })
	}
}

func (d *Door) admit(conn net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.guests[conn] = true
	}
	return !d.closed
}

// greet finds out what a guest wants.
func (d *Door) greet(conn net.Conn) {
	_ = conn.SetReadDeadline(time.Now().Add(greeting)) // fails only on a closed connection, as the read will
	r := bufio.NewReaderSize(conn, 64<<10)
	first, err := r.Peek(1)
	_ = conn.SetReadDeadline(time.Time{})
	d.mu.Lock()
	delete(d.guests, conn)
	d.mu.Unlock()
	switch {
	case err != nil:
	case first[0] == '{':
		d.attach(conn, r)
	default:
		if d.http.lead(readAhead{conn, r}) {
			return // the HTTP server closes it
		}
	}
	_ = conn.Close() // whatever ends it, the guest has had its answer
}

// StopAdmitting lets nobody in any more; those who are in stay. It may be called more than once.
func (d *Door) StopAdmitting() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	for conn := range d.guests {
		_ = conn.Close() // it has not said anything yet
	}
	close(d.done)
	return d.listener.Close()
}

// Close stops admitting guests, and waits for those that are attached to leave. It may be called more than once.
func (d *Door) Close() error {
	err := errors.Join(d.StopAdmitting(), d.http.Close())
	d.wg.Wait()
	return err
}

// HTTP is the listener of the guests that speak HTTP. Closing it leaves the socket to the attachments.
func (d *Door) HTTP() net.Listener { return d.http }

type httpGuests struct {
	addr   net.Addr
	next   chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newHTTPGuests(addr net.Addr) *httpGuests {
	return &httpGuests{addr: addr, next: make(chan net.Conn), closed: make(chan struct{})}
}

// lead hands a guest to the HTTP server, unless it is gone.
func (g *httpGuests) lead(conn net.Conn) bool {
	select {
	case g.next <- conn:
		return true
	case <-g.closed:
		return false
	}
}

func (g *httpGuests) Accept() (net.Conn, error) {
	select {
	case conn := <-g.next:
		return conn, nil
	case <-g.closed:
		return nil, net.ErrClosed
	}
}

func (g *httpGuests) Close() error {
	g.once.Do(func() { close(g.closed) })
	return nil
}

func (g *httpGuests) Addr() net.Addr { return g.addr }

// readAhead is a connection of which a part was read already.
type readAhead struct {
	net.Conn
	r *bufio.Reader
}

func (c readAhead) Read(p []byte) (int, error) { return c.r.Read(p) }
