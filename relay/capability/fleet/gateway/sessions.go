package gateway

import (
	"context"
	"time"

	"tabrelay/relay/capability/fleet/wire"
)

// visits are the nodes at which a session of this gateway has called.
type visits struct {
	caller *wire.Caller
	nodes  map[string]bool
}

// visit notes that a session calls at a node, which is told of its end.
func (g *Gateway) visit(session string, caller *wire.Caller, node string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.visits[session]
	if v == nil {
		v = &visits{caller, map[string]bool{}}
		g.visits[session] = v
	}
	v.nodes[node] = true
}

// SessionEnded has the nodes at which a session called release what it holds there. One that cannot be reached is asked
// again for as long as it would be for a call; after that it releases it when the session has been idle for two hours.
func (g *Gateway) SessionEnded(session string) {
	g.mu.Lock()
	v := g.visits[session]
	delete(g.visits, session)
	g.mu.Unlock()
	if v == nil || g.base.Err() != nil {
		return
	}
	for node := range v.nodes {
		g.ended.Go(func() {
			if !g.leave(node, v.caller) {
				g.Log.Info().Str("node", node).Msg("a node was not told that a session ended")
			}
		})
	}
}

// leave tells a node that a session has ended, and reports whether it has heard it.
func (g *Gateway) leave(node string, caller *wire.Caller) bool {
	in := g.listen()
	defer in.close()
	for began := time.Now(); ; {
		wait, cancel := context.WithTimeout(g.base, wire.LostAfter)
		err := g.send(node, wire.OpLeave, wire.Request{V: wire.Version, Caller: caller}, nil, in.subject)
		if err == nil {
			var r wire.Reply
			if r, _, err = in.next(wait); err == nil && (r.Kind == wire.Left || r.Kind == wire.Refused) {
				cancel()
				return r.Kind == wire.Left
			}
		}
		cancel()
		if time.Since(began) > g.Recover || !pause(g.base, askEvery) {
			return false
		}
	}
}
