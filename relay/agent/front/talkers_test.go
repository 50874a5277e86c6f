package front

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"tabrelay/relay/road/call"
)

// lineTalker is a client on stdio.
type lineTalker struct {
	t    *testing.T
	in   *io.PipeWriter
	done chan struct{}
	once sync.Once

	mu  sync.Mutex
	out bytes.Buffer
}

// newLineTalker attaches. Lines of the file's comment that begin with "pending: " were left over by an earlier relay.
func newLineTalker(t *testing.T, f *Front, comment string) *lineTalker {
	a := Attachment{Session: call.Session{ID: "session-1", Client: "test", Via: "stdio"}, Key: "key"}
	for line := range strings.Lines(comment) {
		if pending, ok := strings.CutPrefix(line, "pending: "); ok {
			a.Pending = append(a.Pending, []byte(pending))
		}
		if tools, ok := strings.CutPrefix(line, "toolset: "); ok {
			a.Toolset = strings.TrimSpace(tools)
		}
	}
	r, w := io.Pipe()
	c := &lineTalker{t: t, in: w, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		if err := f.ServeStdio(t.Context(), a, r, c); err != nil {
			t.Error("ServeStdio:", err)
		}
		_ = r.Close()
	}()
	return c
}

// Write takes what the server writes. A message is one line, written at once.
func (c *lineTalker) Write(p []byte) (int, error) {
	if bytes.Count(p, []byte("\n")) != 1 || p[len(p)-1] != '\n' {
		c.t.Errorf("a Write that is not one line: %q", p)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Write(p)
}

func (c *lineTalker) say(_, text string) {
	for line := range strings.Lines(text) {
		if line == "<too long>\n" {
			line = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 3000) + "\"}}\n"
		}
		if _, err := io.WriteString(c.in, line); err != nil {
			c.t.Log(err)
		}
	}
}

func (c *lineTalker) heard(string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := c.out.String()
	c.out.Reset()
	return stable(text)
}

func (c *lineTalker) hangUp() {
	c.once.Do(func() { _ = c.in.Close() })
	<-c.done
}

var randomIDs = regexp.MustCompile(`("correlationId\\?":\\?")[0-9a-f]{32}`)

// stable takes out what differs from run to run.
func stable(text string) string { return randomIDs.ReplaceAllString(text, "${1}ID") }

// httpTalker is a client over HTTP. Every request runs by itself.
type httpTalker struct {
	t       *testing.T
	handler http.Handler
	session string
	open    map[string]*httpExchange
}

type httpExchange struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	header  http.Header
	text    bytes.Buffer
	sent    bool
	session string // that was given out
}

func (c *httpTalker) say(name, text string) {
	text = strings.ReplaceAll(text, "$SESSION", c.session)
	head, body, _ := strings.Cut(text, "\n\n")
	body = strings.TrimSpace(body)
	if body == "<too long>" {
		body = strings.Repeat("x", 3000)
	}
	raw := strings.ReplaceAll(head, "\n", "\r\n") + fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	raw = strings.Replace(raw, "\r\n", " HTTP/1.1\r\n", 1)
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	if err != nil {
		c.t.Fatalf("%v in %q", err, raw)
	}
	if r.Host == "" {
		r.Host = "127.0.0.1:7717"
	}
	who := "alice"
	if who, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); who == "" {
		who = "alice"
	}
	ctx, cancel := context.WithCancel(WithSession(c.t.Context(), call.Session{ID: who, Client: who, Via: "http"}))
	x := &httpExchange{cancel: cancel, done: make(chan struct{}), header: http.Header{}}
	c.open[name] = x
	go func() {
		defer close(x.done)
		c.handler.ServeHTTP(x, r.WithContext(ctx))
	}()
}

// heard is the status, the headers that matter and the body.
func (c *httpTalker) heard(name string) string {
	x := c.open[name]
	if x == nil {
		c.t.Fatalf("no request %q", name)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	text := x.text.String()
	x.text.Reset()
	if id := x.session; id != "" {
		c.session = id
		text = strings.ReplaceAll(text, id, "$SESSION")
	}
	select {
	case <-x.done:
		text += "<end>\n"
	default:
	}
	return stable(text)
}

func (c *httpTalker) hangUp() {
	for _, x := range c.open {
		x.cancel()
		<-x.done
	}
}

func (x *httpExchange) Header() http.Header { return x.header }

func (x *httpExchange) WriteHeader(status int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.sent {
		return
	}
	x.sent, x.session = true, x.header.Get("Mcp-Session-Id")
	fmt.Fprintln(&x.text, status, http.StatusText(status))
	for _, name := range []string{"Content-Type", "Allow", "Mcp-Session-Id"} {
		if value := x.header.Get(name); value != "" {
			fmt.Fprintf(&x.text, "%s: %s\n", name, value)
		}
	}
	fmt.Fprintln(&x.text)
}

func (x *httpExchange) Write(p []byte) (int, error) {
	x.WriteHeader(http.StatusOK)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.text.Write(p)
	if p[len(p)-1] != '\n' {
		x.text.WriteByte('\n')
	}
	return len(p), nil
}

func (x *httpExchange) Flush() {}
