//go:build unix

package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// trouble makes faults, one after the other, as its seed has it.
type trouble struct {
	*world
	chance *rand.Rand
	caused map[string]int
	log    []string
}

// members are all that reach the servers over links.
func (w *world) members() (list []*member) {
	for _, n := range w.nodes {
		list = append(list, &n.member)
	}
	for _, g := range w.gateways {
		list = append(list, &g.member)
	}
	return list
}

// upTo is a time up to so many milliseconds, on the scale of this run.
func (x *trouble) upTo(ms int) time.Duration {
	return time.Duration(*scale * float64(x.chance.IntN(ms)+1) * float64(time.Millisecond))
}

func pick[T any](x *trouble, list []T) T { return list[x.chance.IntN(len(list))] }

// cause makes the next fault, and returns when what it broke is whole again.
func (x *trouble) cause(ctx context.Context) error {
	kinds := []struct {
		name string
		do   func(context.Context) (string, error)
	}{
		{"node killed", func(ctx context.Context) (string, error) {
			return x.killed(ctx, &pick(x, x.nodes).process, 800)
		}},
		{"gateway killed", func(ctx context.Context) (string, error) {
			return x.killed(ctx, &pick(x, x.gateways).process, 800)
		}},
		{"server killed", func(ctx context.Context) (string, error) { return x.killed(ctx, pick(x, x.servers), 1500) }},
		{"node stopped", func(ctx context.Context) (string, error) {
			return x.halted(ctx, &pick(x, x.nodes).process, 3000)
		}},
		{"gateway stopped", func(ctx context.Context) (string, error) {
			return x.halted(ctx, &pick(x, x.gateways).process, 1500)
		}},
		{"server stopped", func(ctx context.Context) (string, error) {
			return x.halted(ctx, pick(x, x.servers), 3000)
		}},
		{"links cut", x.linksCut}, {"links held", x.linksHeld}, {"links slow", x.linksSlow},
		{"browser lost", x.browserLost}, {"browser died", x.browserDied},
	}
	kind := pick(x, kinds)
	x.caused[kind.name]++
	began := time.Now()
	what, err := kind.do(ctx)
	x.log = append(x.log, fmt.Sprintf("%s %s: %s", began.Format("15:04:05.000"), kind.name, what))
	return err
}

func (x *trouble) killed(ctx context.Context, p *process, ms int) (string, error) {
	wait := x.upTo(ms)
	p.kill()
	pause(ctx, wait)
	return fmt.Sprintf("%s for %s", p.name, wait), p.start(ctx)
}

func (x *trouble) halted(ctx context.Context, p *process, ms int) (string, error) {
	wait := x.upTo(ms)
	p.halt()
	pause(ctx, wait)
	p.goOn()
	return fmt.Sprintf("%s for %s", p.name, wait), nil
}

func (x *trouble) linksCut(ctx context.Context) (string, error) {
	return x.onLinks(ctx, 3000, func(k *link, bad bool) { k.breakOff(bad) })
}

func (x *trouble) linksHeld(ctx context.Context) (string, error) {
	return x.onLinks(ctx, 3000, func(k *link, bad bool) { k.hold(bad) })
}

func (x *trouble) linksSlow(ctx context.Context) (string, error) {
	delay := x.upTo(300)
	return x.onLinks(ctx, 2000, func(k *link, bad bool) {
		if !bad {
			delay = 0
		}
		k.slow(delay)
	})
}

func (x *trouble) onLinks(ctx context.Context, ms int, do func(k *link, bad bool)) (string, error) {
	m, wait := pick(x, x.members()), x.upTo(ms)
	for _, k := range m.links {
		do(k, true)
	}
	pause(ctx, wait)
	for _, k := range m.links {
		do(k, false)
	}
	return fmt.Sprintf("%s for %s", m.name, wait), nil
}

func (x *trouble) browserLost(context.Context) (string, error) {
	n := pick(x, x.nodes)
	pick(x, n.browsers).Drop()
	return n.name, nil
}

func (x *trouble) browserDied(context.Context) (string, error) {
	n := pick(x, x.nodes)
	pick(x, n.browsers).die()
	return n.name, nil
}
