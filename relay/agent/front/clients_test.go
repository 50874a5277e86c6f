package front

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/road/call"
)

// serveFixture serves a fixture over HTTP, on a port of its own.
func serveFixture(t *testing.T) (*fixture, string) {
	x := newFixture(t, Options{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x.front.Handler().ServeHTTP(w, r.WithContext(WithSession(r.Context(),
			call.Session{ID: "l", Client: "c", Via: "http"})))
	}))
	t.Cleanup(func() {
		if err := x.front.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return x, s.URL + "/mcp"
}

// TestLibraryClient: mcp-go's own client lists, calls, sees structured results, failures, progress and changes.
func TestLibraryClient(t *testing.T) {
	http := func(t *testing.T) (*fixture, transport.Interface) {
		x, url := serveFixture(t)
		//lint:ignore SA1019 the GET stream of the legacy era is what is tested
		c, err := transport.NewStreamableHTTP(url, transport.WithContinuousListening())
		if err != nil {
			t.Fatal(err)
		}
		return x, c
	}
	stdio := func(t *testing.T) (*fixture, transport.Interface) {
		x := newFixture(t, Options{})
		fromClient, in := io.Pipe()
		out, toClient := io.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = x.front.ServeStdio(context.Background(), Attachment{Key: "k"}, fromClient, toClient)
			_ = toClient.Close()
		}()
		t.Cleanup(func() { _ = in.Close(); <-done })
		return x, transport.NewIO(out, in, io.NopCloser(strings.NewReader("")))
	}
	for name, connect := range map[string]func(*testing.T) (*fixture, transport.Interface){"http": http,
		"stdio": stdio} {
		t.Run(name, func(t *testing.T) {
			x, tr := connect(t)
			converse(t, x, mcpclient.NewClient(tr))
		})
	}
}

func converse(t *testing.T, x *fixture, c *mcpclient.Client) {
	ctx := t.Context()
	changed := make(chan struct{}, 1)
	var mu sync.Mutex
	steps := 0
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		mu.Lock()
		defer mu.Unlock()
		switch n.Method {
		case "notifications/progress":
			steps++
		case string(mcp.MethodNotificationToolsListChanged):
			select {
			case changed <- struct{}{}:
			default:
			}
		}
	})
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	if _, err := c.Initialize(ctx, hello); err != nil {
		t.Fatal(err)
	}
	tools, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil || len(tools.Tools) < 10 {
		t.Fatal(err, tools)
	}
	do := func(name string, meta *mcp.Meta) *mcp.CallToolResult {
		var r mcp.CallToolRequest
		r.Params.Name, r.Params.Meta, r.Params.Arguments = name, meta, map[string]any{"a": "b"}
		result, err := c.CallTool(ctx, r)
		if err != nil {
			t.Fatal(name, err)
		}
		return result
	}
	if r := do("demo__typed", nil); r.StructuredContent == nil {
		t.Error("no structured content")
	}
	if r := do("demo__throw", nil); !r.IsError || !strings.HasPrefix(r.Content[0].(mcp.TextContent).Text,
		"[ERROR code=RATE_LIMITED ") {
		t.Errorf("%+v", r)
	}
	do("demo__steps", &mcp.Meta{ProgressToken: "p"})
	mu.Lock()
	if steps != 5 {
		t.Errorf("%d steps before the result, want 5", steps)
	}
	mu.Unlock()
	var unknown mcp.CallToolRequest
	unknown.Params.Name = "nosuch"
	if _, err := c.CallTool(ctx, unknown); err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("unknown tool: %v", err)
	}
	x.addTool(t, "new")
	<-changed
	if r := do("demo__new", nil); r.IsError {
		t.Errorf("%+v", r)
	}
}

// TestBurstProgress: a thousand calls, four at a time, with five steps of progress each in one burst. Every step
// arrives on its own call and before its result, whichever the transport and the era.
func TestBurstProgress(t *testing.T) {
	const calls, together = 1000, 4
	t.Run("http", func(t *testing.T) {
		_, url := serveFixture(t)
		begun, err := http.Post(url, "application/json", strings.NewReader(initialize))
		if err != nil {
			t.Fatal(err)
		}
		_ = begun.Body.Close()
		session := begun.Header.Get(mcp.HeaderSessionID)
		inParallel(together, calls, func(id int) {
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url,
				strings.NewReader(stepsCall(id, "{}")))
			r.Header.Set(mcp.HeaderSessionID, session)
			checkBurst(t, r, id)
		})
		inParallel(together, calls, func(id int) {
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(modernSteps(id)))
			r.Header.Set(mcp.HeaderProtocolVersion, "2026-07-28")
			r.Header.Set(mcp.HeaderMethod, "tools/call")
			r.Header.Set(mcp.HeaderName, "demo__steps")
			checkBurst(t, r, id)
		})
	})
	t.Run("stdio", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { burstOnStdio(t, together, calls) })
	})
}

