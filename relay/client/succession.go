package client

import (
	"tabrelay/relay/call"
	"tabrelay/relay/join"
)

// succeeds reports whether a relay of the program that attaches is to take this one's place: it is newer, and was not
// replaced itself. Of a delegated session the agent would end with the relay.
func (c *Clients) succeeds(a join.AttachRequest, session call.Session) bool {
	return newer(a.Version, c.options.Version) && !a.Keep && session.Delegation == nil
}

// awaitIdle lets the relay of a newer program that is attached take this one's place once no call runs, until the
// program has left.
func (c *Clients) awaitIdle(version string) (left func()) {
	c.successor.Store(&version)
	c.successors.Add(1)
	c.CallsMoved() // the calls may have ended meanwhile
	return func() { c.successors.Add(-1) }
}

// CallsMoved ends the relay when no call runs and a newer program waits for that. That program starts the next relay;
// the other stdio proxies wait for it.
func (c *Clients) CallsMoved() {
	if c.successors.Load() == 0 || len(c.options.Calls.Running()) > 0 || !c.succeeded.CompareAndSwap(false, true) {
		return
	}
	version := *c.successor.Load()
	c.options.Log.Info().Str("version", version).Msg("no call runs any more; this relay makes room for a newer one")
	notice := join.SuccessorNotice(version)
	c.farewell.Store(&notice)
	c.options.Stop()
}
