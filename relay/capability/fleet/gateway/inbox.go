package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/random"
)

// inboxes are where the requests that are under way are answered. There is one subscription for all: one for each would
// have the servers of a cluster tell each other twice of every call.
type inboxes struct {
	prefix string

	mu   lock.Mutex // guards the rest; that of an inbox nests in nothing
	open map[string]*inbox
}

// inbox is where one request is answered.
type inbox struct {
	subject string
	close   func()
	news    chan struct{} // something came

	mu    lock.Mutex // guards these two
	came  []*nats.Msg
	bytes int

	parts [][]byte
	size  int
}

// maxWaiting bounds what of one request's answers waits, in bytes. What comes beyond it is lost, as on the way.
const maxWaiting = 2 * wire.MaxAnswer

// openInboxes hears what the requests of this connection are answered.
func (g *Gateway) openInboxes() error {
	g.inboxes.prefix, g.inboxes.open = g.conn.NewInbox()+".", map[string]*inbox{}
	sub, err := g.conn.Subscribe(g.inboxes.prefix+"*", g.inboxes.deliver)
	if err != nil {
		return err
	}
	return sub.SetPendingLimits(-1, 2*maxWaiting)
}

// listen makes the inbox of a request.
func (g *Gateway) listen() *inbox {
	in := &inbox{subject: g.inboxes.prefix + random.Hex(8), news: make(chan struct{}, 1)}
	in.close = func() {
		g.inboxes.mu.Lock()
		defer g.inboxes.mu.Unlock()
		delete(g.inboxes.open, in.subject)
	}
	g.inboxes.mu.Lock()
	defer g.inboxes.mu.Unlock()
	g.inboxes.open[in.subject] = in
	return in
}

// deliver puts a message into its inbox. One that nobody waits for any more is passed over.
func (b *inboxes) deliver(msg *nats.Msg) {
	b.mu.Lock()
	in := b.open[msg.Subject]
	b.mu.Unlock()
	if in == nil {
		return
	}
	in.mu.Lock()
	if in.bytes+len(msg.Data) <= maxWaiting {
		in.came, in.bytes = append(in.came, msg), in.bytes+len(msg.Data)
	}
	in.mu.Unlock()
	select {
	case in.news <- struct{}{}:
	default:
	}
}

// take waits for the next message.
func (in *inbox) take(ctx context.Context) (*nats.Msg, error) {
	for {
		in.mu.Lock()
		if len(in.came) > 0 {
			msg := in.came[0]
			in.came, in.bytes = in.came[1:], in.bytes-len(msg.Data)
			in.mu.Unlock()
			return msg, nil
		}
		in.mu.Unlock()
		select {
		case <-in.news:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// errBroken is that an answer came in pieces of which some are not there.
var errBroken = errors.New("its parts do not belong together")

// next is the next reply, with its whole payload. Pieces are kept until the reply that they belong to.
func (in *inbox) next(ctx context.Context) (r wire.Reply, payload []byte, err error) {
	msg, err := in.take(ctx)
	switch {
	case err != nil:
		return r, nil, err
	case len(msg.Data) == 0 && msg.Header.Get("Status") == "503":
		return r, nil, errNobody
	}
	r, payload, err = wire.DecodeReply(msg.Data)
	switch {
	case err != nil:
		return r, nil, fmt.Errorf("%w: %w", errBroken, err)
	case r.Kind == wire.Part:
		if r.Part == 1 {
			in.parts, in.size = nil, 0
		}
		if r.Part != len(in.parts)+1 || in.size+len(payload) > wire.MaxAnswer {
			in.parts, in.size = nil, 0
			return r, nil, nil // the reply that they belong to says that some are missing
		}
		in.parts, in.size = append(in.parts, payload), in.size+len(payload)
		return r, nil, nil
	case r.Parts > 0:
		parts, size := in.parts, in.size
		if in.parts, in.size = nil, 0; len(parts) != r.Parts || size != r.Bytes {
			return r, nil, errBroken
		}
		payload = make([]byte, 0, size)
		for _, part := range parts {
			payload = append(payload, part...)
		}
	}
	return r, payload, nil
}
