package join

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/state/config"
)

// firstByteTimeout is how long a program that connected to the socket may take to send its first byte.
const firstByteTimeout = 10 * time.Second

// Dial connects to the socket of the running relay.
func Dial(ctx context.Context, home config.Home) (net.Conn, error) { return dial(ctx, home) }

// Listener accepts connections on the relay's socket. There are two kinds: attachments of MCP clients, whose first byte
// opens a JSON object, and HTTP requests of the command line.
type Listener struct {
	listener net.Listener
	attach   func(net.Conn, *bufio.Reader)
	http     *httpListener
	lifetime *Lifetime

	mu           lock.Mutex
	unidentified map[net.Conn]bool // connections that have not sent a byte yet
	closed       bool
	done         chan struct{}
	wg           sync.WaitGroup
}

// Listen listens on the socket. The caller holds the lock, so that a socket file left by an earlier relay may be
// removed. attach runs on a goroutine of its own for every attachment; the connection is closed when it returns. A
// temporary relay goes on at least while there are connections.
func (l *InstanceLock) Listen(attach func(net.Conn, *bufio.Reader), lifetime *Lifetime) (*Listener, error) {
	listener, err := listen(l.home)
	if err != nil {
		return nil, err
	}
	d := &Listener{
		listener: listener, attach: attach, http: newHTTPListener(listener.Addr()), lifetime: lifetime,
		unidentified: map[net.Conn]bool{}, done: make(chan struct{}),
	}
	d.wg.Go(d.accept)
	return d, nil
}

func (l *Listener) accept() {
	for {
		conn, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Most likely the process is out of file descriptors: wait before trying again.
			select {
			case <-time.After(pollInterval):
			case <-l.done:
			}
			continue
		}
		if !l.track(conn) {
			_ = conn.Close() // the listener was closed meanwhile
			return
		}
		l.wg.Go(func() { l.serve(conn) })
	}
}

func (l *Listener) track(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.unidentified[conn] = true
	}
	return !l.closed
}

// serve counts a connection among those that keep a temporary relay.
func (l *Listener) serve(conn net.Conn) {
	leave, ok := l.lifetime.enter()
	if !ok {
		_ = conn.Close() // nothing was read from it
		return
	}
	l.route(conn, sync.OnceFunc(leave))
}

// route reads the first byte of a connection and hands it to attach or to the HTTP server. closed is called once it is
// closed.
func (l *Listener) route(conn net.Conn, closed func()) {
	// fails only on a closed connection, where Peek fails too
	_ = conn.SetReadDeadline(time.Now().Add(firstByteTimeout))
	r := bufio.NewReaderSize(conn, 64<<10)
	first, err := r.Peek(1)
	_ = conn.SetReadDeadline(time.Time{})
	l.mu.Lock()
	delete(l.unidentified, conn)
	l.mu.Unlock()
	switch {
	case err != nil:
	case first[0] == '{':
		l.attach(conn, r)
	default:
		if l.http.deliver(&bufferedConn{conn, r, closed}) {
			return // the HTTP server closes it
		}
	}
	_ = conn.Close() // a failure changes nothing: the reply was sent
	closed()
}

// StopAccepting stops accepting connections; attachments go on. It may be called more than once.
func (l *Listener) StopAccepting() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	for conn := range l.unidentified {
		_ = conn.Close() // nothing was read from it
	}
	close(l.done)
	return l.listener.Close()
}

// Close stops accepting and waits for attached clients to leave. It may be called more than once.
func (l *Listener) Close() error {
	err := errors.Join(l.StopAccepting(), l.http.Close())
	l.wg.Wait()
	return err
}

// HTTP is the listener for connections that carry HTTP. Closing it does not affect attachments.
func (l *Listener) HTTP() net.Listener { return l.http }

type httpListener struct {
	addr   net.Addr
	next   chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newHTTPListener(addr net.Addr) *httpListener {
	return &httpListener{addr: addr, next: make(chan net.Conn), closed: make(chan struct{})}
}

// deliver hands a connection to the HTTP server; it reports false when that is closed.
func (g *httpListener) deliver(conn net.Conn) bool {
	select {
	case g.next <- conn:
		return true
	case <-g.closed:
		return false
	}
}

func (g *httpListener) Accept() (net.Conn, error) {
	select {
	case conn := <-g.next:
		return conn, nil
	case <-g.closed:
		return nil, net.ErrClosed
	}
}

func (g *httpListener) Close() error {
	g.once.Do(func() { close(g.closed) })
	return nil
}

func (g *httpListener) Addr() net.Addr { return g.addr }

// bufferedConn is a connection whose first bytes are in a buffer already.
type bufferedConn struct {
	net.Conn
	r      *bufio.Reader
	closed func()
}

func (c *bufferedConn) Read(p []byte) (int, error) { return c.r.Read(p) }

func (c *bufferedConn) Close() error {
	defer c.closed()
	return c.Conn.Close()
}

// HTTP is a client for the relay's own HTTP routes, over the socket. The host of its URLs is 127.0.0.1. It needs no
// token, so that none can be sent to another program that took the relay's port.
func HTTP(home config.Home) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return Dial(ctx, home) },
	}}
}
