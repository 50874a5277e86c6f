package httpapi

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"tabrelay/relay/program/httpapi/apitest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

// Whoever guesses tokens is slowed down, and told of once in the log; whoever has one does not wait.
func TestWrongTokensAreSlowedDown(t *testing.T) {
	log := &apitest.Log{}
	s := serve(t, func(o *Options) { o.Log = zerolog.New(log) })
	for range wrongTokens.Burst {
		if res, _ := s.ask("GET", "/api/v1/status",
			"Authorization: Bearer wrong"); res.StatusCode != http.StatusUnauthorized {
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
		if res, _ := s.ask("GET", "/api/v1/status", authorization); res.StatusCode != http.StatusOK {
			t.Fatalf("who is known was shut out: %d", res.StatusCode)
		}
	}
	for range more {
		if status := <-slowed; status != http.StatusUnauthorized {
			t.Errorf("a wrong token: %d", status)
		}
	}
	if told := strings.Count(log.String(), "without a token that is known"); told != 1 ||
		strings.Contains(log.String(), "wrong\"") {
		t.Errorf("the log tells of it %d times:\n%s", told, log)
	}
}

// A page whose origin a person allowed may read the answers; any other may not, even from this machine.
func TestSharingWithPages(t *testing.T) {
	s := serve(t, func(o *Options) { o.Config.AllowedOrigins = []string{"https://inspector.example"} })
	for origin, want := range map[string]string{"https://inspector.example": "https://inspector.example",
		"http://localhost:3000": ""} {
		res, _ := s.ask("POST", "/mcp", authorization, "Origin: "+origin)
		if got := res.Header.Get("Access-Control-Allow-Origin"); res.StatusCode != http.StatusOK || got != want {
			t.Errorf("%s: %d, shared with %q", origin, res.StatusCode, got)
		}
	}
	res, _ := s.ask("OPTIONS", "/mcp", "Origin: https://inspector.example", "Access-Control-Request-Method: POST")
	if res.StatusCode != http.StatusNoContent || !strings.Contains(res.Header.Get("Access-Control-Allow-Headers"),
		"Authorization") {
		t.Errorf("the browser's question: %d %v", res.StatusCode, res.Header)
	}
}

// say sends bytes as they are, and returns the status line and the rest of the answer, empty when there is none.
func (s *site) say(request string) (status, rest string) {
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
	s := serve(t)
	const auth = authorization + "\r\n"
	const host = "Host: 127.0.0.1\r\n"
	for name, test := range map[string]struct{ request, status string }{
		"no Host":           {"GET /api/v1/status HTTP/1.1\r\n" + auth + "\r\n", "400"},
		"no Host, HTTP/1.0": {"GET /api/v1/status HTTP/1.0\r\n" + auth + "\r\n", "403"},
		"two Hosts": {"GET /api/v1/status HTTP/1.1\r\n" + host + "Host: relay.example\r\n" +
			auth + "\r\n", "400"},
		"another host in the target": {"GET http://relay.example/api/v1/status HTTP/1.1\r\n" + host + auth +
			"\r\n", "403"},
		"two Origins": {"GET /api/v1/status HTTP/1.1\r\n" + host + auth +
			"Origin: http://localhost\r\nOrigin: https://example.com\r\n\r\n", "403"},
		"two Sec-Fetch-Sites": {"GET /api/v1/status HTTP/1.1\r\n" + host + auth +
			"Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n\r\n", "403"},
		"two lengths": {"POST /mcp HTTP/1.1\r\n" + host + auth +
			"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "400"},
		"a length and chunks": {"POST /api/v1/stop HTTP/1.1\r\n" + host +
			"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /api/v1/status HTTP/1.1\r\n" + host +
			"\r\n", "401"},
		"a length that is none": {"POST /mcp HTTP/1.1\r\n" + host + auth + "Content-Length: -1\r\n\r\n",
			"400"},
		"an enormous body without a token": {"POST /mcp HTTP/1.1\r\n" + host +
			"Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{", "401"},
		"a long target": {"GET /api/v1/status?" + strings.Repeat("x", maxTarget) + " HTTP/1.1\r\n" + host +
			auth + "\r\n", "414"},
		"long headers": {"GET /api/v1/status HTTP/1.1\r\n" + host + "X: " +
			strings.Repeat("x", 2*maxHeaders) + "\r\n\r\n", "431"},
		"many headers": {"GET /api/v1/status HTTP/1.1\r\n" + host + strings.Repeat("X: y\r\n",
			maxHeaders) + "\r\n", "431"},
		"a line feed in a header": {"GET /api/v1/status HTTP/1.1\r\n" + host + "X: a\nAuthorization: b\x00\r\n\r\n",
			"400"},
		"OPTIONS *":                 {"OPTIONS * HTTP/1.1\r\n" + host + "\r\n", "400"},
		"OPTIONS * of another host": {"OPTIONS * HTTP/1.1\r\nHost: relay.example\r\n\r\n", "403"},
		"a host with a zone":        {"GET /healthz HTTP/1.1\r\nHost: [::1%25x]\r\n\r\n", "403"},
		"CONNECT":                   {"CONNECT 127.0.0.1:80 HTTP/1.1\r\n" + host + "\r\n", "404"},
		"TRACE":                     {"TRACE /api/v1/status HTTP/1.1\r\n" + host + auth + "\r\n", "405"},
		"another method":            {"STEAL /mcp HTTP/1.1\r\n" + host + "\r\n", "401"},
		"the beginning of HTTP/2":   {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "403"},
		"TLS":                       {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "400"},
		"a WebSocket of MCP": {"GET /mcp HTTP/1.1\r\n" + host + "Connection: Upgrade\r\nUpgrade: websocket\r\n" +
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", "401"},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := s.on(t).say(test.request)
			if !strings.Contains(status, " "+test.status+" ") || strings.Contains(body, "shop__") {
				t.Errorf("%q %.300q", status, body)
			}
		})
	}
	if res, _ := s.ask("GET", "/api/v1/status", authorization); res.StatusCode != http.StatusOK {
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
		// the answer tells
		go func() { _, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}") }()
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
