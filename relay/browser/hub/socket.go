package hub

//lint:file-ignore SA1019 nhooyr.io/websocket is given. It is frozen and goes on as github.com/coder/websocket with the
// same API; because only this file, relay/browser/hub/hubtest and relay/program/bench/bare.go import it, moving there
// changes their imports and no other line.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"nhooyr.io/websocket"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/lib/lock"
)

const (
	// writeTime is how long the peer may take to accept a batch of frames. One that reads nothing for longer is dead.
	writeTime = 10 * time.Second

	// closeTime is how long the peer may take to answer a close frame.
	closeTime = time.Second

	// smallBuffer is what a connection reads with, keepBuffer the largest buffer that stays with it.
	smallBuffer = 4 << 10
	keepBuffer  = 256 << 10

	// hardLimit, times the frame limit, is where a message is no longer skipped and the connection closes.
	hardLimit = 4
)

// Socket is one WebSocket connection that carries frames as text messages. One goroutine reads, one writes; Close
// and Drop may be called by any. No context of a call ever reaches it: in this library a context that ends closes
// the connection.
type Socket struct {
	ws    *websocket.Conn
	cork  *corkedConn // nil on the dialling side
	limit int         // of a message

	buf []byte // owned by the reader; what Read returned last is in it
}

// oversized is Read's error for a message over the limit. The message was skipped; the connection goes on.
type oversized struct {
	head []byte // its beginning: the header, if that is in it; valid until the next Read
	size int64  // as far as it was read
}

func (o *oversized) Error() string {
	return fmt.Sprintf("a message of %d bytes or more is over the limit", o.size)
}

// errNotText is Read's error for a binary message.
var errNotText = errors.New("a binary message")

// errFlood is Read's error for a message over hardLimit.
var errFlood = fmt.Errorf("a message is more than %d times as large as it may be", hardLimit)

// skipped reports whether an error of Read is about one message only, and the connection is as it was.
func skipped(err error) bool {
	var over *oversized
	return errors.As(err, &over) || errors.Is(err, errNotText)
}

// accept upgrades a request whose Host, Origin and subprotocol have been checked.
func accept(w http.ResponseWriter, r *http.Request, limit int) (*Socket, error) {
	up := &upgrade{ResponseWriter: w}
	ws, err := websocket.Accept(up, r, &websocket.AcceptOptions{
		Subprotocols:       []string{wire.Subprotocol},
		InsecureSkipVerify: true, // guard.go compares the whole Origin; the library would compare its host only
	})
	if err != nil {
		return nil, err
	}
	s := &Socket{ws: ws, cork: up.conn}
	s.setLimit(limit)
	return s, nil
}

// setLimit sets the size of the largest message. The library has no limit of its own: where it hits one it closes under
// a peer that is still sending, which then sees a broken connection instead of the code.
func (s *Socket) setLimit(limit int) {
	s.limit = limit
	s.ws.SetReadLimit(-1)
}

