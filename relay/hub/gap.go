package hub

import (
	"context"
	"sync"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
)

// gap is where calls wait for a browser that was here a moment ago. The calls of one lane leave it in the order in
// which they came; those of other lanes do not wait for them.
type gap struct {
	mu    sync.Mutex
	news  chan struct{}     // closed, and replaced, when something changed; nil while nobody waits
	lines map[string]*place // the last in each lane's line
}

// place is one call's place in its lane's line.
type place struct {
	gap   *gap
	lane  string
	ahead <-chan struct{} // closed when the call before has left; nil: nobody is before
	gone  chan struct{}
	once  sync.Once
}

// join takes a place when the call must wait, or when others of its lane do.
func (g *gap) join(lane string, must bool) *place {
	g.mu.Lock()
	defer g.mu.Unlock()
	last := g.lines[lane]
	if last == nil && !must {
		return nil
	}
	p := &place{gap: g, lane: lane, gone: make(chan struct{})}
	if last != nil {
		p.ahead = last.gone
	}
	if g.lines == nil {
		g.lines = map[string]*place{}
	}
	g.lines[lane] = p
	return p
}

// leave lets the next in line go. It may be called more than once, and on nil.
func (p *place) leave() {
	if p == nil {
		return
	}
	p.once.Do(func() {
		p.gap.mu.Lock()
		if p.gap.lines[p.lane] == p {
			delete(p.gap.lines, p.lane)
		}
		p.gap.mu.Unlock()
		if p.ahead == nil {
			close(p.gone)
			return
		}
		select {
		case <-p.ahead:
			close(p.gone)
		default:
			go p.passOn()
		}
	})
}

// passOn leaves for a call that gave up in the middle of the line: those behind it still wait for those before it.
func (p *place) passOn() {
	<-p.ahead
	close(p.gone)
}

// watch returns a channel that is closed at the next change.
func (g *gap) watch() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.news == nil {
		g.news = make(chan struct{})
	}
	return g.news
}

// changed wakes everyone who waits.
func (g *gap) changed() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.news != nil {
		close(g.news)
		g.news = nil
	}
}

// seek finds the tab of a call, and waits a bounded time for a browser that is on its way. Whatever it returns, the
// caller leaves the place when the call has been sent or given up.
func (h *Hub) seek(ctx context.Context, r *call.Invocation) (t target, p *place, failure *fault.Error) {
	where, err := h.sites.of(r.Matches, r.Excludes)
	if err != nil {
		return t, nil, fault.New(fault.ConfigError, "The plugin's URL patterns cannot be used: "+err.Error(), fault.WithOutcome(fault.NotExecuted))
	}
	if ctx.Err() != nil {
		return t, nil, unsent(ctx)
	}
	t, failure, wait := h.route(r, where)
	t.where = where
	p = h.gap.join(r.Session.Lane, wait)
	if p == nil {
		return t, nil, failure
	}
	late := time.NewTimer(h.cfg.GapWait)
	defer late.Stop()
	ahead := p.ahead
	for {
		news := h.gap.watch()
		t, failure, wait = h.route(r, where)
		t.where = where
		if ahead == nil && !wait {
			return t, p, failure
		}
		select {
		case <-news:
		case <-ahead:
			ahead = nil
		case <-late.C:
			// A call that has a target was only behind another of its lane, which has had its time: it goes.
			return t, p, failure
		case <-ctx.Done():
			return t, p, unsent(ctx)
		}
	}
}
