package relay

import (
	"context"
	"net"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/httpapi"
)

// What the handlers of this package use of httpapi, to which they move.
var (
	reply, refuse = httpapi.Reply, httpapi.Refuse
	excerpt       = fault.Excerpt
	atProfile     = httpapi.AtProfile
)

func sender(ctx context.Context) (call.Session, bool) { return httpapi.Sender(ctx), true }

// baseFor is the context of the requests that come over a listener.
func (r *Relay) baseFor(l net.Listener) context.Context {
	if l == r.listener {
		return r.base
	}
	return httpapi.OverSocket(r.base)
}
