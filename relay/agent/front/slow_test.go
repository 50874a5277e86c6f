package front

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/road/call"
)

// pipes is a listener in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, open := <-p; open {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7717} }

// dial connects a client, which sends one request and reads what it likes of the answer.
func (p pipes) dial(t *testing.T, method, session, body string) *http.Response {
	t.Helper()
	here, there := net.Pipe()
	p <- there
	go func() {
		_, _ = fmt.Fprintf(here, "%s /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"+
			"Accept: application/json, text/event-stream\r\n%s: %s\r\nContent-Length: %d\r\n\r\n%s",
			method, mcp.HeaderSessionID, session, len(body), body) // one that fails has no answer
	}()
	// What is read at once is what the test reads: no byte more.
	response, err := http.ReadResponse(bufio.NewReaderSize(oneByte{here}, 16), nil)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// oneByte reads no more than it is asked for.
type oneByte struct{ io.Reader }

func (r oneByte) Read(b []byte) (int, error) { return r.Reader.Read(b[:1]) }

// A client that keeps its connection and does not read is let go, so that its session can expire.
func TestClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, Options{})
		listener := make(pipes)
		var serving atomic.Int32
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			serving.Add(1)
			defer serving.Add(-1)
			f.front.Handler().ServeHTTP(w, r.WithContext(WithSession(r.Context(),
				call.Session{ID: "ann", Client: "ann", Via: "http"})))
		})}
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = server.Serve(listener) // it ends with the test
		}()
		defer func() {
			_ = server.Close() // nothing is left to be written
			<-served
		}()
		begun := listener.dial(t, http.MethodPost, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+
			`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"ann","version":"1"}}}`)
		session := begun.Header.Get(mcp.HeaderSessionID)
		if _, err := io.Copy(io.Discard, begun.Body); err != nil || session == "" {
			t.Fatal(err, begun.Status)
		}
		for name, body := range map[string]string{
			http.MethodGet: "",
			http.MethodPost: `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"demo__echo",` +
				`"arguments":{"text":"` + strings.Repeat("x", 100_000) + `"}}}`,
		} {
			if response := listener.dial(t, name, session, body); response.StatusCode != http.StatusOK {
				t.Fatalf("%s: %s", name, response.Status)
			}
			synctest.Wait()
			if serving.Load() != 1 {
				t.Fatalf("%s: nobody waits for the client", name)
			}
			time.Sleep(keepAlive + writeTime + time.Second)
			synctest.Wait()
			if serving.Load() != 0 {
				t.Errorf("%s: the client is still waited for", name)
			}
		}
	})
}
