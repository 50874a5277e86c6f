package front

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/fault"
)

// listen serves subscriptions/listen, which is how a modern client hears of changes: a request that stays open. Each
// is a listener of its own towards mcp-go, so that on stdio too every notification carries the id of the subscription
// it belongs to, exactly as the client wrote it. It ends with its context, or when the relay stops or the
// client closes its end.
func (f *Front) listen(ctx context.Context, p *party, x *exchange, m *message) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(p.ending, stop)()
	c := newClient(f.nextName())
	c.subscription = true
	c.Initialize()
	if err := f.engine.RegisterSession(ctx, c); err != nil {
		panic(err)
	}
	defer f.engine.UnregisterSession(ctx, c.id)

	ended := make(chan response, 1)
	go func() { ended <- f.subscribe(ctx, c, x, m) }()
	for {
		select {
		case n := <-c.notes:
			x.say(tagged(n, x.id))
		case r := <-ended:
			for len(c.notes) > 0 {
				x.say(tagged(<-c.notes, x.id))
			}
			x.respond(r)
			return
		}
	}
}

// subscribe is the request as mcp-go serves it, until ctx ends. The name it knows the request by comes back in the
// result, where the client's own id must stand.
func (f *Front) subscribe(ctx context.Context, c *client, x *exchange, m *message) (r response) {
	defer func() {
		if p := recover(); p != nil {
			f.options.Log.Error().Str("panic", fmt.Sprint(p)).Bytes("stack", debug.Stack()).Msg("a subscription panicked")
			r = refuse(x.id, fault.New(fault.InternalError, "internal error"), true)
		}
	}()
	r = f.delegate(ctx, c, x, m, c.id)
	r.body = bytes.ReplaceAll(r.body, appendString(nil, c.id), x.id)
	return r
}

// tagged encodes a notification for the subscription with this id. Its _meta is copied, because a broadcast shares it.
func tagged(n mcp.JSONRPCNotification, id []byte) []byte {
	meta := make(map[string]any, len(n.Params.Meta)+1)
	maps.Copy(meta, n.Params.Meta)
	meta[mcp.MetaKeySubscriptionID] = json.RawMessage(id)
	n.Params.Meta = meta
	return encoded(n)
}

// encoded encodes a notification of mcp-go; it returns nil for one that does not encode.
func encoded(n mcp.JSONRPCNotification) []byte {
	b, err := json.Marshal(n)
	if err != nil {
		return nil
	}
	return b
}
