//go:build unix

// Package sim has no code of the program: its tests are a fleet of processes that are killed, stopped and cut off while
// agents have writes done, and what the agents were told is compared with what the browsers did.
package sim

import (
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	calls    = flag.Int("calls", 300, "how many writes are done at least")
	faults   = flag.Int("faults", 0, "how many faults are made; 0: the simulation is left out")
	seed     = flag.Uint64("seed", 1, "of the faults")
	nodes    = flag.Int("nodes", 3, "nodes of the simulated fleet")
	gateways = flag.Int("gateways", 2, "gateways of the simulated fleet")
	agents   = flag.Int("agents", 12, "writes that are under way at once")
	longest  = flag.Duration("longest", 2*time.Minute, "after this time the simulation ends")
	scale    = flag.Float64("scale", 0.5, "of how long a fault lasts; 1: up to 3 s")
	slowest  = flag.Duration("slowest", 0, "the slowest answer that is taken; 0: any")
)

// TestSimulation: whatever breaks, no write is executed twice, and what an agent is told of it is true.
func TestSimulation(t *testing.T) {
	if *faults == 0 {
		t.Skip("left out without -faults: see make fleet-sim")
	}
	w := newWorld(t, size{servers: 3, nodes: *nodes, gateways: *gateways})
	ctx, cancel := context.WithTimeout(t.Context(), *longest)
	defer cancel()
	w.settle(ctx)
	x := &trouble{world: w, chance: rand.New(rand.NewPCG(*seed, 0)), caused: map[string]int{}}
	var told []answer
	var mu sync.Mutex
	var made atomic.Int64
	var troubled atomic.Bool
	var working sync.WaitGroup
	began := time.Now()
	for i := range *agents {
		working.Go(func() {
			c, chance := newClient(fmt.Sprint("s", i)), rand.New(rand.NewPCG(*seed, uint64(i+1)))
			for ctx.Err() == nil && (made.Add(1) <= int64(*calls) || !troubled.Load()) {
				a := w.writes(ctx, c, chance)
				if a.outcome == "" && ctx.Err() != nil {
					return // the time was over, not the call
				}
				mu.Lock()
				told = append(told, a)
				mu.Unlock()
			}
		})
	}
	for range *faults {
		pause(ctx, x.upTo(400))
		if err := x.cause(ctx); err != nil && ctx.Err() == nil {
			t.Fatalf("seed %d: %v", *seed, err)
		}
	}
	troubled.Store(true)
	working.Wait()
	took := time.Since(began)
	w.settle(t.Context())
	w.judge(x, told, took)
}

// writes has one write done somewhere.
func (w *world) writes(ctx context.Context, c *client, chance *rand.Rand) answer {
	raw := make([]byte, 16)
	for i := range raw {
		raw[i] = byte(chance.Uint32())
	}
	order := slices.Clone(w.gateways)
	chance.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	filling, lose := "", time.Duration(0)
	switch n := chance.IntN(100); {
	case n < 2:
		filling = strings.Repeat("x", 600<<10) // in parts
	case n < 8:
		lose = time.Duration(chance.IntN(40)+1) * time.Millisecond
	}
	return c.write(ctx, order, hex.EncodeToString(raw), w.nodes[chance.IntN(len(w.nodes))].name, filling, lose)
}

// settle waits until every gateway has every node do a write.
func (w *world) settle(ctx context.Context) {
	w.t.Helper()
	c := newClient("settle")
	for _, g := range w.gateways {
		for _, n := range w.nodes {
			for began := time.Now(); ; {
				a := c.write(ctx, []*door{g}, fmt.Sprintf("%032x", rand.Uint64()), n.name, "", 0)
				if a.outcome == "executed" {
					break
				}
				if time.Since(began) > startTime || !pause(ctx, 50*time.Millisecond) {
					w.t.Fatalf("%s does not reach %s: %s", g.name, n.name, a.said)
				}
			}
		}
	}
}

