package join

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"tabrelay/relay/state/config"
)

// fakeRelay is a relay whose messages the test sends.
type fakeRelay struct {
	lock     *InstanceLock
	listener *Listener
	attached chan proxyConn
	crashed  chan struct{}
}

type proxyConn struct {
	AttachRequest
	conn net.Conn
	in   *bufio.Scanner
}

func startFake(t *testing.T, home config.Home) *fakeRelay {
	t.Helper()
	r := &fakeRelay{attached: make(chan proxyConn, 8), crashed: make(chan struct{})}
	done := make(chan struct{})
	r.lock, r.listener = lockAndListen(t, home, func(conn net.Conn, in *bufio.Reader) {
		a, err := ReadAttach(in)
		if err != nil {
			t.Error(err)
			return
		}
		r.attached <- proxyConn{a, conn, bufio.NewScanner(in)}
		select {
		case <-done: // the test closes the connection
		case <-r.crashed:
			_ = conn.Close()
		}
	})
	t.Cleanup(func() { close(done) }) // before the listener waits for its connections
	return r
}

// crash ends the relay as SIGKILL would, with all connections.
func (r *fakeRelay) crash(g proxyConn) {
	close(r.crashed)
	_ = errors.Join(r.listener.listener.Close(), r.lock.Release(), g.conn.Close())
}

func (g proxyConn) accept(t *testing.T) proxyConn {
	t.Helper()
	g.send(t, `{"attached":{"version":"1","client":"ann"}}`)
	return g
}

func (g proxyConn) send(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(g.conn, text+"\n"); err != nil {
		t.Error(err)
	}
}

func (g proxyConn) receives(t *testing.T, want string) {
	t.Helper()
	if !g.in.Scan() || g.in.Text() != want {
		t.Errorf("the relay received %q, want %q", g.in.Text(), want)
	}
}

// client is the MCP client at the other end of a proxy.
type client struct {
	in    *io.PipeWriter
	out   *bufio.Scanner
	ended chan error
}

func runProxy(t *testing.T, s *Proxy) *client {
	in, inWriter := io.Pipe()
	outReader, out := io.Pipe()
	s.In, s.Out, s.Log = in, out, zerolog.Nop()
	c := &client{in: inWriter, out: bufio.NewScanner(outReader), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); c.ended <- s.Run(ctx); _ = out.Close() }()
	t.Cleanup(func() {
		cancel()
		_ = inWriter.Close()  // a pipe closes without failure
		_ = outReader.Close() // as above
		<-done                // the home folder goes with the test
	})
	return c
}

func (c *client) send(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(c.in, text+"\n"); err != nil {
		t.Error(err)
	}
}

func (c *client) receives(t *testing.T, want string) {
	t.Helper()
	if !c.out.Scan() || c.out.Text() != want {
		t.Errorf("the client received %q, want %q", c.out.Text(), want)
	}
}

