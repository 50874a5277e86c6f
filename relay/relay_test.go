package relay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/extension"
	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/state/config"
)

const shopPage = "https://shop.example/cart"

// shop is a plugin with a tool that reads and one that writes.
func shop() plugin.Plugin {
	yes := true
	return plugin.Plugin{
		Hash: strings.Repeat("ab", 32), Adapter: []byte("var tabrelayPlugin = {default: {tools: []}};\n"),
		Manifest: plugin.Manifest{
			Name: "shop", Version: "1.0.0", DisplayName: "Shop", URLPatterns: []string{"https://shop.example/*"},
			World: plugin.Isolated,
			Tools: []plugin.Tool{
				{
					Name: "read", DisplayName: "Read", Description: "Reads.",
					Annotations: plugin.Annotations{ReadOnlyHint: &yes},
					InputSchema: json.RawMessage(`{"type":"object","properties":{"what":{"type":"string"}},` +
						`"additionalProperties":false}`),
				},
				{Name: "pay", DisplayName: "Pay", Description: "Pays.",
					InputSchema: json.RawMessage(`{"type":"object"}`)},
			},
		},
	}
}

// world is a home folder in which relays come and go.
type world struct {
	t    testing.TB
	home config.Home
	log  zerolog.Logger // of the relays that guarded starts
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, home: config.Home(t.TempDir()), log: zerolog.Nop()}
	if err := w.home.Create(); err != nil {
		t.Fatal(err)
	}
	return w
}

// relay starts a relay at a free port; end stops it and waits.
func (w *world) relay() (r *Relay, end func()) {
	w.t.Helper()
	return w.relayAs(func(*config.Config) {})
}

// relayAs is relay with a configuration that is changed.
func (w *world) relayAs(change func(*config.Config)) (r *Relay, end func()) {
	w.t.Helper()
	cfg := openConfig()
	cfg.Listen, cfg.Demo.Listen = "127.0.0.1:0", ""
	change(&cfg)
	r, err := New(w.t.Context(), cfg, Options{Home: w.home, Log: zerolog.Nop(), Plugins: []plugin.Plugin{shop()}})
	if err != nil {
		w.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- r.Run(context.Background()) }()
	var once bool
	end = func() {
		if once {
			return
		}
		once = true
		r.Stop()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	}
	w.t.Cleanup(end)
	return r, end
}

// browser is a browser that reads pairing.json, as the extension does whenever it dials.
func (w *world) browser(answer func(*hubtest.Call)) *hubtest.Browser {
	w.t.Helper()
	return w.browserCalled("Chrome 1", answer)
}

