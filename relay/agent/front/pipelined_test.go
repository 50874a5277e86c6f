package front

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipelinedRuns is how often each stream is sent. Taken in the wrong order, every one of them fails within ten runs.
const pipelinedRuns = 200

const (
	initialized  = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	watchText    = `{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":"demo://text"}}`
	unwatchText  = `{"jsonrpc":"2.0","id":%d,"method":"resources/unsubscribe","params":{"uri":"demo://text"}}`
	setLevelTo   = `{"jsonrpc":"2.0","id":%d,"method":"logging/setLevel","params":{"level":%q}}`
	callTool     = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}`
	plainRequest = `{"jsonrpc":"2.0","id":%d,"method":%q}`
)

// pipelined are messages that a client sends in one write, and what has to come of them whatever runs first. Responses
// are named by their ids: ok, or the number of a protocol error; a request without a response is not named.
var pipelined = []struct {
	name      string
	lines     []string
	answers   string
	calls     string // that were made, by the requests they came of; "-": that is left open
	logged    string // levels of the log messages that were sent
	watching  int    // listeners of demo://text at the end
	linesOnly bool   // it cannot be sent over one connection of HTTP
}{
	{name: "work before initialize is refused", lines: []string{
		fmt.Sprintf(callTool, 1, "demo__echo"), fmt.Sprintf(plainRequest, 2, "tools/list"), initialize, initialized,
		fmt.Sprintf(callTool, 3, "demo__echo"), fmt.Sprintf(plainRequest, 4, "tools/list"),
	}, answers: "0:ok 1:-32000 2:-32000 3:ok 4:ok", calls: "3:derived", linesOnly: true},
	{name: "initialize twice", lines: []string{
		initialize, strings.Replace(initialize, `"id":0`, `"id":1`, 1), fmt.Sprintf(plainRequest, 2, "tools/list"),
	}, answers: "0:ok 1:-32600 2:ok"},
	{name: "work before shutdown is done and none after", lines: []string{
		initialize, fmt.Sprintf(callTool, 1, "demo__echo"), fmt.Sprintf(plainRequest, 2, "tools/list"),
		fmt.Sprintf(plainRequest, 3, "shutdown"),
		fmt.Sprintf(callTool, 4, "demo__echo"), fmt.Sprintf(plainRequest, 5, "resources/list"),
	}, answers: "0:ok 1:ok 2:ok 3:ok 4:-32003 5:-32003", calls: "1:derived"},
	{name: "exit ends the stream", lines: []string{
		initialize, fmt.Sprintf(callTool, 1, "demo__echo"), fmt.Sprintf(plainRequest, 2, "exit"),
		fmt.Sprintf(plainRequest, 3, "shutdown"),
		fmt.Sprintf(plainRequest, 4, "exit"), fmt.Sprintf(callTool, 5, "demo__echo"),
	}, answers: "0:ok 1:ok 2:-32005 3:ok 4:ok", calls: "1:derived", linesOnly: true},
	{name: "the last level counts", lines: []string{
		initialize, fmt.Sprintf(setLevelTo, 1, "debug"), fmt.Sprintf(setLevelTo, 2, "error"),
		fmt.Sprintf(callTool, 3, "demo__log"),
	}, answers: "0:ok 1:ok 2:ok 3:ok", calls: "3:derived", logged: "error"},
	{name: "a level counts from then on", lines: []string{
		initialize, fmt.Sprintf(setLevelTo, 1, "error"), fmt.Sprintf(callTool, 2, "demo__log"),
		fmt.Sprintf(setLevelTo, 3, "debug"), fmt.Sprintf(setLevelTo, 4, "none"),
	}, answers: "0:ok 1:ok 2:ok 3:ok 4:-32602", calls: "2:derived", logged: "error"},
	{name: "subscribed and unsubscribed", lines: []string{initialize, fmt.Sprintf(watchText, 1),
		fmt.Sprintf(unwatchText, 2)}, answers: "0:ok 1:ok 2:ok"},
	{name: "unsubscribed and subscribed", lines: []string{
		initialize, fmt.Sprintf(watchText, 1), fmt.Sprintf(unwatchText, 2), fmt.Sprintf(watchText, 3),
	}, answers: "0:ok 1:ok 2:ok 3:ok", watching: 1},
	{name: "cancelled and sent again", lines: []string{
		initialize, waitCall("1"), cancelOf("1"), fmt.Sprintf(callTool, 2, "demo__echo"), waitCall("3"), cancelOf("3"),
	}, answers: "0:ok 2:ok", calls: "-", linesOnly: true},
	{name: "one id for two requests", lines: []string{initialize, waitCall("1"), waitCall("1"), cancelOf("1")},
		answers: "0:ok 1:-32600", calls: "-", linesOnly: true},
}

// judge compares what came back, and what was done, with what stream i has to come to.
func judge(t *testing.T, x *fixture, over string, i int, text string, watching int) {
	test := pipelined[i]
	var answers, logged []string
	for _, m := range readMessages(text) {
		switch {
		case m.Method != "":
			logged = append(logged, m.Params.Level)
		case m.Error != nil:
			answers = append(answers, fmt.Sprintf("%s:%d", m.ID, m.Error.Code))
		default:
			answers = append(answers, string(m.ID)+":ok")
		}
	}
	slices.Sort(answers)
	if got := strings.Join(answers, " "); got != test.answers {
		t.Fatalf("answers %s, want %s", got, test.answers)
	}
	calls := test.calls
	if over == "http" && calls != "-" { // where ids of calls are random
		calls = regexp.MustCompile(`\d:derived`).ReplaceAllString(calls, "other")
	}
	if got := x.namedCalls(1, 2, 3, 4, 5); calls != "-" && got != calls {
		t.Fatalf("calls %s, want %s", got, calls)
	}
	if got := strings.Join(logged, " "); got != test.logged {
		t.Fatalf("logged at %q, want %q", got, test.logged)
	}
	if watching != test.watching {
		t.Fatalf("%d listen to the resource, want %d", watching, test.watching)
	}
}

// TestPipelinedStdio: whatever runs first, requests count in the order in which they were sent.
func TestPipelinedStdio(t *testing.T) {
	for i, test := range pipelined {
		text := strings.Join(test.lines, "\n")
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for range pipelinedRuns {
					x := newFixture(t, Options{})
					in, client := io.Pipe()
					p := &pipe{in: client, done: make(chan struct{})}
					go func() {
						defer close(p.done)
						_ = x.front.ServeStdio(context.Background(), Attachment{Key: "key"}, in, p)
					}()
					go func() { _, _ = io.WriteString(client, text+"\n") }() // after exit nobody reads on
					time.Sleep(2 * settleTime)
					synctest.Wait()
					watching := x.watchers("demo://text")
					_ = in.Close()
					<-p.done
					judge(t, x, "stdio", i, p.out.String(), watching)
				}
			})
		})
	}
}

// TestPipelinedHTTP: the same within a session, for requests that follow each other on one connection.
func TestPipelinedHTTP(t *testing.T) {
	for i, test := range pipelined {
		if test.linesOnly {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			x, url := serveFixture(t)
			for range pipelinedRuns {
				x.reset()
				c := dialHTTP(t, url)
				session, text := c.post("", test.lines[0])
				_, more := c.post(session, test.lines[1:]...)
				judge(t, x, "http", i, text+more, x.watchers("demo://text"))
				c.end(session)
			}
		})
	}
}

// Calls that a session makes over several connections have the order in which they arrived.
func TestCallsOfASessionKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newFixture(t, Options{})
		c := &httpTalker{t: t, handler: x.front.Handler(), open: map[string]*httpExchange{}}
		post := func(name, session, body string) {
			c.say(name, "POST /mcp\nContent-Type: application/json\nAccept: application/json\n"+session+"\n"+body)
			synctest.Wait()
			c.heard(name)
		}
		post("0", "", initialize)
		post("1", "Mcp-Session-Id: $SESSION\n", waitCall("1"))
		post("2", "Mcp-Session-Id: $SESSION\n", waitCall("2"))
		if x.calls[0].Position != 1 || x.calls[1].Position != 2 || !x.held[0] || !x.held[1] {
			t.Errorf("the calls have the positions %d and %d, held: %v", x.calls[0].Position, x.calls[1].Position,
				x.held)
		}
		close(x.released)
		c.hangUp()
	})
}

// watchers counts who listens to a resource.
func (x *features) watchers(uri string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.watching[uri])
}

func (x *fixture) reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.calls = nil
}

// httpConn is one connection to a server, on which requests can be sent before earlier ones are answered.
type httpConn struct {
	net.Conn
	t       *testing.T
	answers *bufio.Reader
	path    string
}

func dialHTTP(t *testing.T, address string) *httpConn {
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	return &httpConn{conn, t, bufio.NewReader(conn), u.Path}
}

// post sends requests in one write, and returns what is answered to all of them.
func (c *httpConn) post(session string, bodies ...string) (begun, text string) {
	var out strings.Builder
	for _, body := range bodies {
		fmt.Fprintf(&out, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: "+
			"application/json, text/event-stream\r\n", c.path, c.RemoteAddr())
		if session != "" {
			fmt.Fprintf(&out, "Mcp-Session-Id: %s\r\n", session)
		}
		fmt.Fprintf(&out, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	if _, err := io.WriteString(c, out.String()); err != nil {
		c.t.Fatal(err)
	}
	for range bodies {
		r, err := http.ReadResponse(c.answers, nil)
		if err != nil {
			c.t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			c.t.Fatal(err)
		}
		begun, text = r.Header.Get("Mcp-Session-Id"), text+"\n"+string(body)
	}
	return begun, text
}

// end ends the session and the connection.
func (c *httpConn) end(session string) {
	_, err := fmt.Fprintf(c, "DELETE %s HTTP/1.1\r\nHost: %s\r\nMcp-Session-Id: %s\r\n\r\n", c.path, c.RemoteAddr(),
		session)
	if err == nil {
		_, err = http.ReadResponse(c.answers, nil)
	}
	if err = errors.Join(err, c.Close()); err != nil {
		c.t.Fatal(err)
	}
}
