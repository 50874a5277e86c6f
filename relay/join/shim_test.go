package join

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"tabrelay/relay/config"
)

// fakeRelay is a relay whose every word is the test's.
type fakeRelay struct {
	seat  *Seat
	door  *Door
	calls chan guest
}

type guest struct {
	Attach
	conn net.Conn
	in   *bufio.Scanner
}

func openFake(t *testing.T, home config.Home) *fakeRelay {
	t.Helper()
	r := &fakeRelay{calls: make(chan guest, 8)}
	done := make(chan struct{})
	r.seat, r.door = seated(t, home, func(conn net.Conn, in *bufio.Reader) {
		a, err := ReadAttach(in)
		if err != nil {
			t.Error(err)
			return
		}
		r.calls <- guest{a, conn, bufio.NewScanner(in)}
		<-done // the test closes the connection
	})
	t.Cleanup(func() { close(done) }) // before the door waits for its guests
	return r
}

// crash ends the relay as a signal would.
func (r *fakeRelay) crash(g guest) {
	_ = errors.Join(r.door.listener.Close(), r.seat.Leave(), g.conn.Close())
}

func (g guest) welcome(t *testing.T) guest {
	t.Helper()
	g.say(t, `{"attached":{"version":"1","client":"ann"}}`)
	return g
}

func (g guest) say(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(g.conn, text+"\n"); err != nil {
		t.Error(err)
	}
}

func (g guest) hears(t *testing.T, want string) {
	t.Helper()
	if !g.in.Scan() || g.in.Text() != want {
		t.Errorf("the relay heard %q, want %q", g.in.Text(), want)
	}
}

// client is the MCP client at the other end of a shim.
type client struct {
	in    *io.PipeWriter
	out   *bufio.Scanner
	ended chan error
}