// Dial connects to a relay as the extension with that origin does. It is for programs that play the extension: the
// tests and the benchmark. client may be nil.
func Dial(ctx context.Context, client *http.Client, address string, header http.Header) (*Socket, error) {
	ws, response, err := websocket.Dial(ctx, "ws://"+address+"/extension", &websocket.DialOptions{
		HTTPClient: client, HTTPHeader: header, Subprotocols: []string{wire.Subprotocol},
	})
	if err != nil {
		if response != nil && response.StatusCode != http.StatusSwitchingProtocols {
			body, _ := io.ReadAll(io.LimitReader(response.Body, 512))
			return nil, fmt.Errorf("dial %s: status %d: %s", address, response.StatusCode, body)
		}
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	s := &Socket{ws: ws}
	s.setLimit(wire.MaxFrameBytes)
	return s, nil
}

// Read returns the next message. It is valid until the next Read. An *oversized and an errNotText leave the
// connection as it was; every other error ends it.
func (s *Socket) Read(ctx context.Context) ([]byte, error) {
	kind, r, err := s.ws.Reader(ctx)
	if err != nil {
		return nil, err
	}
	if cap(s.buf) > keepBuffer {
		old := s.buf
		large.Put(&old)
		s.buf = nil
	}
	if s.buf == nil {
		s.buf = make([]byte, 0, smallBuffer)
	}
	s.buf, err = readUpTo(r, s.buf[:0], s.limit+1)
	if err != nil {
		return nil, err
	}
	if len(s.buf) > s.limit {
		return nil, s.skip(r)
	}
	if kind != websocket.MessageText {
		return nil, errNotText
	}
	return s.buf, nil
}

// skip reads the rest of a message that is over the limit. One that is over hardLimit ends the connection.
func (s *Socket) skip(r io.Reader) error {
	rest, err := io.CopyN(io.Discard, r, int64(s.limit)*(hardLimit-1))
	switch {
	case err == nil:
		s.Close(closeTooLarge, "a message is far too large")
		return errFlood
	case errors.Is(err, io.EOF):
		return &oversized{head: s.buf, size: int64(len(s.buf)) + rest}
	}
	return err
}

// large keeps the buffers of large messages, for whichever connection reads the next one.
var large sync.Pool // of *[]byte

// grow returns a larger buffer with the same beginning.
func grow(buf []byte, limit int) []byte {
	size := min(4*cap(buf), limit)
	if size > keepBuffer {
		if pooled, ok := large.Get().(*[]byte); ok && cap(*pooled) >= size {
			return append((*pooled)[:0], buf...)
		}
	}
	return append(make([]byte, 0, size), buf...)
}

// readUpTo appends to buf until r ends or buf has limit bytes. The library's own Read allocates four times the size
// of a large message; this grows one buffer, which is used again.
func readUpTo(r io.Reader, buf []byte, limit int) ([]byte, error) {
	for len(buf) < limit {
		if len(buf) == cap(buf) {
			buf = grow(buf, limit)
		}
		n, err := r.Read(buf[len(buf):min(cap(buf), limit)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// Write sends frames in their order, and returns when the system has taken all of them. They leave together: frames
// that queued up while the last ones were written cost one system call.
func (s *Socket) Write(frames ...[]byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeTime)
	defer cancel()
	for i, frame := range frames {
		if s.cork != nil && len(frames) > 1 {
			s.cork.hold(i < len(frames)-1)
		}
		if err := s.ws.Write(ctx, websocket.MessageText, frame); err != nil {
			return err
		}
	}
	return nil
}

// Close says goodbye with a code and a reason of at most 123 bytes, waits a moment for the peer's goodbye, and ends
// the connection.
func (s *Socket) Close(code int, reason string) {
	late := time.AfterFunc(closeTime, s.Drop)
	defer late.Stop()
	_ = s.ws.Close(websocket.StatusCode(code), reason[:min(len(reason), 123)])
}

// Drop ends the connection without a word. While Close waits for the peer the library's CloseNow ends nothing, so the
// connection below is closed first.
func (s *Socket) Drop() {
	if s.cork != nil {
		_ = s.cork.Close()
	}
	_ = s.ws.CloseNow()
}

// CloseCode is the code the peer closed with, by the error of Read; -1 when it did not say goodbye.
func CloseCode(err error) int { return int(websocket.CloseStatus(err)) }

// upgrade hands the library a connection that we can hold back.
type upgrade struct {
	http.ResponseWriter
	conn *corkedConn
}

// Hijack implements http.Hijacker.
func (u *upgrade) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	early, _ := rw.Reader.Peek(rw.Reader.Buffered())
	u.conn = &corkedConn{Conn: conn, early: append([]byte(nil), early...)}
	const buffer = 16 << 10
	return u.conn, bufio.NewReadWriter(bufio.NewReaderSize(u.conn, buffer), bufio.NewWriterSize(u.conn, buffer)), nil
}

// corkedConn holds small writes back while it is told to, and sends them with the next write that it is not.
type corkedConn struct {
	net.Conn
	early []byte // came with the upgrade request; owned by the reader

	mu      lock.Mutex
	held    bool
	pending []byte
}

func (c *corkedConn) hold(held bool) {
	c.mu.Lock()
	c.held = held
	c.mu.Unlock()
}

// Read implements net.Conn.
func (c *corkedConn) Read(p []byte) (int, error) {
	if len(c.early) > 0 {
		n := copy(p, c.early)
		c.early = c.early[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// Write implements net.Conn.
func (c *corkedConn) Write(p []byte) (int, error) {
	const most = 64 << 10
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.held && len(c.pending) == 0 {
		return c.Conn.Write(p)
	}
	together := len(c.pending)+len(p) <= most
	if together {
		c.pending = append(c.pending, p...)
		if c.held {
			return len(p), nil
		}
	}
	_, err := c.Conn.Write(c.pending)
	c.pending = c.pending[:0]
	if err != nil {
		return 0, err
	}
	if together {
		return len(p), nil
	}
	return c.Conn.Write(p)
}
