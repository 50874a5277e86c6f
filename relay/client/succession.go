package client

import (
	"context"

	"tabrelay/relay/call"
	"tabrelay/relay/join"
)

// succeeds reports whether a relay of the program that attaches is to take this one's place: it is newer, and was not
// replaced itself. Of a delegated session the agent would end with the relay.
func (c *Clients) succeeds(a join.AttachRequest, session call.Session) bool {
	return newer(a.Version, c.options.Version) && !a.Keep && session.Delegation == nil
}

// succeedWhenIdle ends the relay once no call runs, unless the newer program that is attached has left by then, which
// ends ctx. That program starts the next relay; the other stdio proxies wait for it.
func (c *Clients) succeedWhenIdle(ctx context.Context, version string) {
	select {
	case <-c.options.Calls.Idle():
	case <-ctx.Done():
		return
	}
	if ctx.Err() != nil || !c.succeeded.CompareAndSwap(false, true) {
		return
	}
	c.options.Log.Info().Str("version", version).Msg("no call runs any more; this relay makes room for a newer one")
	notice := join.SuccessorNotice(version)
	c.farewell.Store(&notice)
	c.options.Stop()
}
