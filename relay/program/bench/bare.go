package bench

//lint:file-ignore SA1019 the bare relay uses what the relay does: see relay/browser/hub/socket.go.

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"nhooyr.io/websocket"
)

// bare is the least that carries a call: an HTTP handler that numbers the body, writes it to one WebSocket on
// loopback, whose other end echoes it, and answers with what comes back. A relay cannot be faster; how much slower it
// is says more than its times.
type bare struct {
	browser *websocket.Conn
	serial  atomic.Uint64
	waiting sync.Map // of channels of messages, by their numbers
}

// barePath is where the other end connects.
const barePath = "/browser"

// ServeBare serves a bare relay until ctx ends.
func ServeBare(ctx context.Context, address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	b := &bare{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET "+barePath, b.connect)
	mux.HandleFunc("POST /mcp", b.call)
	server := &http.Server{Handler: mux}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })() // nothing is in flight that matters
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// connect takes the other end, and hands what it echoes to who waits for it.
func (b *bare) connect(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // which Accept has answered
	}
	conn.SetReadLimit(-1)
	for b.browser = conn; ; {
		_, message, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		if answer, ok := b.waiting.LoadAndDelete(binary.BigEndian.Uint64(message)); ok {
			answer.(chan []byte) <- message[8:]
		}
	}
}

// call has one body echoed.
func (b *bare) call(w http.ResponseWriter, r *http.Request) {
	body := make([]byte, 8+r.ContentLength)
	if _, err := io.ReadFull(r.Body, body[8:]); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	number, answer := b.serial.Add(1), make(chan []byte, 1)
	binary.BigEndian.PutUint64(body, number)
	b.waiting.Store(number, answer)
	if err := b.browser.Write(context.Background(), websocket.MessageBinary, body); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	_, _ = w.Write(<-answer) // a driver that is gone measures nothing
}

// echo is the other end, until the connection ends.
func echo(ctx context.Context, conn *websocket.Conn) {
	for {
		kind, message, err := conn.Read(ctx)
		if err != nil || conn.Write(ctx, kind, message) != nil {
			return
		}
	}
}

// openBare starts a bare relay, and is its other end. What it returns is not there where the other is an error.
func openBare(ctx context.Context, executable string) (*stage, func() error, error) {
	p, err := startProcess(ctx, executable, "", func(address string) []string {
		return []string{"bench", "--serve-bare", address}
	})
	if err != nil {
		return nil, nil, err
	}
	s := &stage{relayProcess: p, bare: true, client: newClient()}
	conn, _, err := websocket.Dial(ctx, "ws://"+p.address+barePath, nil)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("cannot reach the bare relay: %w", err), s.close())
	}
	conn.SetReadLimit(-1)
	go echo(ctx, conn)
	return s, func() error {
		defer conn.CloseNow() // the bare relay ends with it
		return s.close()
	}, nil
}
