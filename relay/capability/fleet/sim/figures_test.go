//go:build unix

package sim

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"tabrelay/relay/state/config"
)

var figures = flag.Int("figures", 0, "how many calls each measurement makes; 0: nothing is measured")

// asEcho is the variable that makes this test program the other end of a bare request: it has the server's address.
const asEcho = "FLEET_SIM_ECHO"

// echo answers requests with what they are, until it is killed.
func echo(url, keyFile string) error {
	option, err := nats.NkeyOptionFromSeed(keyFile)
	if err != nil {
		return err
	}
	nc, err := nats.Connect(url, option)
	if err == nil {
		_, err = nc.Subscribe("echo", func(m *nats.Msg) { _ = m.Respond(m.Data) }) // who asked times out
	}
	if err == nil {
		select {}
	}
	return err
}

// TestFigures measures what docs/fleet.md says: calls beside what they are made of, with many profiles in the
// directory, and how soon all gateways see a change.
func TestFigures(t *testing.T) {
	if *figures == 0 {
		t.Skip("measured by make fleet-sim")
	}
	w := newWorld(t, size{servers: 1, nodes: 10, gateways: 3, direct: true})
	for _, n := range w.nodes {
		n.browsers[0].slowest = 0
	}
	w.settle(t.Context())
	t.Run("call", func(*testing.T) { w.measureCall() })
	t.Run("directory", func(*testing.T) { w.measureDirectory() })
	t.Run("profiles", func(*testing.T) { w.measureProfiles() })
}

// percentiles are those of sorted times.
func percentiles(times []time.Duration) (p50, p99 time.Duration) {
	slices.Sort(times)
	return times[len(times)/2], times[len(times)*99/100]
}

// measureCall compares a call through gateway and node with a bare request and a local call, in turns, so that what
// else the machine does meets all three.
func (w *world) measureCall() {
	w.t.Helper()
	nc := w.dial(w.keyFile("admin"))
	defer nc.Close()
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), asEcho+"=nats://"+w.at[0], "FLEET_SIM_KEY="+w.keyFile("admin"))
	if err := other.Start(); err != nil {
		w.t.Fatal(err)
	}
	defer func() { _, _ = other.Process.Kill(), other.Wait() }() // it ends as it was killed
	for began := time.Now(); ; {
		if _, err := nc.Request("echo", nil, time.Second); err == nil {
			break
		} else if time.Since(began) > startTime {
			w.t.Fatal(err)
		}
	}
	local := w.localDoor(w.nodes[0])
	c := newClient("figures")
	var through, leased, here, bare []time.Duration
	for i := range *figures + 200 {
		for _, one := range []struct {
			times *[]time.Duration
			do    func() error
		}{
			{&bare, func() error { _, err := nc.Request("echo", make([]byte, 600), time.Second); return err }},
			{&here, func() error { return c.once(w.t.Context(), local, "", i) }},
			{&through, func() error { return c.once(w.t.Context(), w.gateways[0], nodeName(0), i) }},
			{&leased, func() error { return c.once(w.t.Context(), w.gateways[0], nodeName(1), i) }},
		} {
			began := time.Now()
			if err := one.do(); err != nil {
				w.t.Fatal(err)
			}
			if i >= 200 { // those before warm caches
				*one.times = append(*one.times, time.Since(began))
			}
		}
	}
	t50, t99 := percentiles(through)
	h50, h99 := percentiles(here)
	b50, b99 := percentiles(bare)
	w.t.Logf("call through gateway and node: p50 %s, p99 %s", t50, t99)
	l50, l99 := percentiles(leased)
	w.t.Logf("call under a lease:            p50 %s, p99 %s", l50, l99)
	w.t.Logf("local call:                    p50 %s, p99 %s", h50, h99)
	w.t.Logf("bare request:                  p50 %s, p99 %s", b50, b99)
	w.t.Logf("ratio: p50 %.2f, p99 %.2f", float64(t50)/float64(h50+b50), float64(t99)/float64(h99+b99))
}