// judge compares what was told with what was done.
func (w *world) judge(x *trouble, told []answer, took time.Duration) {
	t := w.t
	t.Helper()
	ends, times := map[string]int{}, []time.Duration{}
	bad, again := 0, 0
	for _, a := range told {
		times = append(times, a.took)
		ends[strings.TrimSpace(a.outcome+" "+a.code)]++
		if a.sent > 1 {
			again++
		}
		if why := wrong(a); why != "" {
			bad++
			t.Errorf("seed %d: %s: %s at %s, sent %d times, %s: %s", *seed, why, a.id, a.node, a.sent, a.took, a.said)
		}
	}
	slow := slices.SortedFunc(slices.Values(told), func(a, b answer) int { return int(b.took - a.took) })
	for _, a := range slow[:min(3, len(slow))] {
		t.Logf("slow: %s at %s, ended %s, sent %d times: %.300s", a.took, a.node, a.ended.Format("15:04:05.000"),
			a.sent, a.said)
	}
	slices.Sort(times)
	at := func(share float64) time.Duration {
		return times[min(len(times)-1, int(share*float64(len(times))))].Round(time.Millisecond)
	}
	t.Logf("seed %d: %d writes in %s, %d sent more than once; %d faults %v", *seed, len(told), took.Round(time.Second),
		again, len(x.log), x.caused)
	for _, end := range slices.Sorted(maps.Keys(ends)) {
		t.Logf("%6d %s (%.2f %%)", ends[end], end, 100*float64(ends[end])/float64(len(told)))
	}
	t.Logf("answers: p50 %s, p99 %s, slowest %s; doubled or misreported: %d", at(.5), at(.99), at(1), bad)
	w.askAgain(told)
	for _, n := range w.nodes {
		for _, b := range n.browsers {
			if n.leased && len(b.inside.clashes) > 0 {
				t.Errorf("seed %d: in the leased browser of %s %s", *seed, n.name, strings.Join(b.inside.clashes, "; "))
			}
		}
	}
	if *slowest > 0 && at(1) > *slowest {
		t.Errorf("seed %d: the slowest answer took %s", *seed, at(1))
	}
	if *slowest > 0 && (len(told) < *calls || len(x.log) < *faults) { // else a busy machine has done what it could
		t.Errorf("seed %d: only %d writes and %d faults in %s", *seed, len(told), len(x.log), *longest)
	}
	if t.Failed() {
		t.Logf("faults:\n%s", strings.Join(x.log, "\n"))
		keep(w)
	}
}

// wrong says why an answer is not true; empty: it is.
func wrong(a answer) string {
	n := truth.times(a.id)
	switch {
	case n > 1:
		return fmt.Sprintf("executed %d times", n)
	case a.outcome == "executed" && n == 0, a.outcome == "not_executed" && n > 0:
		return fmt.Sprintf("told %s, and executed %d times", a.outcome, n)
	case a.outcome == "":
		return "an answer without outcome"
	}
	return ""
}

// askAgain asks for writes whose outcome was unknown once more, when everything is whole. What is said now has to be
// true, too.
func (w *world) askAgain(told []answer) {
	w.t.Helper()
	c, known, asked := newClient("again"), 0, 0
	for i, a := range told {
		if a.outcome != "unknown" || asked == 200 {
			continue
		}
		asked++
		now := a
		if err := c.ask(w.t.Context(), w.gateways[i%len(w.gateways)], &now, true, ""); err != nil {
			w.t.Errorf("seed %d: asked again: %v", *seed, err)
		}
		if now.outcome != "unknown" {
			known++
		}
		if why := wrong(now); why != "" {
			w.t.Errorf("seed %d: asked again, %s: %s: %s; before: %s", *seed, why, a.id, now.said, a.said)
		}
	}
	w.t.Logf("of %d unknown ends that were asked for again, %d became known", asked, known)
}

// keep keeps the logs of the processes where CI or a person can read them.
func keep(w *world) {
	folder := os.Getenv("FLEET_SIM_LOGS")
	if folder == "" {
		return
	}
	files, _ := filepath.Glob(filepath.Join(w.folder, "*.log"))
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			_ = os.WriteFile(filepath.Join(folder, filepath.Base(file)), text, 0o600) // what is missing is not read
		}
	}
}
