package httpapi

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// Connections that say nothing, or begin a request and stop, keep neither clients nor the browser out.
func TestSilentConnectionsKeepNobodyOut(t *testing.T) {
	s := serve(t)
	s.limiter.mu.Lock()
	s.limiter.patience = 0
	s.limiter.mu.Unlock()
	var open []net.Conn
	for i := range 3 * maxUnauthenticated {
		conn, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close() // the test is over
		open = append(open, conn)
		if i%2 == 0 {
			if _, err := io.WriteString(conn, "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "); err != nil {
				t.Fatal(err)
			}
		}
	}
	if res, _ := s.ask("GET", "/api/v1/status", authorization); res.StatusCode != http.StatusOK {
		t.Errorf("a client: %d", res.StatusCode)
	}
	s.browser()
	for _, conn := range open[:maxUnauthenticated] {
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("an old connection is still open: %v", err)
		}
	}
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	if n := s.limiter.silent.Len() + s.limiter.asking.Len(); n > maxUnauthenticated {
		t.Errorf("%d unauthenticated connections", n)
	}
}

// A program that opens connections without end, silent or with half a request, keeps neither senders of a whole
// request without a token nor clients out: what gives way is the oldest of its own.
func TestFloodKeepsNobodyOut(t *testing.T) {
	for name, says := range map[string]string{"silent": "",
		"half a request": "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			s.limiter.mu.Lock()
			s.limiter.most = connectionsWithin(1024)
			s.limiter.mu.Unlock()
			ctx, stop := context.WithCancel(t.Context())
			var flood sync.WaitGroup
			for range 2 {
				flood.Go(func() {
					var open []net.Conn
					for ctx.Err() == nil {
						conn, err := net.Dial("tcp", s.address)
						if err != nil {
							continue // its own descriptors or ports have run out
						}
						_, _ = io.WriteString(conn, says) // the relay may have closed it
						if open = append(open, conn); len(open) > 200 {
							_ = open[0].Close() // as above
							open = open[1:]
						}
					}
					for _, conn := range open {
						_ = conn.Close() // as above
					}
				})
			}
			defer flood.Wait()
			defer stop()
			for range 10 {
				if status := s.askInTime("/healthz", ""); status != http.StatusOK {
					t.Errorf("a sender without a token: %d", status)
				}
				if status := s.askInTime("/api/v1/tools", authorization); status != http.StatusOK {
					t.Errorf("a client with a connection of its own: %d", status)
				}
			}
			s.limiter.mu.Lock()
			defer s.limiter.mu.Unlock()
			if n := len(s.limiter.all); n > s.limiter.most {
				t.Errorf("%d connections are open, of %d", n, s.limiter.most)
			}
		})
	}
}

// askInTime sends requests, each over a connection of its own, until one is answered. Only a request that was late may
// go unanswered: a busy machine can keep a sender from sending for longer than the relay waits when its queue is long.
func (s *site) askInTime(path, header string) (status int) {
	s.t.Helper()
	for {
		var connecting, sent time.Time
		ctx := httptrace.WithClientTrace(s.t.Context(), &httptrace.ClientTrace{
			ConnectStart: func(string, string) { connecting = time.Now() },
			WroteRequest: func(httptrace.WroteRequestInfo) { sent = time.Now() },
		})
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+path, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		req.Close = true
		if name, value, ok := strings.Cut(header, ": "); ok {
			req.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			_ = res.Body.Close() // nothing was read
			return res.StatusCode
		}
		if took := sent.Sub(connecting); !sent.IsZero() && took < graceTime/10 {
			s.t.Fatalf("a request that was sent %v after dialling: %v", took, err)
		}
	}
}

// How many connections there may be follows what the process may have, and leaves room for the rest of it.
func TestConnectionsWithinDescriptors(t *testing.T) {
	for limit, want := range map[uint64]int{16: 8, 64: 24, 256: 192, 1024: 768, 8191: 6144, 8192: maxConnections,
		1 << 20: maxConnections, math.MaxUint64: maxConnections} {
		if got := connectionsWithin(limit); got != min(want, maxConnections) {
			t.Errorf("of %d descriptors %d are for connections, want %d", limit, got, want)
		}
	}
}

// Clients that come all at once, each with a connection of its own, are all answered.
func TestManyClientsAtOnce(t *testing.T) {
	s := serve(t)
	s.limiter.mu.Lock()
	s.limiter.patience = time.Hour // however long this machine takes
	s.limiter.mu.Unlock()
	request := "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n" + authorization + "\r\n\r\n"
	var open []net.Conn
	for range 6 * maxUnauthenticated {
		conn, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close() // the test is over
		open = append(open, conn)
	}
	for _, conn := range open {
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
	}
	for i, conn := range open {
		line := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(conn, line); err != nil || string(line) != "HTTP/1.1 200" {
			t.Fatalf("the client %d of %d is answered %q, %v", i, len(open), line, err)
		}
	}
}
