package join

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"tabrelay/relay/state/config"
)

// slowStart is a start of a relay that takes until the test sends to finish.
type slowStart struct {
	t      *testing.T
	home   config.Home
	starts atomic.Int32
	finish chan error // the result of the start
	opened chan *fakeRelay
}

func newSlowStart(t *testing.T) *slowStart {
	return &slowStart{t: t, home: config.Home(t.TempDir()), finish: make(chan error), opened: make(chan *fakeRelay, 1)}
}

func (s *slowStart) start(ctx context.Context) (State, error) {
	s.starts.Add(1)
	select {
	case err := <-s.finish:
		if err == nil {
			s.opened <- startFake(s.t, s.home)
		}
		return State{}, err
	case <-ctx.Done():
		return State{}, errors.New("signal: killed")
	}
}

func (c *client) receivesText(t *testing.T, parts ...string) {
	t.Helper()
	c.out.Scan()
	for _, part := range parts {
		if !strings.Contains(c.out.Text(), part) {
			t.Fatalf("the client received %s, which lacks %s", c.out.Text(), part)
		}
	}
}

const listTools = `{"method":"tools/list","jsonrpc":"2.0","id":3}`

// A relay that takes longer to start than a client waits is announced when it has started.
func TestSlowStartIsBridgedByMinimalMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlowStart(t)
		c := runProxy(t, &Proxy{Home: s.home, Version: "1", Start: s.start})
		c.send(t, initialize)
		c.receivesText(t, `"capabilities":{"logging":{}}`, "Why: the relay is still starting.",
			"Wait for it; if that takes minutes")
		c.send(t, initialized)
		c.receivesText(t, `"level":"error"`, "the relay is still starting")
		c.send(t, listTools)
		c.receivesText(t, `"id":3`, "Tools capability unavailable in minimal mode: the relay is still starting")

		s.finish <- nil
		relay := <-s.opened
		g := (<-relay.attached).accept(t)
		c.receivesText(t, "tabrelay works again")
		c.receives(t, string(toolsChanged))
		g.receives(t, initialize)
		g.receives(t, initialized)
		g.send(t, initializeReply) // the proxy has sent it to the client already
		c.send(t, listTools)
		g.receives(t, listTools)
		if n := s.starts.Load(); n != 1 {
			t.Errorf("%d relays were started", n)
		}
		relay.crash(g)
		s.finish <- errors.New("enough")
	})
}

func TestStartIsNotCancelledWhenClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlowStart(t)
		c := runProxy(t, &Proxy{Home: s.home, Start: s.start})
		c.send(t, initialize)
		c.receivesText(t, "Why: the relay is still starting.")
		_ = c.in.Close() // a pipe closes without failure
		if err := <-c.ended; !errors.Is(err, errStarting) {
			t.Errorf("got %v", err)
		}
		s.finish <- errors.New("it was not given up")
	})
}

// In particular, that relay is not started again when a person stops it.
func TestResultOfStartIsIgnoredOnceAttached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlowStart(t)
		c := runProxy(t, &Proxy{Home: s.home, Start: s.start})
		c.send(t, initialize)
		c.receivesText(t, "Why: the relay is still starting.")
		other := startFake(t, s.home)
		if err := other.lock.WriteState(State{Address: "127.0.0.1:1", PID: 1}); err != nil {
			t.Fatal(err)
		}
		g := (<-other.attached).accept(t)
		c.receivesText(t, "tabrelay works again")
		c.receives(t, string(toolsChanged))
		g.receives(t, initialize)
		g.send(t, initializeReply)
		s.finish <- errors.New("a relay is already running")
		c.send(t, callRequest)
		g.receives(t, callRequest)
		g.send(t, strings.TrimSpace(ShutdownNotice(2)))
		other.crash(g)
		c.receivesText(t, "it was stopped with: tabrelay down")
		c.send(t, `{"method":"ping","jsonrpc":"2.0","id":2}`)
		c.receives(t, `{"jsonrpc":"2.0","id":2,"result":{}}`)
		if n := s.starts.Load(); n != 1 {
			t.Errorf("%d relays were started", n)
		}
	})
}

// The client sends nothing and no file changes meanwhile.
func TestTransientStartFailureIsRetried(t *testing.T) {
	t.Parallel()
	s := newSlowStart(t)
	c := runProxy(t, &Proxy{Home: s.home, Version: "1", Start: s.start})
	s.finish <- &StartError{Text: "error: another process holds relay.lock and does not answer", Exit: 1}
	c.send(t, initialize)
	c.receivesText(t, "Why: another process holds relay.lock and does not answer.")
	s.finish <- nil
	(<-(<-s.opened).attached).accept(t)
	c.receivesText(t, "tabrelay works again")
	c.receives(t, string(toolsChanged))
}

// The relay may have read the configuration before it was repaired.
func TestChangeDuringSlowStartIsRetried(t *testing.T) {
	t.Parallel()
	s := newSlowStart(t)
	c := runProxy(t, &Proxy{Home: s.home, Version: "1", Start: s.start})
	c.send(t, initialize)
	c.receivesText(t, "Why: the relay is still starting.")
	if err := os.WriteFile(s.home.Config(), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.finish <- &StartError{Text: "error: config.json: not JSON", Exit: exitBadConfig}
	s.finish <- nil
	(<-(<-s.opened).attached).accept(t)
	c.receivesText(t, "tabrelay works again")
	c.receives(t, string(toolsChanged))
}

func TestIsTransient(t *testing.T) {
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
		{errRelayStopped, false},
	} {
		if got := (&Proxy{}).isTransient(test.cause); got != test.want {
			t.Errorf("%v passes: %t", test.cause, got)
		}
	}
	if (&Proxy{Disabled: ErrForcedMinimal}).isTransient(ErrForcedMinimal) {
		t.Error("a mode that a person asked for passes")
	}
}
