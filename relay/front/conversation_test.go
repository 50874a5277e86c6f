package front

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"tabrelay/relay/call"
)

var update = flag.Bool("update", false, "rewrite what the server says in testdata")

// TestConversations plays what clients say in testdata/{stdio,http}/*.txtar and compares what the server says.
//
// A file is a list of sections. On stdio, "client" is lines that are sent at once, and "server" what came back until
// nothing more happened. Over HTTP, "client NAME" is a request, and "server NAME" what its response has said since it
// was last looked at. "event" makes something else happen: see (*conversation).event. $SESSION stands for the last
// session id that was given out, $CURSOR, $STATE and $ASKED for the last nextCursor, requestState and id of a request
// of the server.
func TestConversations(t *testing.T) {
	for _, transport := range []string{"stdio", "http"} {
		files, err := filepath.Glob("testdata/" + transport + "/*.txtar")
		if err != nil || len(files) == 0 {
			t.Fatal("no conversations", err)
		}
		for _, file := range files {
			t.Run(transport+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				archive, err := txtar.ParseFile(file)
				if err != nil {
					t.Fatal(err)
				}
				got := &txtar.Archive{Comment: archive.Comment, Files: slices.Clone(archive.Files)}
				synctest.Test(t, func(t *testing.T) { play(t, transport, got) })
				if *update {
					if err := os.WriteFile(file, txtar.Format(got), 0o666); err != nil {
						t.Fatal(err)
					}
				} else if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" {
					t.Errorf("the server says something else (-want +got); run with -update to accept\n%s", diff)
				}
			})
		}
	}
}

// talker is one transport of a conversation.
type talker interface {
	say(name, text string)
	heard(name string) string
	hangUp()
}

// conversation plays one file.
type conversation struct {
	t       *testing.T
	fixture *fixture
	talker  talker
	words   map[string]string // what the server gave out last
}

// given finds what a client has to repeat later.
var given = map[string]*regexp.Regexp{
	"$CURSOR": regexp.MustCompile(`"nextCursor":"([^"]*)"`),
	"$STATE":  regexp.MustCompile(`"requestState":"([^"]*)"`),
	"$ASKED":  regexp.MustCompile(`"id":"([^"]*)","method"`),
}

// heard is what the server said, with what differs from run to run replaced by its name.
func (c *conversation) heard(name string) string {
	text := c.talker.heard(name)
	for word, pattern := range given {
		if found := pattern.FindAllStringSubmatch(text, -1); found != nil {
			c.words[word] = found[len(found)-1][1]
		}
		if value := c.words[word]; value != "" {
			text = strings.ReplaceAll(text, value, word)
		}
	}
	return text
}

func (c *conversation) say(name, text string) {
	for word, value := range c.words {
		text = strings.ReplaceAll(text, word, value)
	}
	c.talker.say(name, text)
}

func play(t *testing.T, transport string, archive *txtar.Archive) {
	c := &conversation{t: t, words: map[string]string{}, fixture: newFixture(t, Options{MaxBody: 2000, MaxLine: 2000})}
	if transport == "stdio" {
		c.talker = newLineTalker(t, c.fixture.front, string(archive.Comment))
	} else {
		c.talker = &httpTalker{t: t, handler: c.fixture.front.Handler(), open: map[string]*httpExchange{}}
	}
	for i, section := range archive.Files {
		kind, name, _ := strings.Cut(section.Name, " ")
		switch kind {
		case "client":
			c.say(name, string(section.Data))
		case "event":
			c.event(strings.TrimSpace(string(section.Data)))
		case "server":
			c.settle()
			archive.Files[i].Data = []byte(c.heard(name))
		default:
			t.Fatalf("section %q", section.Name)
		}
	}
	c.settle()
	c.talker.hangUp()
	if err := c.fixture.front.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// settle waits until nothing moves, and then once more after the short waits of the transport.
func (c *conversation) settle() {
	synctest.Wait()
	time.Sleep(settleTime)
	synctest.Wait()
}

func (c *conversation) event(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "add-tool":
		c.fixture.addTool(c.t, rest)
	case "touch":
		c.settle()
		what, want, _ := strings.Cut(rest, " ")
		if n := c.fixture.touch(what); want != "" && want != fmt.Sprint(n) {
			c.t.Errorf("%d listen to %s, want %s", n, what, want)
		}
	case "log":
		level, words, _ := strings.Cut(rest, " ")
		c.fixture.front.Log(level, "registry", map[string]string{"message": words})
	case "pass":
		d, err := time.ParseDuration(rest)
		if err != nil {
			c.t.Fatal(err)
		}
		time.Sleep(d)
	case "release":
		close(c.fixture.released)
	case "hang-up":
		c.talker.hangUp()
	case "shutdown":
		ctx, cancel := context.WithTimeout(c.t.Context(), time.Second)
		defer cancel()
		if err := c.fixture.front.Shutdown(ctx); err != nil {
			c.t.Log(err)
		}
	case "disconnect":
		c.settle()
		c.talker.(*httpTalker).open[rest].cancel()
	case "close-input":
		c.talker.(*lineTalker).once.Do(func() { _ = c.talker.(*lineTalker).in.Close() })
	case "calls":
		c.settle()
		if got := c.fixture.namedCalls(5, 6); got != rest {
			c.t.Errorf("calls %s, want %s", got, rest)
		}
	case "cancelled":
		c.settle()
		c.fixture.mu.Lock()
		defer c.fixture.mu.Unlock()
		if got := fmt.Sprint(c.fixture.causes); got != rest {
			c.t.Errorf("calls ended with %s, want %s", got, rest)
		}
	default:
		c.t.Fatalf("event %q", line)
	}
}

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
	a := Attachment{Session: call.Session{Lane: "lane-1", Client: "test", Via: "stdio"}, Key: "key"}
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

	mu     sync.Mutex
	header http.Header
	text   bytes.Buffer
	sent   bool
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
	ctx, cancel := context.WithCancel(WithSession(c.t.Context(), call.Session{Lane: who, Client: who, Via: "http"}))
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
	if id := x.header.Get("Mcp-Session-Id"); id != "" {
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
	x.sent = true
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
