package relay

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// maxStrangers is how many connections of senders may be open that have not shown a token. One more closes the oldest
	// of them, so that a program that opens connections and says nothing shuts nobody out.
	maxStrangers = 128

	// strangerTime is how long a sender has before that: clients that come all at once show their tokens as fast as the
	// relay reads.
	strangerTime = 2 * time.Second

	// maxVisitors is how many connections may be open in all. One more is closed at once. A client that does not wait for
	// answers opens one for each call.
	maxVisitors = 4096
)

// visitors are the open connections of the port, apart from those of browsers, which the hub counts.
type visitors struct {
	mu        sync.Mutex
	all       map[net.Conn]*visitor
	strangers list.List     // of *visitor; the oldest in front
	patience  time.Duration // with strangers
}

type visitor struct {
	conn  net.Conn
	since time.Time
	place *list.Element // among the strangers; nil once it is known
}

type visitorKey struct{}

// enter implements http.Server.ConnContext: a connection came in.
func (v *visitors) enter(ctx context.Context, conn net.Conn) context.Context {
	if conn.LocalAddr().Network() != "tcp" {
		return ctx // relay.sock is open to this person only
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.all == nil {
		v.all = map[net.Conn]*visitor{}
	}
	one := &visitor{conn: conn, since: time.Now()}
	one.place = v.strangers.PushBack(one)
	v.all[conn] = one
	switch oldest, _ := v.strangers.Front().Value.(*visitor); {
	case v.strangers.Len() > maxStrangers && one.since.Sub(oldest.since) >= v.patience:
		_ = oldest.conn.Close() // its handler notices; nothing was promised to it
		v.drop(oldest)
	case len(v.all) > maxVisitors:
		_ = conn.Close() // as above
		v.drop(one)
	}
	return context.WithValue(ctx, visitorKey{}, one)
}

// known notes that the sender of a request has shown who they are: their connection is not closed for others.
func (v *visitors) known(ctx context.Context) {
	one, ok := ctx.Value(visitorKey{}).(*visitor)
	if !ok {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if one.place != nil {
		v.strangers.Remove(one.place)
		one.place = nil
	}
}

// changed implements http.Server.ConnState: connections leave.
func (v *visitors) changed(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if one, ok := v.all[conn]; ok {
		v.drop(one)
	}
}

// drop forgets a connection. The lock is held.
func (v *visitors) drop(one *visitor) {
	delete(v.all, one.conn)
	if one.place != nil {
		v.strangers.Remove(one.place)
		one.place = nil
	}
}
