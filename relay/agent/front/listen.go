package front

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/lib/rawjson"
)

// listen serves subscriptions/listen, which is how a modern client hears of changes: a request that stays open. Each
// is a listener of its own towards mcp-go, so that on stdio too every notification carries the id of the subscription
// it belongs to, exactly as the client wrote it. It ends with its context, or when the relay stops or the
// client closes its end.
func (f *Front) listen(ctx context.Context, p *peer, x *exchange, m *message, meta *requestMeta) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(p.ending, stop)()
	ids, fail := f.taskIDs(m, meta)
	if fail != nil {
		x.respond(f.failed(x, fail, ""))
		return
	}
	c := newListener(f.nextName(), p.session, p.tools, p.offered)
	c.subscription, c.list = true, f.listKnown(p)
	c.SetLogLevel(mcp.LoggingLevel(meta.LogLevel)) // empty: no messages
	c.Initialize()
	f.addListener(c)
	defer f.removeListener(c)
	m = f.watchAll(c, m)
	watched, unwatch := f.watchTasks(ctx, p, c, ids)
	defer unwatch()

	ended := make(chan response, 1)
	go func() {
		r := f.subscribe(ctx, c, x, m)
		if len(watched) > 0 && r.code == 0 { // mcp-go ends one that hears of nothing else
			<-ctx.Done()
		}
		ended <- r
	}()
	var wake <-chan struct{} // nil until the acknowledgement has gone out: it comes before everything else
	var early []mcp.JSONRPCNotification
	for {
		select {
		case n := <-c.notes:
			if wake == nil && n.Method != mcp.MethodNotificationSubscriptionsAcknowledged {
				early = append(early, n)
				continue
			}
			for _, n := range append([]mcp.JSONRPCNotification{n}, early...) {
				x.sendNotification(acknowledged(n, tagged(n, x.id), watched))
			}
			wake, early = c.outbox.wake, nil
		case <-wake:
			for _, l := range c.outbox.drain() {
				x.sendNotification(l.encode(x.id))
			}
		case r := <-ended:
			for len(c.notes) > 0 {
				x.sendNotification(tagged(<-c.notes, x.id))
			}
			x.respond(r)
			return
		}
	}
}

// watchAll begins to watch the resources that the client wants to hear of, and leaves those out of the request that
// cannot be watched: the acknowledgement then says which ones are.
func (f *Front) watchAll(c *listener, m *message) *message {
	members, ok := rawjson.Members(m.param("notifications"))
	raw := rawjson.Get(members, "resourceSubscriptions")
	if !ok || raw == nil || f.options.Resources == nil {
		return m
	}
	var uris, watched []string
	if json.Unmarshal(raw, &uris) != nil {
		return m // mcp-go says what is wrong
	}
	for _, uri := range uris {
		if absolute.MatchString(uri) && len(uri) <= maxURI && f.watch(c, uri)() == nil {
			watched = append(watched, uri)
		}
	}
	for i := range members {
		if members[i].Name == "resourceSubscriptions" {
			members[i].Value = rawjson.MustEncode(watched)
		}
	}
	return m.withParam("notifications", rawjson.Join(members))
}

// subscribe is the request as mcp-go serves it, until ctx ends. The name it knows the request by comes back in the
// result, where the client's own id must stand.
func (f *Front) subscribe(ctx context.Context, c *listener, x *exchange, m *message) (r response) {
	if bug := f.catchPanic(m.method, func() { r = f.askEngine(ctx, c, x, m, c.id) }); bug != nil {
		return errorResponse(x.id, bug, true)
	}
	r.body = bytes.ReplaceAll(r.body, rawjson.AppendText(nil, c.id), x.id)
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