func burstOnStdio(t *testing.T, together, calls int) {
	x := newFixture(t, Options{})
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	go func() {
		_ = x.front.ServeStdio(t.Context(), Attachment{Key: "k"}, fromClient, toClient)
		_ = toClient.Close()
	}()
	answered := newBurstReader(t, out)
	_, _ = io.WriteString(in, initialize+"\n")
	inParallel(together, calls, func(id int) { answered.ask(in, id+1, stepsCall(id+1, "{}")) })
	inParallel(together, calls, func(id int) { answered.ask(in, calls+id+1, modernSteps(calls+id+1)) })
	_ = in.Close()
	<-answered.done
}

func modernSteps(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"demo__steps",%s,`+
		`"progressToken":%d}}}`, id, strings.TrimSuffix(modernMeta, "}"), id)
}

func inParallel(workers, jobs int, do func(int)) {
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for id := w; id < jobs; id += workers {
				do(id)
			}
		})
	}
	wg.Wait()
}

func checkBurst(t *testing.T, r *http.Request, id int) {
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || !whole(readMessages(string(body)), id, 5) {
		t.Errorf("call %d: %v %s", id, err, body)
	}
}

// burstReader sorts what comes back on stdio by call.
type burstReader struct {
	t    *testing.T
	done chan struct{}
	mu   sync.Mutex
	got  map[string][]rpcMessage
	over map[string]chan struct{}
}

func newBurstReader(t *testing.T, out io.Reader) *burstReader {
	b := &burstReader{t: t, done: make(chan struct{}), got: map[string][]rpcMessage{},
		over: map[string]chan struct{}{"0": make(chan struct{})}}
	go func() {
		defer close(b.done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			b.take(lines.Bytes())
		}
	}()
	return b
}

func (b *burstReader) take(line []byte) {
	var m rpcMessage
	if err := json.NewDecoder(bytes.NewReader(line)).Decode(&m); err != nil {
		b.t.Error(err)
	}
	key := string(m.ID)
	if m.Method != "" {
		key = string(m.Params.Token)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.got[key] = append(b.got[key], m)
	if m.Method == "" {
		close(b.over[key])
	}
}

func (b *burstReader) ask(in io.Writer, id int, line string) {
	over := make(chan struct{})
	b.mu.Lock()
	b.over[fmt.Sprint(id)] = over
	b.mu.Unlock()
	if _, err := io.WriteString(in, line+"\n"); err != nil {
		b.t.Error(err)
	}
	<-over
	b.mu.Lock()
	defer b.mu.Unlock()
	if got := b.got[fmt.Sprint(id)]; !whole(got, id, 5) {
		b.t.Errorf("call %d: %+v", id, got)
	}
}

// The text of a script that answers with a number or a list is JSON; what says that it made no calls is beside it.
func TestObjectBesideText(t *testing.T) {
	for text, want := range map[string]string{
		` 42`: `{"result":42}`, `["a"]`: `{"result":["a"]}`, `"a"`: `{"result":"a"}`, `null`: `{"result":null}`,
		`{"a":1}`: ``, `[e12] button`: ``, `42 of them`: ``, ``: ``,
	} {
		block, _ := json.Marshal(map[string]string{"type": "text", "text": text})
		given := &call.Result{Content: []call.Content{block, call.Content(`{"type":"text","text":"1"}`)}}
		got := withObject(given)
		if string(got.Output) != want || got.Structured != (want != "") || len(got.Content) != 2 {
			t.Errorf("%q: structured content %s, %t, beside %s", text, got.Output, got.Structured, got.Content)
		}
	}
	structured := call.Result{Output: json.RawMessage(`[1]`), Structured: true}
	for _, given := range []*call.Result{{Content: []call.Content{}}, &structured} {
		if withObject(given) != given {
			t.Errorf("%+v is changed", given)
		}
	}
}