// localDoor is the relay of a node itself.
func (w *world) localDoor(n *node) *door {
	w.t.Helper()
	secrets, err := config.OpenSecrets(n.home)
	d := &door{url: "http://" + n.address + "/mcp"}
	if err == nil {
		d.token, err = secrets.Add("figures")
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// once makes a call that has to work. node is empty at a node itself.
func (c *client) once(ctx context.Context, d *door, node string, i int) error {
	a := answer{node: node}
	if node != "" {
		a.id = fmt.Sprintf("%016x%016x", i, rand.Uint64())
	}
	err := c.ask(ctx, d, &a, false, "")
	if err == nil && a.outcome != "executed" {
		err = fmt.Errorf("the call failed: %s", a.said)
	}
	return err
}

// measureProfiles measures calls with more and more profiles in the directory.
func (w *world) measureProfiles() {
	w.t.Helper()
	c := newClient("profiles")
	for _, each := range []int{1, 10, 100} {
		for _, n := range w.nodes {
			for i := len(n.browsers); i < each; i++ {
				b := newBrowser(w.t, n, i)
				b.slowest = 0
				n.browsers = append(n.browsers, b)
			}
		}
		w.seen(fmt.Sprintf("%d profiles", each*len(w.nodes)), time.Now(), func(g *door) (bool, error) {
			for _, n := range w.nodes {
				if err := c.once(w.t.Context(), g, profile(n.name, each, each-1), 0); err != nil {
					return false, err
				}
			}
			return true, nil
		})
		to := profile(nodeName(0), each, 0)
		var times []time.Duration
		for i := range *figures + 100 {
			began := time.Now()
			if err := c.once(w.t.Context(), w.gateways[0], to, i); err != nil {
				w.t.Fatal(err)
			}
			if i >= 100 {
				times = append(times, time.Since(began))
			}
		}
		p50, p99 := percentiles(times)
		w.t.Logf("call with %4d profiles in the directory: p50 %s, p99 %s", each*len(w.nodes), p50, p99)
	}
}

// profile names one of so many profiles of a node.
func profile(node string, of, i int) string {
	if of == 1 {
		return node
	}
	return fmt.Sprintf("%s/Chrome %d", node, i)
}

// seen waits until all gateways see the directory so, and says how long it took.
func (w *world) seen(what string, since time.Time, is func(*door) (bool, error)) {
	w.t.Helper()
	for _, g := range w.gateways {
		for began := time.Now(); ; {
			ok, err := is(g)
			if err == nil && ok {
				break
			} else if time.Since(began) > startTime {
				w.t.Fatalf("%s is not seen by %s: %v", what, g.name, err)
			}
			pause(w.t.Context(), time.Millisecond)
		}
	}
	w.t.Logf("all gateways see %s after %s", what, time.Since(since).Round(time.Millisecond))
}

// measureDirectory measures how soon all gateways see what changes at a node. Which nodes there are a gateway says to
// who calls a tool and names none of them.
func (w *world) measureDirectory() {
	w.t.Helper()
	n, ctx, c := w.nodes[len(w.nodes)-1], w.t.Context(), newClient("directory")
	offers := func(g *door) (bool, error) {
		said, err := c.post(ctx, g, "tools/call", tool, "", fmt.Sprintf(`,"name":%q,"arguments":{}`, tool))
		return strings.Contains(string(said), n.name), err
	}
	for round := range 3 {
		began := time.Now()
		_ = n.cmd.Process.Signal(syscall.SIGTERM) // it runs
		w.seen("that a node has left", began, func(g *door) (bool, error) {
			there, err := offers(g)
			return !there, err
		})
		_ = n.cmd.Wait() // as it was ended
		began = time.Now()
		if err := n.start(ctx); err != nil {
			w.t.Fatal(err)
		}
		w.seen(fmt.Sprintf("that a node has joined, %s of it until it is healthy,",
			time.Since(began).Round(time.Millisecond)), began, offers)
		name := fmt.Sprintf("more%d", round)
		w.runs(n, "plugin", "add", w.makePlugin(name))
		began = time.Now()
		w.seen("that a plugin was added", began, func(g *door) (bool, error) {
			said, err := c.post(ctx, g, "tools/list", "", "", "")
			return strings.Contains(string(said), name+"__"), err
		})
	}
}

// runs runs a command of tabrelay in a node's home.
func (w *world) runs(n *node, args ...string) {
	w.t.Helper()
	cmd := exec.Command(w.program, args...)
	cmd.Env = append(os.Environ(), n.env...)
	if said, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("tabrelay %s: %v: %s", strings.Join(args, " "), err, said)
	}
}
