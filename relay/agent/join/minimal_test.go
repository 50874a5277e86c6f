package join

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/state/config"
)

const discover = `{"jsonrpc":"2.0","id":9,"method":"server/discover",` +
	`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`

// Each exchange is a message of the client and a part of the reply; "" when there is none.
func TestMinimalMode(t *testing.T) {
	const promise = `"capabilities":{"logging":{}},"serverInfo":{"name":"tabrelay","version":"1"},` +
		`"instructions":"tabrelay is in minimal mode and offers no tools. Why: config.json:2: listn: no such ` +
		`setting.\nWhat to do: tell the person. Correct it.`
	const why = ` unavailable in minimal mode: config.json:2: listn: no such setting"`
	for _, conversation := range [][][2]string{
		{
			{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`},
			{`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `"id":2,"error":{"code":-32000,`},
			{`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`,
				`"id":3,"result":{"protocolVersion":"2025-03-26",` + promise},
			{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, ``},
			{`{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`,
				`"id":4,"error":{"code":-32600,`},
			{`{"jsonrpc":"2.0","id":5,"method":"logging/setLevel","params":{"level":"error"}}`, `"id":5,"result":{}}`},
			{`{"jsonrpc":"2.0","id":6,"method":"logging/setLevel","params":{"level":"loud"}}`,
				`"id":6,"error":{"code":-32602,"message":"Invalid log level"`},
			{`{"jsonrpc":"2.0","id":6,"method":"logging/setLevel","params":{"level":"DEBUG"}}`, `"id":6,"result":{}}`},
			{`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`,
				`"id":7,"error":{"code":-32601,"message":"Tools capability` + why},
			{`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"a"}}`,
				`"id":"x","error":{"code":-32601,"message":"Tools capability` + why},
			{`{"jsonrpc":"2.0","id":8,"method":"resources/read"}`,
				`"id":8,"error":{"code":-32601,"message":"Resources capability` + why},
			{`{"jsonrpc":"2.0","id":8,"method":"prompts/list"}`, `"code":-32601,"message":"Prompts capability` + why},
			{`{"jsonrpc":"2.0","id":8,"method":"completion/complete"}`,
				`"code":-32601,"message":"Completions capability` + why},
			{`{"jsonrpc":"2.0","id":8,"method":"foo"}`, `"code":-32601,"message":"The method foo` + why},
			{`{"jsonrpc":"2.0","id":8,"result":{}}`, ``},
			{`{"jsonrpc":"2.0","id":8,"method":"exit"}`, `"code":-32005,`},
			{`{"jsonrpc":"2.0","id":8,"method":"shutdown"}`, `"id":8,"result":{}}`},
			{`{"jsonrpc":"2.0","id":8,"method":"tools/list"}`, `"code":-32003,`},
			{`{"jsonrpc":"2.0","id":8,"method":"exit"}`, `"id":8,"result":{}}`},
		},
		{
			{discover, `"id":9,"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"tabrelay",` +
				`"version":"1"}},"resultType":"complete","ttlMs":0,"cacheScope":"private",` +
				`"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],` +
				`"capabilities":{"logging":{}},"instructions":"tabrelay is in minimal mode`},
			{strings.Replace(discover, "server/discover", "tools/list", 1),
				`"id":9,"error":{"code":-32601,"message":"Tools capability` + why},
			{strings.Replace(discover, "server/discover", "ping", 1), `"code":-32601,`},
		},
		{
			{`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2099-01-01"}}`,
				`"protocolVersion":"2025-11-25"`},
			{`nonsense`, `{"jsonrpc":"2.0","error":{"code":-32700,`},
			{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"jsonrpc":"2.0","error":{"code":-32600,`},
			{`{"jsonrpc":"2.0","id":1}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,`},
			{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","error":{"code":-32600,`},
			{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","error":{"code":-32600,`},
			{`{"jsonrpc":"2.0","id":true,"method":"ping"}`, `{"jsonrpc":"2.0","error":{"code":-32600,`},
		},
	} {
		home := "/home/ann/.tabrelay"
		cause := &config.FileError{Err: errors.New(home + "/config.json:2: listn: no such setting"), Next: "correct it"}
		n := minimalServer{name: "tabrelay", version: "1"}
		for _, exchange := range conversation {
			said, want := exchange[0], exchange[1]
			heard := string(n.answer(parseRequest([]byte(said)), reasonOf(cause, home)))
			if !strings.Contains(heard, want) || (want == "") != (heard == "") || heard != "" &&
				InvalidMessage([]byte(heard+"\n")) != "" {
				t.Errorf("to %s\nthe client received %s\nwant             %s", said, heard, want)
			}
			if strings.Contains(heard, home) {
				t.Errorf("the client reads a folder of this machine: %s", heard)
			}
		}
	}
}

// When the configuration is repaired, the client gets its tools without restarting anything.
func TestMinimalModeEndsWhenConfigIsRepaired(t *testing.T) {
	home := config.Home(t.TempDir())
	if err := os.WriteFile(home.Config(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	started := make(chan *fakeRelay, 1)
	c := runProxy(t, &Proxy{Home: home, Version: "1", Start: func(context.Context) (State, error) {
		if _, err := config.Load(home); err != nil {
			return State{}, err
		}
		started <- startFake(t, home)
		return State{}, nil
	}})
	c.send(t, initialize)
	if !c.out.Scan() || !strings.Contains(c.out.Text(), "config.json: not JSON") {
		t.Fatalf("the client received %s", c.out.Text())
	}
	c.send(t, initialized)
	if !c.out.Scan() || !strings.Contains(c.out.Text(), `"level":"error"`) {
		t.Fatalf("the client received %s", c.out.Text())
	}
	if err := os.WriteFile(home.Config(), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := (<-(<-started).attached).accept(t)
	if !c.out.Scan() || !strings.Contains(c.out.Text(), "tabrelay works again") {
		t.Errorf("the client received %s", c.out.Text())
	}
	c.receives(t, string(toolsChanged))
	g.receives(t, initialize)
	g.receives(t, initialized)
	g.send(t, initializeReply) // the proxy has sent it to the client already
	const list = `{"method":"tools/list","jsonrpc":"2.0","id":3}`
	c.send(t, list)
	g.receives(t, list)
}

func TestForcedMinimalMode(t *testing.T) {
	home := config.Home(t.TempDir())
	startFake(t, home)
	c := runProxy(t, &Proxy{Home: home, Start: cannotStartRelay, Disabled: ErrForcedMinimal})
	c.send(t, initialize)
	if !c.out.Scan() || !strings.Contains(c.out.Text(), "Why: TABRELAY_FORCE_MINIMAL is set.") {
		t.Errorf("the client received %s", c.out.Text())
	}
}

func TestMessageWriterDropsInvalidOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		o := MessageWriter{To: &out, Log: zerolog.Nop()}
		write := func(text string, want error) {
			t.Helper()
			if _, err := o.Write([]byte(text)); !errors.Is(err, want) {
				t.Errorf("%q: %v, want %v", text, err, want)
			}
		}
		const good = `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"
		for _, bad := range []string{"hello\n", "{\"a\":\n1}\n", "{\"a\":\"\xff\"}\n", `{"a":1}`, "\n", "[]\n"} {
			write(good, nil)
			write(bad, nil)
			time.Sleep(31 * time.Second) // never three within a minute
		}
		if out.String() != strings.Repeat(good, 6) {
			t.Errorf("the client read %q", out.String())
		}
		write("["+strings.TrimSpace(good)+"]\n", nil) // the answer to a batch
		if !strings.HasSuffix(out.String(), "}}]\n") {
			t.Errorf("the client read %q", out.String())
		}
		time.Sleep(time.Minute)
		write("one\n", nil)
		write("two\n", nil)
		write(good, nil)
		write("three\n", ErrInvalidOutput)
	})
}

func TestProxyEndsWithParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone atomic.Bool
		s := &Proxy{Log: zerolog.Nop(), ParentExited: gone.Load}
		more := make(chan struct{}, 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go s.watchParent(ctx, more)
		time.Sleep(2*parentPollInterval + time.Second)
		if s.isInputClosed() {
			t.Error("the proxy ended although its parent is alive")
		}
		gone.Store(true)
		time.Sleep(parentPollInterval)
		if <-more; !s.isInputClosed() {
			t.Error("the proxy goes on without its parent")
		}
	})
}

func FuzzMinimal(f *testing.F) {
	for _, text := range []string{initialize, initialized, discover, callRequest, "[]", "{", `{"id":{}}`,
		`{"method":1,"id":1}`,
		`{"params":[],"method":"x","id":"\ud800"}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n := minimalServer{initialized: true}
		heard := n.answer(parseRequest(text), reason{"because", "go on"})
		if heard != nil && !json.Valid(heard) {
			t.Errorf("%q was answered with %q", text, heard)
		}
	})
}
