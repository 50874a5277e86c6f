package relay

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/hub/hubtest"
	"tabrelay/relay/plugin"
)

// A program on this machine that has no token, no pairing, and cannot open the person's files: another user's, or one
// in a box that may use the network.

// Whoever guesses tokens is slowed down, and told of once in the log; whoever has one does not wait.
func TestWrongTokensAreSlowedDown(t *testing.T) {
	w := newWorld(t)
	log := &page{}
	cfg := openConfig()
	cfg.Listen, cfg.Demo.Listen = "127.0.0.1:0", ""
	r, err := New(t.Context(), cfg, Options{Home: w.home, Log: zerolog.New(log), Plugins: []plugin.Plugin{shop()}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() // the test is over
	s := stranger{t, r.Address()}
	for range wrongTokens.Burst {
		if res, _ := s.ask("GET", "/api/v1/status", "Authorization: Bearer wrong"); res.StatusCode != http.StatusUnauthorized {
			t.Fatalf("a wrong token: %d", res.StatusCode)
		}
	}
	const more = 60 // far more than are allowed anew while those above took place
	slowed := make(chan int)
	for range more {
		go func() {
			res, _ := s.ask("GET", "/api/v1/status", "Authorization: Bearer wrong")
			slowed <- res.StatusCode
		}()
	}
	for range 50 {
		if res, _ := s.ask("GET", "/api/v1/status", "Authorization: Bearer "+r.secrets.Local()); res.StatusCode != http.StatusOK {
			t.Fatalf("who is known was shut out: %d", res.StatusCode)
		}
	}
	for range more {
		if status := <-slowed; status != http.StatusUnauthorized {
			t.Errorf("a wrong token: %d", status)
		}
	}
	if told := strings.Count(log.String(), "without a token that is known"); told != 1 || strings.Contains(log.String(), "wrong\"") {
		t.Errorf("the log tells of it %d times:\n%s", told, log)
	}
}

// Connections that say nothing, or begin a request and stop, keep neither clients nor the browser out.
func TestSilentConnectionsKeepNobodyOut(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	r.visitors.mu.Lock()
	r.visitors.patience = 0
	r.visitors.mu.Unlock()
	token := "Authorization: Bearer " + r.secrets.Local()
	s := stranger{t, r.Address()}
	var open []net.Conn
	for i := range 3 * maxStrangers {
		conn, err := net.Dial("tcp", r.Address())
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
	if res, _ := s.ask("GET", "/api/v1/status", token); res.StatusCode != http.StatusOK {
		t.Errorf("a client: %d", res.StatusCode)
	}
	w.browser(func(c *hubtest.Call) { c.Return(json.RawMessage(`{}`)) })
	for _, conn := range open[:maxStrangers] {
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("an old connection is still open: %v", err)
		}
	}
	r.visitors.mu.Lock()
	defer r.visitors.mu.Unlock()
	if n := r.visitors.silent.Len() + r.visitors.asking.Len(); n > maxStrangers {
		t.Errorf("%d strangers", n)
	}
}

// A program that opens connections without end, silent or with half a request, keeps neither strangers with a whole request
// nor clients out: what gives way is the oldest of its own.
func TestFloodKeepsNobodyOut(t *testing.T) {
	for name, says := range map[string]string{"silent": "", "half a request": "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r, _ := w.relay()
			r.visitors.mu.Lock()
			r.visitors.most = visitorsWithin(1024)
			r.visitors.mu.Unlock()
			ctx, stop := context.WithCancel(t.Context())
			var flood sync.WaitGroup
			for range 2 {
				flood.Go(func() {
					var open []net.Conn
					for ctx.Err() == nil {
						conn, err := net.Dial("tcp", r.Address())
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
			s := stranger{t, r.Address()}
			token := "Authorization: Bearer " + r.secrets.Local()
			for range 10 {
				if res, _ := s.ask("GET", "/healthz", "Connection: close"); res.StatusCode != http.StatusOK {
					t.Errorf("a stranger with a request: %d", res.StatusCode)
				}
				if res, _ := s.ask("GET", "/api/v1/tools", token, "Connection: close"); res.StatusCode != http.StatusOK {
					t.Errorf("a client with a connection of its own: %d", res.StatusCode)
				}
			}
			r.visitors.mu.Lock()
			defer r.visitors.mu.Unlock()
			if n := len(r.visitors.all); n > r.visitors.most {
				t.Errorf("%d connections are open, of %d", n, r.visitors.most)
			}
		})
	}
}

// How many visitors there may be follows what the process may have, and leaves room for the rest of it.
func TestVisitorsWithinDescriptors(t *testing.T) {
	for limit, want := range map[uint64]int{16: 8, 64: 24, 256: 192, 1024: 768, 8191: 6144, 8192: maxVisitors, 1 << 20: maxVisitors, math.MaxUint64: maxVisitors} {
		if got := visitorsWithin(limit); got != min(want, maxVisitors) {
			t.Errorf("of %d descriptors %d are for visitors, want %d", limit, got, want)
		}
	}
}

// Clients that come all at once, each with a connection of its own, are all answered.
func TestManyClientsAtOnce(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	r.visitors.mu.Lock()
	r.visitors.patience = time.Hour // however long this machine takes
	r.visitors.mu.Unlock()
	request := "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + r.secrets.Local() + "\r\n\r\n"
	var open []net.Conn
	for range 6 * maxStrangers {
		conn, err := net.Dial("tcp", r.Address())
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

// say sends bytes as they are, and returns the status line and the rest of the answer, empty when there is none.
func (s stranger) say(request string) (status, rest string) {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()                                   // it has been answered
	go func() { _, _ = io.WriteString(conn, request) }() // the relay may answer and close before it has read all
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		s.t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	status, _ = in.ReadString('\n') // no answer is one
	head := make([]byte, 4<<10)
	n, _ := in.Read(head) // as above
	return strings.TrimSpace(status), string(head[:n])
}

// Requests that no client would send.
func TestMalformedRequests(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	s := stranger{t, r.Address()}
	auth := "Authorization: Bearer " + r.secrets.Local() + "\r\n"
	const host = "Host: 127.0.0.1\r\n"
	for name, test := range map[string]struct{ request, status string }{
		"no Host":                        {"GET /api/v1/status HTTP/1.1\r\n" + auth + "\r\n", "400"},
		"no Host, HTTP/1.0":              {"GET /api/v1/status HTTP/1.0\r\n" + auth + "\r\n", "403"},
		"two Hosts":                      {"GET /api/v1/status HTTP/1.1\r\n" + host + "Host: relay.example\r\n" + auth + "\r\n", "400"},
		"another host in the target":     {"GET http://relay.example/api/v1/status HTTP/1.1\r\n" + host + auth + "\r\n", "403"},
		"two Origins":                    {"GET /api/v1/status HTTP/1.1\r\n" + host + auth + "Origin: http://localhost\r\nOrigin: https://example.com\r\n\r\n", "403"},
		"two Sec-Fetch-Sites":            {"GET /api/v1/status HTTP/1.1\r\n" + host + auth + "Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n\r\n", "403"},
		"two lengths":                    {"POST /mcp HTTP/1.1\r\n" + host + auth + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "400"},
		"a length and chunks":            {"POST /api/v1/stop HTTP/1.1\r\n" + host + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /api/v1/status HTTP/1.1\r\n" + host + "\r\n", "401"},
		"a length that is none":          {"POST /mcp HTTP/1.1\r\n" + host + auth + "Content-Length: -1\r\n\r\n", "400"},
		"a body announced as enormous":   {"POST /mcp HTTP/1.1\r\n" + host + auth + "Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{", "413"},
		"an enormous body of a stranger": {"POST /mcp HTTP/1.1\r\n" + host + "Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{", "401"},
		"a long target":                  {"GET /api/v1/status?" + strings.Repeat("x", maxTarget) + " HTTP/1.1\r\n" + host + auth + "\r\n", "414"},
		"long headers":                   {"GET /api/v1/status HTTP/1.1\r\n" + host + "X: " + strings.Repeat("x", 2*maxHeaders) + "\r\n\r\n", "431"},
		"many headers":                   {"GET /api/v1/status HTTP/1.1\r\n" + host + strings.Repeat("X: y\r\n", maxHeaders) + "\r\n", "431"},
		"a line feed in a header":        {"GET /api/v1/status HTTP/1.1\r\n" + host + "X: a\nAuthorization: b\x00\r\n\r\n", "400"},
		"OPTIONS *":                      {"OPTIONS * HTTP/1.1\r\n" + host + "\r\n", "400"},
		"OPTIONS * of another host":      {"OPTIONS * HTTP/1.1\r\nHost: relay.example\r\n\r\n", "403"},
		"a host with a zone":             {"GET /healthz HTTP/1.1\r\nHost: [::1%25x]\r\n\r\n", "403"},
		"CONNECT":                        {"CONNECT 127.0.0.1:80 HTTP/1.1\r\n" + host + "\r\n", "404"},
		"TRACE":                          {"TRACE /api/v1/status HTTP/1.1\r\n" + host + auth + "\r\n", "405"},
		"another method":                 {"STEAL /mcp HTTP/1.1\r\n" + host + "\r\n", "401"},
		"the beginning of HTTP/2":        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "403"},
		"TLS":                            {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "400"},
		"a WebSocket of MCP":             {"GET /mcp HTTP/1.1\r\n" + host + "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", "401"},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := stranger{t, s.address}.say(test.request)
			if !strings.Contains(status, " "+test.status+" ") || strings.Contains(body, "shop__") {
				t.Errorf("%q %.300q", status, body)
			}
		})
	}
	if res, _ := s.ask("GET", "/api/v1/status", strings.TrimSpace(auth)); res.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %d", res.StatusCode)
	}
}

// pipes is a network of this process.
type pipes struct {
	next chan net.Conn
	stop chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.next:
		return conn, nil
	case <-p.stop:
		return nil, net.ErrClosed
	}
}
func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// A request that is sent byte by byte comes to an end, at its headers or in its body; the answer to one that was sent
// may take as long as it likes.
func TestSlowRequestsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		request string
		within  time.Duration
	}{
		"headers": {"POST / HTTP/1.1\r\nHost: x\r\nX: ", headerTime},
		"body":    {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", bodyTime},
		"chunks":  {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n", bodyTime},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reads := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if _, err := io.ReadAll(r.Body); err == nil {
						t.Error("it was read to its end")
					}
				})
				conn, end := serveOnPipes(t, reads)
				defer end()
				go func() { _, _ = io.Copy(io.Discard, conn) }() // whatever it is told
				begin := time.Now()
				_, err := io.WriteString(conn, test.request)
				for err == nil {
					time.Sleep(time.Second)
					_, err = io.WriteString(conn, "x")
				}
				if took := time.Since(begin); took > test.within+5*time.Second {
					t.Errorf("it went on for %s", took)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); err != nil {
				t.Error(err)
			}
			select {
			case <-time.After(10 * bodyTime):
			case <-r.Context().Done():
				t.Error("its sender is taken to be gone")
			}
		})
		conn, end := serveOnPipes(t, slow)
		defer end()
		go func() { _, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}") }() // the answer tells
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("%v %v", res, err)
		}
	})
}

// serveOnPipes serves a handler as the relay serves its own, and connects to it.
func serveOnPipes(t *testing.T, handler http.Handler) (conn net.Conn, end func()) {
	t.Helper()
	server := &http.Server{Handler: bounded(1<<20, handler), ReadHeaderTimeout: headerTime}
	network := pipes{make(chan net.Conn), make(chan struct{})}
	go func() { _ = server.Serve(network) }() // ends with Close
	near, far := net.Pipe()
	network.next <- far
	return near, func() {
		close(network.stop)
		_ = near.Close()
		_ = server.Close()
	}
}
