package hubtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
)

// Send sends a frame as it is; without a connection it is lost.
func (b *Browser) Send(f wire.Frame) { b.SendRaw(encode(f, nil)) }

// SendRaw sends a message that need not be a frame.
func (b *Browser) SendRaw(message []byte) {
	b.mu.Lock()
	socket := b.socket
	b.mu.Unlock()
	if socket != nil {
		_ = socket.Write(message)
	}
}

// Drop cuts the connection, as a network does. What ran goes on running.
func (b *Browser) Drop() {
	b.mu.Lock()
	socket, gone := b.socket, b.gone
	b.mu.Unlock()
	if socket != nil {
		socket.Drop()
		<-gone
	}
}

// Die cuts the connection and forgets everything, as a browser does that ends: the next connection has another epoch.
func (b *Browser) Die() {
	b.Drop()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opts.Epoch = wire.NewID()
	clear(b.running)
	clear(b.outcomes)
	b.order = nil
	b.touch()
}

// Close says goodbye and ends the connection.
func (b *Browser) Close() {
	b.mu.Lock()
	socket, gone := b.socket, b.gone
	b.mu.Unlock()
	if socket != nil {
		socket.Close(1000, "")
		<-gone
	}
}

// Gone is closed when the present connection has ended; then CloseCode says how.
func (b *Browser) Gone() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone == nil {
		never := make(chan struct{})
		return never
	}
	return b.gone
}

// CloseCode is how the last connection ended: the relay's code, or -1.
func (b *Browser) CloseCode() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return hub.CloseCode(b.err)
}

// Put opens or changes a tab, and tells the relay.
func (b *Browser) Put(t wire.Tab) {
	b.mu.Lock()
	if at := slices.IndexFunc(b.tabs, func(old wire.Tab) bool { return old.ID == t.ID }); at >= 0 {
		b.tabs[at] = t
	} else {
		b.tabs = append(b.tabs, t)
	}
	b.mu.Unlock()
	b.Send(&wire.TabUpdate{Tab: t})
}

// CloseTab closes a tab, and tells the relay.
func (b *Browser) CloseTab(id int) {
	b.mu.Lock()
	b.tabs = slices.DeleteFunc(b.tabs, func(t wire.Tab) bool { return t.ID == id })
	b.mu.Unlock()
	b.Send(&wire.TabClosed{TabID: id})
}

// ReplaceTab gives a tab another id, as Chrome does when it unloads its page, and tells the relay.
func (b *Browser) ReplaceTab(id int, now wire.Tab) {
	b.Put(now)
	b.mu.Lock()
	b.tabs = slices.DeleteFunc(b.tabs, func(t wire.Tab) bool { return t.ID == id })
	b.mu.Unlock()
	b.Send(&wire.TabClosed{TabID: id, Became: now.ID})
}

// ProfileID is the profile's id.
func (b *Browser) ProfileID() string { return b.opts.ProfileID }

// Welcome is what the relay said last.
func (b *Browser) Welcome() wire.Welcome {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.welcome
}

// Plugins is the list the relay sent last.
func (b *Browser) Plugins() []wire.Plugin {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.plugins
}

// AwaitPlugin waits until the browser was told of a plugin, in that version.
func (b *Browser) AwaitPlugin(ctx context.Context, name, hash string) error {
	return b.await(ctx, "plugin "+name, func() bool {
		return slices.ContainsFunc(b.plugins, func(p wire.Plugin) bool { return p.Name == name && p.Hash == hash })
	})
}

// AwaitCall waits until a call has arrived and runs, and returns it.
func (b *Browser) AwaitCall(ctx context.Context, id call.ID) (c *Call, err error) {
	err = b.await(ctx, "call "+string(id), func() bool {
		c = b.running[id]
		return c != nil
	})
	return c, err
}

// AwaitAck waits until the relay has acknowledged a call's outcome.
func (b *Browser) AwaitAck(ctx context.Context, id call.ID) error {
	return b.await(ctx, "ack of "+string(id), func() bool { return b.acked[id] })
}

// await waits until holds, which runs under mu, is true.
func (b *Browser) await(ctx context.Context, what string, holds func() bool) error {
	for {
		b.mu.Lock()
		done := holds()
		if b.changed == nil && !done {
			b.changed = make(chan struct{})
		}
		changed := b.changed
		b.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		}
	}
}

// Move makes the next Dial go to another address, as an extension does whose pairing.json has changed.
func (b *Browser) Move(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opts.Address = address
}

// Response is what the relay answered to a request of the side panel.
type Response struct {
	Status int
	Body   json.RawMessage
}

// Ask asks the relay something as the side panel does, and waits for the answer. body is JSON, or nil.
func (b *Browser) Ask(ctx context.Context, method, path string, body json.RawMessage) (r Response, err error) {
	id := wire.NewID()
	b.SendRaw(encode(&wire.Request{ID: id, Method: method, Path: path}, body))
	err = b.await(ctx, method+" "+path, func() bool {
		answer, here := b.answers[id]
		delete(b.answers, id)
		r = answer
		return here
	})
	return r, err
}

// News is everything the relay told side panels so far.
func (b *Browser) News() []wire.News {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]wire.News{}, b.news...)
}

// AwaitNews waits until the relay has told panels something that passes the test.
func (b *Browser) AwaitNews(ctx context.Context, passes func(wire.News) bool) error {
	return b.await(ctx, "news", func() bool {
		return slices.ContainsFunc(b.news, passes)
	})
}
