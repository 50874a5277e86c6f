package dispatch

import (
	"context"
	"slices"
	"sync"
	"time"
)

// gate bounds how many calls run at once, in all and of one plugin. A few more may wait at it for a short while,
// first come first.
type gate struct {
	limits Limits

	mu      sync.Mutex
	running int
	of      map[string]int // running, by plugin
	waiting []*ticket
}

// ticket is a call that waits at the gate.
type ticket struct {
	plugin string
	in     chan struct{} // closed when it has its place
}

// take gets a place at once, or not. Built-in tools have no plugin.
func (g *gate) take(plugin string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seat(plugin)
}

func (g *gate) seat(plugin string) bool {
	if g.running >= g.limits.Running || plugin != "" && g.of[plugin] >= g.limits.RunningPerPlugin {
		return false
	}
	g.running++
	if plugin != "" {
		if g.of == nil {
			g.of = map[string]int{}
		}
		g.of[plugin]++
	}
	return true
}

// leave gives a place back, and to whoever waits for it.
func (g *gate) leave(plugin string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	if plugin != "" {
		g.of[plugin]--
	}
	g.waiting = slices.DeleteFunc(g.waiting, func(t *ticket) bool {
		if !g.seat(t.plugin) {
			return false
		}
		close(t.in)
		return true
	})
}

// wait gets a place as soon as there is one, and reports whether it did before ctx ended or the time was over.
func (g *gate) wait(ctx context.Context, plugin string) bool {
	g.mu.Lock()
	if g.seat(plugin) {
		g.mu.Unlock()
		return true
	}
	if len(g.waiting) >= g.limits.Waiting {
		g.mu.Unlock()
		return false
	}
	t := &ticket{plugin: plugin, in: make(chan struct{})}
	g.waiting = append(g.waiting, t)
	g.mu.Unlock()
	late := time.NewTimer(g.limits.Wait)
	defer late.Stop()
	select {
	case <-t.in:
		return true
	case <-ctx.Done():
	case <-late.C:
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-t.in:
		return true // in the last moment
	default:
	}
	g.waiting = slices.DeleteFunc(g.waiting, func(other *ticket) bool { return other == t })
	return false
}

func (g *gate) load() (running, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running, len(g.waiting)
}