const (
	initialize      = `{"method":"initialize","params":{"protocolVersion":"2025-11-25"},"jsonrpc":"2.0","id":0}`
	initialized     = `{"method":"notifications/initialized","jsonrpc":"2.0"}`
	initializeReply = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}`
	callRequest     = `{"method":"tools/call","params":{"name":"shop__pay","arguments":{"note":"<b>"}},` +
		`"jsonrpc":"2.0",` +
		`"id":"a\u0031"}`
	callReply = `{"jsonrpc":"2.0","id":"a\u0031","result":{"content":[]}}`
)

func TestProxyIgnoresByteOrderMark(t *testing.T) {
	home := config.Home(t.TempDir())
	relay := startFake(t, home)
	c := runProxy(t, &Proxy{Home: home, Start: cannotStartRelay})
	go c.send(t, "\ufeff"+initialize)
	guest := (<-relay.attached).accept(t)
	guest.receives(t, initialize)
	relay.crash(guest)
}

func cannotStartRelay(context.Context) (State, error) {
	return State{}, errors.New("nobody may start a relay here")
}

func TestProxyReplaysToNextRelay(t *testing.T) {
	home := config.Home(t.TempDir())
	first := startFake(t, home)
	started := make(chan *fakeRelay, 1)
	c := runProxy(t, &Proxy{Home: home, Client: "ann", Token: "secret", Toolset: "all", Version: "1",
		Start: func(context.Context) (State, error) {
			started <- startFake(t, home)
			return State{}, nil
		}})
	g := (<-first.attached).accept(t)
	if g.Client != "ann" || g.Token != "secret" || g.Toolset != "all" || len(g.Pending) != 0 {
		t.Errorf("the proxy attached with %+v", g.AttachRequest)
	}
	c.send(t, initialize)
	g.receives(t, initialize)
	g.send(t, initializeReply)
	c.receives(t, initializeReply)
	c.send(t, initialized)
	g.receives(t, initialized)
	c.send(t, callRequest)
	g.receives(t, callRequest)
	first.crash(g)

	second := <-started
	again := (<-second.attached).accept(t)
	if again.Key != g.Key {
		t.Error("the key changed: the relay cannot know the calls again")
	}
	var pending []string
	for _, p := range again.Pending {
		pending = append(pending, string(p))
	}
	if diff := cmp.Diff([]string{callRequest}, pending); diff != "" {
		t.Errorf("told to the next relay (-want +got)\n%s", diff)
	}
	again.receives(t, initialize)
	again.receives(t, initialized)
	again.send(t, initializeReply) // the client has had it already
	again.send(t, callReply)
	c.receives(t, callReply)
	c.send(t, `{"method":"ping","jsonrpc":"2.0","id":2}`)
	again.receives(t, `{"method":"ping","jsonrpc":"2.0","id":2}`)
}

func TestProxyForwardsLastReplyThenEnds(t *testing.T) {
	home := config.Home(t.TempDir())
	relay := startFake(t, home)
	c := runProxy(t, &Proxy{Home: home, Start: cannotStartRelay})
	g := (<-relay.attached).accept(t)
	c.send(t, callRequest)
	g.receives(t, callRequest)
	if err := c.in.Close(); err != nil {
		t.Fatal(err)
	}
	if g.in.Scan() {
		t.Errorf("after the end came %s", g.in.Text())
	}
	g.send(t, callReply) // what is in flight is answered still
	c.receives(t, callReply)
	_ = g.conn.Close()
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
}

// A relay that a person stopped is started again when the client sends a request that needs one.
func TestProxyStartsNoRelayAfterShutdownNotice(t *testing.T) {
	home := config.Home(t.TempDir())
	first := startFake(t, home)
	started := make(chan *fakeRelay, 1)
	c := runProxy(t, &Proxy{Home: home, Start: func(context.Context) (State, error) {
		started <- startFake(t, home)
		return State{}, nil
	}})
	g := (<-first.attached).accept(t)
	c.send(t, initialize)
	g.receives(t, initialize)
	g.send(t, initializeReply)
	c.receives(t, initializeReply)
	c.send(t, callRequest)
	g.receives(t, callRequest)
	g.send(t, strings.TrimSpace(ShutdownNotice(2)))
	first.crash(g)
	if !c.out.Scan() || !strings.Contains(c.out.Text(), "it was stopped with: tabrelay down") {
		t.Errorf("the client received %s", c.out.Text())
	}
	select {
	case <-started:
		t.Error("the proxy started a relay that nothing needs")
	default:
	}
	c.send(t, `{"method":"ping","jsonrpc":"2.0","id":2}`)
	c.receives(t, `{"jsonrpc":"2.0","id":2,"result":{}}`) // for which no relay is needed
	const list = `{"method":"tools/list","jsonrpc":"2.0","id":3}`
	c.send(t, list)
	again := (<-(<-started).attached).accept(t)
	again.receives(t, initialize)
	again.receives(t, list)
}

// A client that outlives an uninstallation does not undo it.
func TestProxyMakesNoHomeFolderAnew(t *testing.T) {
	home := config.Home(t.TempDir())
	relay := startFake(t, home)
	c := runProxy(t, &Proxy{Home: home, Start: func(context.Context) (State, error) {
		t.Error("the proxy started a relay")
		return State{}, errors.New("no relay")
	}})
	g := (<-relay.attached).accept(t)
	c.send(t, initialize)
	g.receives(t, initialize)
	g.send(t, initializeReply)
	c.receives(t, initializeReply)
	g.send(t, strings.TrimSpace(ShutdownNotice(1)))
	relay.crash(g)
	if err := home.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.send(t, callRequest)
	if !c.out.Scan() || !strings.Contains(c.out.Text(), "tabrelay was uninstalled, or its home folder was moved") {
		t.Errorf("the client received %s", c.out.Text())
	}
	if _, err := os.Stat(string(home)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the home folder is there again: %v", err)
	}
}

// A request that crosses with the shutdown, which no relay has heard, is one that needs a relay.
func TestRequestAfterShutdownReachesTheNextRelay(t *testing.T) {
	home := config.Home(t.TempDir())
	first := startFake(t, home)
	started := make(chan *fakeRelay, 1)
	c := runProxy(t, &Proxy{Home: home, Start: func(context.Context) (State, error) {
		started <- startFake(t, home)
		return State{}, nil
	}})
	g := (<-first.attached).accept(t)
	c.send(t, initialize)
	g.receives(t, initialize)
	g.send(t, initializeReply)
	c.receives(t, initializeReply)
	c.send(t, callRequest)
	g.receives(t, callRequest) // and yet this relay says that it has heard one line alone
	g.send(t, strings.TrimSpace(ShutdownNotice(1)))
	first.crash(g)
	next := (<-(<-started).attached).accept(t)
	next.receives(t, initialize)
	next.receives(t, callRequest)
	next.send(t, callReply)
	c.receives(t, callReply)
}

// A proxy whose relay makes room for another waits for that one, and does not demand a newer one still.
func TestProxyWaitsForTheSuccessor(t *testing.T) {
	home := config.Home(t.TempDir())
	first := startFake(t, home)
	c := runProxy(t, &Proxy{Home: home, Version: "3", Start: cannotStartRelay})
	g := <-first.attached
	if g.Version != "3" || g.Keep {
		t.Errorf("the proxy attached with version %q, keep %t", g.Version, g.Keep)
	}
	g.accept(t)
	c.send(t, initialize)
	g.receives(t, initialize)
	g.send(t, strings.TrimSpace(SuccessorNotice("2")(0)))
	first.crash(g)
	second := startFake(t, home)
	again := <-second.attached
	if !again.Keep {
		t.Error("the proxy wants the announced relay replaced")
	}
	again.accept(t).receives(t, initialize)
}

// A proxy demands a newer relay once: the one that it starts itself may be as old, when its file was replaced.
func TestProxyDemandsANewerRelayOnce(t *testing.T) {
	home := config.Home(t.TempDir())
	first := startFake(t, home)
	started := make(chan *fakeRelay, 1)
	c := runProxy(t, &Proxy{Home: home, Version: "3", Start: func(context.Context) (State, error) {
		started <- startFake(t, home)
		return State{}, nil
	}})
	g := <-first.attached
	g.send(t, `{"handover":{"version":"2"}}`)
	first.crash(g)
	again := <-(<-started).attached
	if !again.Keep {
		t.Error("the proxy wants the relay that it started replaced")
	}
	again.accept(t)
	c.send(t, initialize)
	again.receives(t, initialize)
}

func TestProxyReportsRefusal(t *testing.T) {
	home := config.Home(t.TempDir())
	relay := startFake(t, home)
	c := runProxy(t, &Proxy{Home: home, Start: cannotStartRelay})
	(<-relay.attached).send(t, `{"refused":{"code":"UNAUTHORIZED","message":"The token is not known","hint":"run: `+
		`tabrelay connect ann"}}`)
	c.send(t, initialize)
	if !c.out.Scan() || !strings.Contains(c.out.Text(),
		`The token is not known.\nWhat to do: tell the person. Run: tabrelay connect ann.`) {
		t.Errorf("the client received %s", c.out.Text())
	}
	_ = c.in.Close() // a pipe closes without failure
	var refused *Refused
	if err := <-c.ended; !errors.As(err, &refused) || refused.Hint != "run: tabrelay connect ann" {
		t.Errorf("got %v", err)
	}
}

