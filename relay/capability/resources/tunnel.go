package resources

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// tunnel is the only way out for a program that dials by itself: an HTTP proxy on this machine, for one run and one
// password, that connects to one host through the guard, and carries so many bytes and no more.
type tunnel struct {
	guard    *guard
	target   string // host:port
	password string
	listener net.Listener
	ctx      context.Context
	work     sync.WaitGroup

	left      atomic.Int64
	over      atomic.Bool
	forbidden atomic.Bool
}

// openTunnel opens a tunnel until ctx ends; close waits until nothing of it is left.
func openTunnel(ctx context.Context, g *guard, target string, bytes int64) (*tunnel, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &tunnel{guard: g, target: target, password: rand.Text(), listener: l, ctx: ctx}
	t.left.Store(bytes)
	t.work.Go(t.serve)
	return t, nil
}

func (t *tunnel) url() string {
	return "http://tabrelay:" + t.password + "@" + t.listener.Addr().String()
}

// close ends the tunnel. The context it was opened with must be over, or nothing may use it any more.
func (t *tunnel) close() {
	_ = t.listener.Close()
	t.work.Wait()
}

func (t *tunnel) serve() {
	for {
		c, err := t.listener.Accept()
		if err != nil {
			return
		}
		t.work.Go(func() { t.connect(c) })
	}
}

// connect answers one CONNECT (RFC 9110 section 9.3.6).
func (t *tunnel) connect(c net.Conn) {
	defer func() { _ = c.Close() }()
	ended := context.AfterFunc(t.ctx, func() { _ = c.Close() })
	defer ended()
	_ = c.SetReadDeadline(time.Now().Add(connectTime))
	reader := bufio.NewReader(io.LimitReader(c, 16<<10))
	request, err := http.ReadRequest(reader)
	if err != nil {
		return
	}
	wanted := "Basic " + base64.StdEncoding.EncodeToString([]byte("tabrelay:"+t.password))
	switch {
	case subtle.ConstantTimeCompare([]byte(request.Header.Get("Proxy-Authorization")), []byte(wanted)) != 1:
		_, _ = io.WriteString(c, "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic "+
			"realm=\"tabrelay\"\r\nContent-Length: 0\r\n\r\n")
		return
	case request.Method != http.MethodConnect || request.Host != t.target:
		t.forbidden.Store(true)
		_, _ = io.WriteString(c, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
		return
	}
	out, err := t.guard.dial(t.ctx, "tcp", t.target)
	if err != nil {
		t.forbidden.Store(t.forbidden.Load() || errors.Is(err, errForbidden))
		_, _ = io.WriteString(c, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
		return
	}
	defer func() { _ = out.Close() }()
	closeOut := context.AfterFunc(t.ctx, func() { _ = out.Close() })
	defer closeOut()
	_ = c.SetReadDeadline(time.Time{})
	if _, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	t.work.Go(func() {
		_, _ = io.Copy(out, c) // requests
		if half, ok := out.(*net.TCPConn); ok {
			_ = half.CloseWrite()
		}
	})
	_, _ = io.Copy(c, meteredReader{out, t})
}

// meteredReader ends when the tunnel has carried what it may.
type meteredReader struct {
	io.Reader
	t *tunnel
}

func (m meteredReader) Read(b []byte) (int, error) {
	n, err := m.Reader.Read(b)
	if m.t.left.Add(-int64(n)) < 0 {
		m.t.over.Store(true)
		return 0, errors.New("the tunnel has carried what it may")
	}
	return n, err
}