func runShim(t *testing.T, s *Shim) *client {
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

func (c *client) say(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(c.in, text+"\n"); err != nil {
		t.Error(err)
	}
}

func (c *client) hears(t *testing.T, want string) {
	t.Helper()
	if !c.out.Scan() || c.out.Text() != want {
		t.Errorf("the client heard %q, want %q", c.out.Text(), want)
	}
}

const (
	initialize    = `{"method":"initialize","params":{"protocolVersion":"2025-11-25"},"jsonrpc":"2.0","id":0}`
	initialized   = `{"method":"notifications/initialized","jsonrpc":"2.0"}`
	hello         = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}`
	oldInitialize = `{"method":"initialize","params":{"protocolVersion":"2025-03-26"},"jsonrpc":"2.0","id":0}`
	pay           = `{"method":"tools/call","params":{"name":"shop__pay","arguments":{"note":"<b>"}},"jsonrpc":"2.0","id":"a\u0031"}`
	paid          = `{"jsonrpc":"2.0","id":"a\u0031","result":{"content":[]}}`
)

func TestShimIgnoresAByteOrderMark(t *testing.T) {
	home := config.Home(t.TempDir())
	relay := openFake(t, home)
	c := runShim(t, &Shim{Home: home, Start: never})
	go c.say(t, "\ufeff"+initialize)
	guest := (<-relay.calls).welcome(t)
	guest.hears(t, initialize)
	relay.crash(guest)
}

func never(context.Context) (State, error) {
	return State{}, errors.New("nobody may start a relay here")
}

func TestShimGoesOnWithTheNextRelay(t *testing.T) {
	home := config.Home(t.TempDir())
	first := openFake(t, home)
	started := make(chan *fakeRelay, 1)
	c := runShim(t, &Shim{Home: home, Client: "ann", Token: "secret", Toolset: "all", Version: "1", Start: func(context.Context) (State, error) {
		started <- openFake(t, home)
		return State{}, nil
	}})
	g := (<-first.calls).welcome(t)
	if g.Client != "ann" || g.Token != "secret" || g.Toolset != "all" || len(g.Pending) != 0 {
		t.Errorf("the shim introduced itself as %+v", g.Attach)
	}
	c.say(t, initialize)
	g.hears(t, initialize)
	g.say(t, hello)
	c.hears(t, hello)
	c.say(t, initialized)
	g.hears(t, initialized)
	c.say(t, pay)
	g.hears(t, pay)
	first.crash(g)

	second := <-started
	again := (<-second.calls).welcome(t)
	if again.Key != g.Key {
		t.Error("the key changed: the relay cannot know the calls again")
	}
	var pending []string
	for _, p := range again.Pending {
		pending = append(pending, string(p))
	}
	if diff := cmp.Diff([]string{pay}, pending); diff != "" {
		t.Errorf("told to the next relay (-want +got)\n%s", diff)
	}
	again.hears(t, initialize)
	again.hears(t, initialized)
	again.say(t, hello) // once more, but the client has had it
	again.say(t, paid)
	c.hears(t, paid)
	c.say(t, `{"method":"ping","jsonrpc":"2.0","id":2}`)
	again.hears(t, `{"method":"ping","jsonrpc":"2.0","id":2}`)
}

func TestShimEndsWithItsClient(t *testing.T) {
	home := config.Home(t.TempDir())
	relay := openFake(t, home)
	c := runShim(t, &Shim{Home: home, Start: never})
	g := (<-relay.calls).welcome(t)
	c.say(t, pay)
	g.hears(t, pay)
	if err := c.in.Close(); err != nil {
		t.Fatal(err)
	}
	if g.in.Scan() {
		t.Errorf("after the end came %s", g.in.Text())
	}
	g.say(t, paid) // what is under way is answered still
	c.hears(t, paid)
	_ = g.conn.Close()
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
}

// A relay that a person stopped stays stopped until the client wants something.
func TestShimWaitsAfterAFarewell(t *testing.T) {
	home := config.Home(t.TempDir())
	first := openFake(t, home)
	started := make(chan *fakeRelay, 1)
	c := runShim(t, &Shim{Home: home, Start: func(context.Context) (State, error) {
		started <- openFake(t, home)
		return State{}, nil
	}})
	g := (<-first.calls).welcome(t)
	c.say(t, initialize)
	g.hears(t, initialize)
	g.say(t, hello)
	c.hears(t, hello)
	c.say(t, pay)
	g.hears(t, pay)
	g.say(t, strings.TrimSpace(Farewell))
	first.crash(g)
	if !c.out.Scan() || !strings.Contains(c.out.Text(), "it was stopped with: tabrelay down") {
		t.Errorf("the client heard %s", c.out.Text())
	}
	select {
	case <-started:
		t.Error("the shim started a relay that nobody wants")
	default:
	}
	c.say(t, `{"method":"ping","jsonrpc":"2.0","id":2}`)
	c.hears(t, `{"jsonrpc":"2.0","id":2,"result":{}}`) // for which no relay is needed
	const list = `{"method":"tools/list","jsonrpc":"2.0","id":3}`
	c.say(t, list)
	again := (<-(<-started).calls).welcome(t)
	again.hears(t, initialize)
	again.hears(t, list)
}

func TestShimIsRefused(t *testing.T) {
	home := config.Home(t.TempDir())
	relay := openFake(t, home)
	c := runShim(t, &Shim{Home: home, Start: never})
	(<-relay.calls).say(t, `{"refused":{"code":"UNAUTHORIZED","message":"The token is not known","hint":"run: tabrelay connect ann"}}`)
	c.say(t, initialize)
	if !c.out.Scan() || !strings.Contains(c.out.Text(), `The token is not known.\nWhat to do: tell the person. Run: tabrelay connect ann.`) {
		t.Errorf("the client heard %s", c.out.Text())
	}
	_ = c.in.Close() // a pipe closes without failure
	var refused *Refused
	if err := <-c.ended; !errors.As(err, &refused) || refused.Hint != "run: tabrelay connect ann" {
		t.Errorf("got %v", err)
	}
}

func TestShimApologizesWhenNoRelayCanBeHad(t *testing.T) {
	home := config.Home(t.TempDir())
	relay := openFake(t, home)
	c := runShim(t, &Shim{Home: home, Start: func(context.Context) (State, error) {
		return State{}, &StartError{Text: "error: the port is taken\nhint: end the other program"}
	}})
	g := (<-relay.calls).welcome(t)
	c.say(t, pay)
	g.hears(t, pay)
	relay.crash(g)
	var reply struct {
		ID     json.RawMessage `json:"id"`
		Result struct {
			IsError bool                     `json:"isError"`
			Content []struct{ Text string }  `json:"content"`
			Meta    map[string]faultIdentity `json:"_meta"`
		} `json:"result"`
	}
	c.out.Scan()
	if err := json.Unmarshal(c.out.Bytes(), &reply); err != nil {
		t.Fatal(err, c.out.Text())
	}
	text := reply.Result.Content[0].Text
	if string(reply.ID) != `"a1"` && string(reply.ID) != `"a\u0031"` || !reply.Result.IsError ||
		!strings.Contains(text, "outcome=unknown] The relay ended, and no other could be joined: the port is taken") ||
		!strings.Contains(text, "Next: end the other program") {
		t.Errorf("the client heard %s", c.out.Text())
	}
	if got := reply.Result.Meta["tabrelay/error"]; got.Code != "EXTENSION_LOST" {
		t.Errorf("the failure is %+v", got)
	}
}

// A client that the relay does not know any more hears that, for what it had under way and for what it asks then.
func TestShimTellsThatTheClientWasRevoked(t *testing.T) {
	home := config.Home(t.TempDir())
	relay := openFake(t, home)
	c := runShim(t, &Shim{Home: home, Start: never})
	g := (<-relay.calls).welcome(t)
	c.say(t, initialize)
	g.hears(t, initialize)
	g.say(t, hello)
	c.hears(t, hello)
	c.say(t, pay)
	g.hears(t, pay)
	if err := g.conn.Close(); err != nil {
		t.Fatal(err)
	}
	go func() { // as often as the shim asks
		for {
			select {
			case g := <-relay.calls:
				g.say(t, `{"refused":{"code":"UNAUTHORIZED","message":"The token is not known","hint":"run: tabrelay connect ann"}}`)
			case <-t.Context().Done():
				return
			}
		}
	}()
	hears := func(want ...string) {
		t.Helper()
		c.out.Scan()
		for _, part := range want {
			if !strings.Contains(c.out.Text(), part) {
				t.Errorf("the client heard %s, which lacks %s", c.out.Text(), part)
			}
		}
	}
	hears(`"isError":true`, `[ERROR code=UNAUTHORIZED `, `outcome=unknown`, `The token is not known`, `run: tabrelay connect ann`)
	c.say(t, `{"method":"tools/list","jsonrpc":"2.0","id":3}`)
	hears(`"id":3`, `"error":{"code":-32003`, `"code":"UNAUTHORIZED"`, `"outcome":"not_executed"`)
}

type faultIdentity struct {
	Code string `json:"code"`
}

func TestLedger(t *testing.T) {
	for _, test := range []struct {
		name     string
		sent     []string
		answered []string
		want     []string
	}{
		{"nothing", nil, nil, nil},
		{"answered", []string{pay}, []string{paid}, nil},
		{"an error is an answer", []string{pay}, []string{`{"jsonrpc":"2.0","id":"a\u0031","error":{"code":-1,"message":""}}`}, nil},
		{"a request of the relay is none", []string{pay}, []string{`{"jsonrpc":"2.0","id":"a\u0031","method":"ping"}`}, []string{pay}},
		{"cancelled", []string{pay, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a\u0031"}}`}, nil, nil},
		{"initialize is told once", []string{initialize, pay}, nil, []string{initialize, pay}},
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
		}, []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`, `{"jsonrpc":"2.0","id":3,"result":{}}`, `{"jsonrpc":"2.0","id":4,"result":{}}`},
			[]string{initialize, `{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"a:b"}}`}},
		{"a level that was refused does not count", []string{
			`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`,
			`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"loud"}}`,
		}, []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":""}}`},
			[]string{`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`}},
		{"the later request counts, whatever is answered first", []string{
			`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`,
			`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"error"}}`,
			`{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"a:b"}}`,
			`{"jsonrpc":"2.0","id":4,"method":"resources/unsubscribe","params":{"uri":"a:b"}}`,
		}, []string{`{"jsonrpc":"2.0","id":4,"result":{}}`, `{"jsonrpc":"2.0","id":3,"result":{}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`},
			[]string{`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"error"}}`}},
		{"a relay is asked in the order of the client, and refuses what came too early or too late", []string{
			strings.Replace(pay, `a\u0031`, `early`, 1), initialize, pay, `{"jsonrpc":"2.0","id":5,"method":"tools/list"}`,
			`{"jsonrpc":"2.0","id":6,"method":"shutdown"}`, strings.Replace(pay, `a\u0031`, `late`, 1),
		}, []string{`{"jsonrpc":"2.0","id":6,"result":{}}`, hello},
			[]string{strings.Replace(pay, `a\u0031`, `early`, 1), initialize, `{"jsonrpc":"2.0","id":5,"method":"tools/list"}`,
				`{"jsonrpc":"2.0","id":6,"method":"shutdown"}`, strings.Replace(pay, `a\u0031`, `late`, 1), pay}},
		{"an answer to the relay", []string{`{"jsonrpc":"2.0","id":5,"result":{}}`}, nil, nil},
		{"a batch", []string{oldInitialize, `[` + pay + `,{"jsonrpc":"2.0","id":7,"method":"ping"}]`}, []string{`[{"jsonrpc":"2.0","id":7,"result":{}}]`},
			[]string{oldInitialize, pay}},
		{"an answered batch", []string{oldInitialize, `[` + pay + `]`}, []string{`[` + paid + `]`}, []string{oldInitialize}},
		{"a batch of another version is refused", []string{initialize, `[` + pay + `]`}, nil, []string{initialize}},
		{"nonsense", []string{`{`, `[]`, `{"id":1}`}, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var l ledger
			for _, text := range test.sent {
				l.sent([]byte(text))
			}
			for _, text := range test.answered {
				l.answered([]byte(text))
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