func (w *world) browserCalled(label string, answer func(*hubtest.Call)) *hubtest.Browser {
	w.t.Helper()
	var pairing struct{ Address, Secret string }
	text, err := os.ReadFile(filepath.Join(w.home.Extension(), "pairing.json"))
	if err == nil {
		err = json.Unmarshal(text, &pairing)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	b, err := hubtest.Connect(w.t.Context(), hubtest.Options{
		Address: pairing.Address, Secret: pairing.Secret, ExtensionID: extension.ID, Label: label, Answer: answer,
		Tabs: []wire.Tab{{ID: 7, WindowID: 1, URL: shopPage, Title: "Cart", Active: true, Focused: true,
			Status: "complete"}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(b.Close)
	w.awaitTabs(b)
	return b
}

// awaitTabs returns when the relay knows the tabs of a browser, which come after its greeting.
func (w *world) awaitTabs(b *hubtest.Browser) {
	w.t.Helper()
	for known := false; !known; {
		req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, "http://127.0.0.1/api/v1/tabs", nil)
		if err != nil {
			w.t.Fatal(err)
		}
		res, err := join.HTTP(w.home).Do(req)
		if err != nil {
			w.t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		if err := errors.Join(err, res.Body.Close()); err != nil {
			w.t.Fatal(err)
		}
		known = bytes.Contains(text, []byte(b.ProfileID()))
	}
}

// mcpClient is an MCP client behind a proxy.
type mcpClient struct {
	t   testing.TB
	in  io.Writer
	out *bufio.Scanner

	leave func() // ends its stdio proxy
}

func (w *world) agent(start func(context.Context) (join.State, error)) *mcpClient {
	w.t.Helper()
	return w.agentWith(start, &join.Proxy{Client: "ann"})
}

// agentWith is agent behind a stdio proxy that says who it is.
func (w *world) agentWith(start func(context.Context) (join.State, error), proxy *join.Proxy) *mcpClient {
	w.t.Helper()
	return w.agentThatCan(start, proxy, `{}`)
}

// agentThatCan is agentWith that has capabilities.
func (w *world) agentThatCan(start func(context.Context) (join.State, error), proxy *join.Proxy,
	capabilities string) *mcpClient {
	w.t.Helper()
	inReader, in := io.Pipe()
	outReader, out := io.Pipe()
	proxy.Home, proxy.Version, proxy.Start, proxy.In, proxy.Out, proxy.Log = w.home, Version, start, inReader, out,
		zerolog.Nop()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- proxy.Run(ctx) }()
	a := &mcpClient{t: w.t, in: in, out: bufio.NewScanner(outReader), leave: sync.OnceFunc(func() {
		cancel()
		_ = in.Close()        // a pipe closes without failure
		_ = outReader.Close() // as above
		<-ended
	})}
	w.t.Cleanup(a.leave)
	a.out.Buffer(nil, 32<<20)
	a.say(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":` + capabilities + `,"clientInfo":{"name":"ann","version":"1"}}}`)
	a.hears(`"id":"init"`)
	a.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return a
}

func (a *mcpClient) say(text string) {
	a.t.Helper()
	if _, err := io.WriteString(a.in, text+"\n"); err != nil {
		a.t.Fatal(err)
	}
}

func (a *mcpClient) call(id int, tool, arguments string) {
	a.t.Helper()
	a.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool,
		arguments))
}

// hears reads one line, which must contain every part. Word that a list changed may come at any time: a test that does
// not ask for it passes over it.
func (a *mcpClient) hears(parts ...string) {
	a.t.Helper()
	changed := func(s string) bool { return strings.Contains(s, "list_changed") }
	for a.out.Scan() {
		line := a.out.Text()
		if changed(line) && !slices.ContainsFunc(parts, changed) {
			continue
		}
		for _, part := range parts {
			if !strings.Contains(line, part) {
				a.t.Errorf("the agent heard %s\nwithout %s", line, part)
			}
		}
		return
	}
	a.t.Fatal("the agent heard nothing more")
}

func nobodyStarts(context.Context) (join.State, error) {
	return join.State{}, fmt.Errorf("a relay runs already")
}

// One agent, one browser, one tab: a result, a page's own failure, a wrong argument, and a tool of the relay.
func TestStory(t *testing.T) {
	w := newWorld(t)
	w.relay()
	w.browser(func(c *hubtest.Call) {
		c.Started()
		if c.Tool == "pay" {
			c.Throw(json.RawMessage(`{"code":"RATE_LIMITED","category":"rate_limit","retryable":true,` +
				`"retryAfterMs":2000,"message":"Too many requests"}`))
			return
		}
		c.Return(c.Arguments)
	})
	a := w.agent(nobodyStarts)

	a.call(1, "shop__read", `{"what":"tea"}`)
	a.hears(`"id":1,`, `"text":"{\"what\":\"tea\"}"`, `"profile":"Chrome 1"`, `"tabId":7`)

	a.call(2, "shop__pay", `{}`)
	a.hears(`"id":2,`, `[ERROR code=RATE_LIMITED category=rate_limit retryable=true retryAfterMs=2000] Too many `+
		`requests`, `"isError":true`, `\"outcome\":\"executed\"`)

	a.call(3, "shop__read", `{"what":5}`)
	a.hears(`"id":3,`, `code=VALIDATION_ERROR`, `Invalid arguments: what: expected string`)

	a.call(4, "browser__list_tabs", `{}`)
	a.hears(`"id":4,`, shopPage)

	a.call(5, "bridge_health", `{}`)
	a.hears(`"id":5,`, `\"healthy\":true,\"state\":\"full\"`)
}

// The relay ends while a page pays. The next relay learns the outcome, the agent gets it, and nobody pays twice.
func TestRestartDuringAWrite(t *testing.T) {
	w := newWorld(t)
	_, end := w.relay()
	begun := make(chan *hubtest.Call, 4)
	b := w.browser(func(c *hubtest.Call) { c.Started(); begun <- c })
	restarted := make(chan struct{})
	a := w.agent(func(context.Context) (join.State, error) {
		<-restarted
		return join.ReadState(w.home)
	})
	a.call(1, "shop__pay", `{}`)
	call := <-begun

	b.Drop() // as if the relay had been killed: it cannot tell the page anything
	end()
	call.Return(json.RawMessage(`{"paid":true}`))
	next, _ := w.relay()
	close(restarted)
	b.Move(next.Address())
	if err := b.Dial(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.hears(`"id":1,`, `\"paid\":true`)
	select {
	case again := <-begun:
		t.Errorf("the page was asked to pay again, as %s", again.ID)
	default:
	}
}

// A second relay finds the first one's instance lock held, and the port of another home folder named.
func TestOneRelayForAHome(t *testing.T) {
	w := newWorld(t)
	first, _ := w.relay()
	cfg := openConfig()
	cfg.Listen, cfg.Demo.Listen = "127.0.0.1:0", ""
	_, err := New(t.Context(), cfg, Options{Home: w.home, Log: zerolog.Nop()})
	if err == nil || !strings.Contains(err.Error(), "already running") {
		t.Errorf("got %v", err)
	}
	cfg.Listen = first.Address()
	_, err = New(t.Context(), cfg, Options{Home: newWorld(t).home, Log: zerolog.Nop()})
	if err == nil || !strings.Contains(err.Error(), "is taken by another relay of tabrelay") {
		t.Errorf("got %v", err)
	}
}

// A newer stdio proxy makes an older relay release its instance lock.
func TestHandover(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	conn, err := join.Dial(t.Context(), w.home)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() // the test is over
	answer := introduce(t, conn, `{"attach":{"key":"`+strings.Repeat("0", 32)+`","version":"99.0.0"}}`)
	if answer.Handover == nil || answer.Handover.Version != Version {
		t.Errorf("the relay answered %+v", answer)
	}
	<-r.stop
	if !join.AwaitLockFree(t.Context(), w.home) {
		t.Error("the instance lock is still held")
	}
}

func TestAttachmentIsRefused(t *testing.T) {
	w := newWorld(t)
	w.relay()
	key := strings.Repeat("0", 32)
	for text, code := range map[string]string{
		`{"attach":{"key":"` + key + `","version":"0.1.0","token":"tabrelay_wrong"}}`: "UNAUTHORIZED",
		`{"attach":{"key":"` + key + `","version":"0.1.0","toolset":"shop,webpag"}}`:  "INVALID_REQUEST",
		`{"attach":{"key":"` + key + `","version":"0.1.0","toolset":"a;b"}}`:          "INVALID_REQUEST",
		`{"hello":1}`: "INVALID_REQUEST",
	} {
		conn, err := join.Dial(t.Context(), w.home)
		if err != nil {
			t.Fatal(err)
		}
		answer := introduce(t, conn, text)
		if answer.Refused == nil || answer.Refused.Code != code || answer.Refused.Hint == "" {
			t.Errorf("%s was answered %+v", text, answer)
		}
		_ = conn.Close() // it has ended
	}
}

func introduce(t *testing.T, conn net.Conn, text string) (answer join.AttachReply) {
	t.Helper()
	if _, err := io.WriteString(conn, text+"\n"); err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(conn).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return answer
}