func TestPendingRequestsFailWhenNoRelayStarts(t *testing.T) {
	home := config.Home(t.TempDir())
	relay := startFake(t, home)
	c := runProxy(t, &Proxy{Home: home, Start: func(context.Context) (State, error) {
		return State{}, &StartError{Text: "error: the port is taken\nhint: end the other program"}
	}})
	g := (<-relay.attached).accept(t)
	c.send(t, callRequest)
	g.receives(t, callRequest)
	relay.crash(g)
	var reply struct {
		ID     json.RawMessage `json:"id"`
		Result struct {
			IsError bool                    `json:"isError"`
			Content []struct{ Text string } `json:"content"`
			Meta    map[string]errorCode    `json:"_meta"`
		} `json:"result"`
	}
	c.out.Scan()
	if err := json.Unmarshal(c.out.Bytes(), &reply); err != nil {
		t.Fatal(err, c.out.Text())
	}
	text := reply.Result.Content[0].Text
	if string(reply.ID) != `"a1"` && string(reply.ID) != `"a\u0031"` || !reply.Result.IsError ||
		!strings.Contains(text, "outcome=unknown] The relay ended, and no other one could be reached: the port is "+
			"taken") ||
		!strings.Contains(text, "Next: end the other program") {
		t.Errorf("the client received %s", c.out.Text())
	}
	if got := reply.Result.Meta["tabrelay/error"]; got.Code != "EXTENSION_LOST" {
		t.Errorf("the failure is %+v", got)
	}
}

