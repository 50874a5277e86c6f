package relay

import (
	"context"
	"net"

	"tabrelay/relay/call"
	"tabrelay/relay/config"
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

// tokens lets in who has a token.
type tokens struct{ *Relay }

// Identify implements httpapi.Clients.
func (t tokens) Identify(token string) (call.Session, bool) {
	client, ok := t.secrets.Verify(token)
	s := call.Session{ID: "http:" + client, Client: client, Via: "http"}
	if ok && client != config.LocalClient {
		s.Scope = t.arrived(client)
	}
	return s, ok
}

// Enter implements httpapi.Clients.
func (t tokens) Enter(token string, end func()) (leave func()) { return t.passes.enter(token, end) }

// baseFor is the context of the requests that come over a listener.
func (r *Relay) baseFor(l net.Listener) context.Context {
	if l == r.listener {
		return r.base
	}
	return httpapi.OverSocket(r.base)
}
