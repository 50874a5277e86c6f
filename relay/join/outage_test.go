package join

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"tabrelay/relay/config"
)

// slow is a start of a relay that takes until the test lets it go on.
type slow struct {
	t      *testing.T
	home   config.Home
	begun  atomic.Int32
	goOn   chan error // how it ends
	opened chan *fakeRelay
}

func newSlow(t *testing.T) *slow {
	return &slow{t: t, home: config.Home(t.TempDir()), goOn: make(chan error), opened: make(chan *fakeRelay, 1)}
}

func (s *slow) start(ctx context.Context) (State, error) {
	s.begun.Add(1)
	select {
	case err := <-s.goOn:
		if err == nil {
			s.opened <- openFake(s.t, s.home)
		}
		return State{}, err
	case <-ctx.Done():
		return State{}, errors.New("signal: killed")
	}
}

func (c *client) hearsOf(t *testing.T, parts ...string) {
	t.Helper()
	c.out.Scan()
	for _, part := range parts {
		if !strings.Contains(c.out.Text(), part) {
			t.Fatalf("the client heard %s, which lacks %s", c.out.Text(), part)
		}
	}
}

const listTools = `{"method":"tools/list","jsonrpc":"2.0","id":3}`

// A relay that takes longer to start than a client waits is announced when it is there.
func TestSlowStartIsAwaitedBehindMinimalMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlow(t)
		c := runShim(t, &Shim{Home: s.home, Version: "1", Start: s.start})
		c.say(t, initialize)
		c.hearsOf(t, `"capabilities":{"logging":{}}`, "Why: the relay is still starting.", "Wait for it; if that takes minutes")
		c.say(t, initialized)
		c.hearsOf(t, `"level":"error"`, "the relay is still starting")
		c.say(t, listTools)
		c.hearsOf(t, `"id":3`, "Tools capability unavailable in minimal mode: the relay is still starting")

		s.goOn <- nil
		relay := <-s.opened
		g := (<-relay.calls).welcome(t)
		c.hearsOf(t, "tabrelay works again")
		c.hears(t, string(toolsChanged))
		g.hears(t, initialize)
		g.hears(t, initialized)
		g.say(t, hello) // which the client has had, from the shim
		c.say(t, listTools)
		g.hears(t, listTools)
		if n := s.begun.Load(); n != 1 {
			t.Errorf("%d relays were started", n)
		}
		relay.crash(g)
		s.goOn <- errors.New("enough")
	})
}

// A client that gives up leaves behind a relay that goes on starting.
func TestSlowStartOutlivesItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlow(t)
		c := runShim(t, &Shim{Home: s.home, Start: s.start})
		c.say(t, initialize)
		c.hearsOf(t, "Why: the relay is still starting.")
		_ = c.in.Close() // a pipe closes without failure
		if err := <-c.ended; !errors.Is(err, errStarting) {
			t.Errorf("got %v", err)
		}
		s.goOn <- errors.New("it was not given up")
	})
}

// What becomes of a start matters no more once another relay is joined: one that a person stops then stays stopped.
func TestSlowStartIsForgottenOnceThereIsARelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlow(t)
		c := runShim(t, &Shim{Home: s.home, Start: s.start})
		c.say(t, initialize)
		c.hearsOf(t, "Why: the relay is still starting.")
		other := openFake(t, s.home)
		if err := other.seat.Announce(State{Address: "127.0.0.1:1", PID: 1}); err != nil {
			t.Fatal(err)
		}
		g := (<-other.calls).welcome(t)
		c.hearsOf(t, "tabrelay works again")
		c.hears(t, string(toolsChanged))
		g.hears(t, initialize)
		g.say(t, hello)
		s.goOn <- errors.New("a relay is already running")
		c.say(t, pay)
		g.hears(t, pay)
		g.say(t, strings.TrimSpace(Farewell))
		other.crash(g)
		c.hearsOf(t, "it was stopped with: tabrelay down")
		c.say(t, `{"method":"ping","jsonrpc":"2.0","id":2}`)
		c.hears(t, `{"jsonrpc":"2.0","id":2,"result":{}}`)
		if n := s.begun.Load(); n != 1 {
			t.Errorf("%d relays were started", n)
		}
	})
}

// Nobody asks and nothing changes: a start that failed for a cause that may pass is tried again.
func TestFailedStartIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := newSlow(t)
	c := runShim(t, &Shim{Home: s.home, Version: "1", Start: s.start})
	s.goOn <- &StartError{Text: "error: another process holds relay.lock and does not answer", Exit: 1}
	c.say(t, initialize)
	c.hearsOf(t, "Why: another process holds relay.lock and does not answer.")
	s.goOn <- nil
	(<-(<-s.opened).calls).welcome(t)
	c.hearsOf(t, "tabrelay works again")
	c.hears(t, string(toolsChanged))
}

// A configuration that is repaired while a relay starts may have been read before.
func TestRepairDuringASlowStartCounts(t *testing.T) {
	t.Parallel()
	s := newSlow(t)
	c := runShim(t, &Shim{Home: s.home, Version: "1", Start: s.start})
	c.say(t, initialize)
	c.hearsOf(t, "Why: the relay is still starting.")
	if err := os.WriteFile(s.home.Config(), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.goOn <- &StartError{Text: "error: config.json: not JSON", Exit: unusable}
	s.goOn <- nil
	(<-(<-s.opened).calls).welcome(t)
	c.hearsOf(t, "tabrelay works again")
	c.hears(t, string(toolsChanged))
}

func TestCausesThatPass(t *testing.T) {
	for _, test := range []struct {
		cause error
		want  bool
	}{
		{errStarting, true},
		{errors.New("the relay started, but does not answer"), true},
		{&cannotStart{&StartError{Text: "error: the port is taken", Exit: 1}}, true},
		{&cannotStart{&StartError{Text: "error: secrets.json is damaged", Exit: 2}}, false},
		{&cannotStart{&config.FileError{Err: errors.New("config.json: not JSON"), Next: "correct it"}}, false},
		{errors.Join(&Refused{Code: "UNAUTHORIZED"}, nil), false},
		{errStopped, false},
	} {
		if got := (&Shim{}).passes(test.cause); got != test.want {
			t.Errorf("%v passes: %t", test.cause, got)
		}
	}
	if (&Shim{Without: ErrForced}).passes(ErrForced) {
		t.Error("a mode that a person asked for passes")
	}
}