// A revoked client is told so, for the requests in flight and for later ones.
func TestPendingRequestsFailWhenClientIsRevoked(t *testing.T) {
	home := config.Home(t.TempDir())
	relay := startFake(t, home)
	c := runProxy(t, &Proxy{Home: home, Start: cannotStartRelay})
	g := (<-relay.attached).accept(t)
	c.send(t, initialize)
	g.receives(t, initialize)
	g.send(t, initializeReply)
	c.receives(t, initializeReply)
	c.send(t, callRequest)
	g.receives(t, callRequest)
	if err := g.conn.Close(); err != nil {
		t.Fatal(err)
	}
	go func() { // as often as the proxy attaches
		for {
			select {
			case g := <-relay.attached:
				g.send(t, `{"refused":{"code":"UNAUTHORIZED","message":"The token is not known","hint":"run: tabrelay `+
					`connect ann"}}`)
			case <-t.Context().Done():
				return
			}
		}
	}()
	c.receivesText(t, `"isError":true`, `[ERROR code=UNAUTHORIZED `, `outcome=unknown`, `The token is not known`,
		`run: tabrelay connect ann`)
	c.send(t, `{"method":"tools/list","jsonrpc":"2.0","id":3}`)
	c.receivesText(t, `"id":3`, `"error":{"code":-32003`, `"code":"UNAUTHORIZED"`, `"outcome":"not_executed"`)
}

// What a relay that ends writes does not make a client that it refused start the next one: the person stopped it.
func TestRefusedProxyStartsNoRelay(t *testing.T) {
	home := config.Home(t.TempDir())
	first := startFake(t, home)
	c := runProxy(t, &Proxy{Home: home, Start: func(context.Context) (State, error) {
		t.Error("the proxy started a relay")
		return State{}, errors.New("no relay")
	}})
	g := <-first.attached
	g.send(t, `{"refused":{"code":"UNAUTHORIZED","message":"The token is not known"}}`)
	c.send(t, initialize)
	c.receivesText(t, `"id":0`) // it is in minimal mode
	first.crash(g)
	for _, file := range []string{home.Database(), home.Secrets(), home.Config()} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	next := startFake(t, home)
	if err := next.lock.WriteState(State{PID: 1}); err != nil { // the last change, which it sees after the others
		t.Fatal(err)
	}
	again := (<-next.attached).accept(t)
	c.receivesText(t, "tabrelay works again")
	c.receivesText(t, "tools/list_changed")
	again.receives(t, initialize)
}

type errorCode struct {
	Code string `json:"code"`
}

