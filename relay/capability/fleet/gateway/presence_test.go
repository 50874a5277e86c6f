package gateway

import (
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"tabrelay/relay/capability/fleet/local"
	"tabrelay/relay/capability/fleet/node"
	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/state/config"
)

// A node that the directory has not told of for a while is there if it answers, and has left if nobody hears it, or if
// its entry has ended as well.
func TestNodesThatTheDirectoryDoesNotTellOf(t *testing.T) {
	l, err := local.Start(t.TempDir(), []string{"team"}, []string{"ann", "frozen"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Stop()
	for name, answers := range map[string]bool{"ann": true, "frozen": false} {
		nc, err := wire.Peer{URL: l.URL, Credentials: config.KeySource{File: l.NodeKey(name)}}.Dial()
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		if _, err = nc.Subscribe(wire.NodeSubject(name), func(m *nats.Msg) {
			if answers {
				_ = m.Respond(wire.Encode(wire.Reply{V: wire.Version, Kind: wire.Same}, nil)) // else it is not answered
			}
		}); err == nil {
			err = nc.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	g, err := Open(Options{Name: "team", Log: zerolog.Nop(),
		Peer: wire.Peer{URL: l.URL, Credentials: config.KeySource{File: l.GatewayKey("team")}}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }
	for _, c := range []struct {
		heard time.Duration // before now, of all of them
		left  []string
	}{
		{silentAfter - time.Second, []string{"ann", "bob", "frozen"}},
		{silentAfter + time.Second, []string{"ann", "frozen"}},
		{node.DirectoryTTL + time.Second, []string{"ann"}},
	} {
		heard := map[string]time.Time{}
		g.mu.Lock()
		for _, name := range []string{"ann", "bob", "frozen"} {
			g.nodes[name], heard[name] = &known{}, ago(c.heard)
		}
		g.mu.Unlock()
		g.lookAfter(t.Context(), heard)
		left := g.names()
		slices.Sort(left)
		if !slices.Equal(left, c.left) {
			t.Errorf("after %s there is %v", c.heard, left)
		}
	}
}