func TestInFlightReplay(t *testing.T) {
	for _, test := range []struct {
		name     string
		sent     []string
		answered []string
		want     []string
	}{
		{"nothing", nil, nil, nil},
		{"answered", []string{callRequest}, []string{callReply}, nil},
		{"an error is an answer", []string{callRequest},
			[]string{`{"jsonrpc":"2.0","id":"a\u0031","error":{"code":-1,"message":""}}`}, nil},
		{"a request of the relay is none", []string{callRequest},
			[]string{`{"jsonrpc":"2.0","id":"a\u0031","method":"ping"}`},
			[]string{callRequest}},
		{"cancelled", []string{callRequest, `{"jsonrpc":"2.0","method":"notifications/cancelled",` +
			`"params":{"requestId":"a\u0031"}}`}, nil, nil},
		{"initialize is told once", []string{initialize, callRequest}, nil, []string{initialize, callRequest}},
		{"the last level counts", []string{
			`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`,
			`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"error"}}`,
		}, []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`},
			[]string{`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"error"}}`}},
		{"subscriptions last until they are ended", []string{
			initialize,
			`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a:b"}}`,
			`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"c:d"}}`,
			`{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"a:b"}}`,
			`{"jsonrpc":"2.0","id":4,"method":"resources/unsubscribe","params":{"uri":"c:d"}}`,
		}, []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`,
			`{"jsonrpc":"2.0","id":3,"result":{}}`, `{"jsonrpc":"2.0","id":4,"result":{}}`},
			[]string{initialize, `{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"a:b"}}`}},
		{"a level that was refused does not count", []string{
			`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`,
			`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"loud"}}`,
		}, []string{`{"jsonrpc":"2.0","id":1,"result":{}}`,
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":""}}`},
			[]string{`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`}},
		{"the later request counts, whatever is answered first", []string{
			`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`,
			`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"error"}}`,
			`{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"a:b"}}`,
			`{"jsonrpc":"2.0","id":4,"method":"resources/unsubscribe","params":{"uri":"a:b"}}`,
		}, []string{`{"jsonrpc":"2.0","id":4,"result":{}}`, `{"jsonrpc":"2.0","id":3,"result":{}}`,
			`{"jsonrpc":"2.0","id":2,"result":{}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`},
			[]string{`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"error"}}`}},
		{"a relay is asked in the order of the client, and refuses what came too early or too late", []string{
			strings.Replace(callRequest, `a\u0031`, `early`, 1), initialize, callRequest,
			`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`,
			`{"jsonrpc":"2.0","id":6,"method":"shutdown"}`, strings.Replace(callRequest, `a\u0031`, `late`, 1),
		}, []string{`{"jsonrpc":"2.0","id":6,"result":{}}`, initializeReply},
			[]string{strings.Replace(callRequest, `a\u0031`, `early`, 1), initialize,
				`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`,
				`{"jsonrpc":"2.0","id":6,"method":"shutdown"}`, strings.Replace(callRequest, `a\u0031`, `late`, 1),
				callRequest}},
		{"an answer to the relay", []string{`{"jsonrpc":"2.0","id":5,"result":{}}`}, nil, nil},
		{"a batch is refused", []string{initialize, `[` + callRequest + `]`}, nil,
			[]string{initialize}},
		{"nonsense", []string{`{`, `[]`, `{"id":1}`}, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var l inFlight
			for _, text := range test.sent {
				l.recordSent([]byte(text), 0)
			}
			for _, text := range test.answered {
				l.recordReply([]byte(text))
			}
			var got []string
			calls, lines := l.replay()
			for _, m := range lines {
				got = append(got, string(m))
			}
			for _, m := range calls {
				got = append(got, string(m))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

const (
	shutdownRequest  = `{"jsonrpc":"2.0","id":1,"method":"shutdown"}`
	exitNotification = `{"jsonrpc":"2.0","method":"exit"}`
	shutdownReply    = `{"jsonrpc":"2.0","id":1,"result":{}}`
)

func TestProxyEndsOnExit(t *testing.T) {
	home := config.Home(t.TempDir())
	relay := startFake(t, home)
	c := runProxy(t, &Proxy{Home: home, Start: cannotStartRelay})
	g := (<-relay.attached).accept(t)
	// the first comes too early, and ends nothing
	for _, text := range []string{exitNotification, shutdownRequest, exitNotification} {
		c.send(t, text)
		g.receives(t, text)
	}
	g.send(t, shutdownReply)
	c.receives(t, shutdownReply)
	relay.crash(g)
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
}

func TestProxyEndsOnExitWithoutRelay(t *testing.T) {
	none := errors.New("none")
	c := runProxy(t, &Proxy{Home: config.Home(t.TempDir()), Disabled: none})
	c.send(t, exitNotification)
	c.send(t, shutdownRequest)
	c.receives(t, shutdownReply)
	c.send(t, exitNotification)
	if err := <-c.ended; !errors.Is(err, none) {
		t.Error(err)
	}
}
