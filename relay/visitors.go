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
	// maxStrangers is how many connections of senders may be open that have not shown a token and had strangerTime for it.
	// One more closes the oldest of them.
	maxStrangers = 128

	// strangerTime is how long a sender has before that: clients that come all at once show their tokens as fast as the
	// relay reads.
	strangerTime = 2 * time.Second

	// maxVisitors is how many connections may be open in all, when the process may have that many descriptors. One more
	// closes the oldest stranger's, however young, so that a program that opens connections shuts nobody out. A client that
	// does not wait for answers opens one for each call.
	maxVisitors = 4096

	// graceTime is how long a connection has at least to send a request, when others are to have its place: a client
	// sends once it is connected. One that waited behind longQueue others to be accepted has had most of that time, and
	// has a tenth of it.
	graceTime = 100 * time.Millisecond
	longQueue = 64

	// keptDescriptors is how many descriptors are not for visitors: database, log, sockets, browsers, attached clients,
	// programs that are started. Of a large limit it is a quarter.
	keptDescriptors = 40
)

// visitors are the open connections of the ports, apart from those of browsers, which the hub counts.
type visitors struct {
	most     int           // connections in all; 0: maxVisitors
	patience time.Duration // with strangers

	mu     sync.Mutex
	all    map[net.Conn]*visitor
	silent list.List // of *visitor: strangers that have sent no whole request; the oldest in front
	asking list.List // of *visitor: strangers whose request is answered
}

type visitor struct {
	conn  net.Conn
	since time.Time
	safe  time.Time  // until then it may be about to send its request
	among *list.List // strangers of its kind; nil once it is known
	place *list.Element
}

type visitorKey struct{}

// visitorsWithin is how many connections a process may have that may have so many descriptors.
func visitorsWithin(descriptors uint64) int {
	if descriptors >= 2*maxVisitors {
		return maxVisitors
	}
	n := int(descriptors)
	return min(max(n-max(keptDescriptors, n/4), 8), maxVisitors)
}

// enter implements http.Server.ConnContext.
func (v *visitors) enter(ctx context.Context, conn net.Conn) context.Context {
	v.mu.Lock()
	defer v.mu.Unlock()
	if one := v.all[conn]; one != nil {
		return context.WithValue(ctx, visitorKey{}, one)
	}
	return ctx // over relay.sock, which is open to this person only
}

// admit takes a connection in, and closes another for it where there are too many. It waits while all of them are too
// young for that. What it reports is false when all others are known, and this one was closed.
func (v *visitors) admit(conn net.Conn, waited bool) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.all == nil {
		v.all = map[net.Conn]*visitor{}
	}
	for len(v.all) >= v.limit() {
		oldest, soon := v.oldest()
		if oldest == nil && soon <= 0 {
			_ = conn.Close() // nothing was promised to it
			return false
		}
		if oldest != nil {
			v.evict(oldest)
			break
		}
		v.mu.Unlock()
		time.Sleep(soon)
		v.mu.Lock()
	}
	if v.silent.Len()+v.asking.Len() >= min(maxStrangers, v.limit()/2) {
		if e := v.silent.Front(); e != nil {
			if oldest, _ := e.Value.(*visitor); time.Since(oldest.since) >= v.patience {
				v.evict(oldest)
			}
		}
	}
	one := &visitor{conn: conn, since: time.Now()}
	one.safe = one.since.Add(graceTime)
	if waited {
		one.safe = one.since.Add(graceTime / 10)
	}
	v.all[conn] = one
	v.put(one, &v.silent)
	return true
}

func (v *visitors) limit() int {
	if v.most == 0 {
		return maxVisitors
	}
	return v.most
}

// oldest is the stranger to close for somebody else: of those that have sent nothing, or not all of a request, the one
// that came first; else of those that are being answered. What a sender has sent and nobody has read yet counts. While
// all of them may still be about to send, it is nil, and soon says when that is over; zero when there is no stranger.
func (v *visitors) oldest() (one *visitor, soon time.Duration) {
	now := time.Now()
	for e := v.silent.Front(); e != nil; {
		one, _ := e.Value.(*visitor)
		e = e.Next()
		switch wait := one.safe.Sub(now); {
		case hasAsked(one.conn):
			v.put(one, &v.asking)
		case wait <= 0:
			return one, 0
		case soon == 0 || wait < soon:
			soon = wait
		}
	}
	if soon > 0 || v.asking.Len() == 0 {
		return nil, soon
	}
	one, _ = v.asking.Front().Value.(*visitor)
	return one, 0
}

// evict closes a connection. Its handler notices; nothing was promised to it.
func (v *visitors) evict(one *visitor) {
	_ = one.conn.Close()
	v.drop(one)
}

// makeRoom closes a stranger's connection, when the process can have no more descriptors. It reports whether there was one.
func (v *visitors) makeRoom() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	oldest, soon := v.oldest()
	if oldest == nil && soon > 0 {
		oldest, _ = v.silent.Front().Value.(*visitor)
	}
	if oldest != nil {
		v.evict(oldest)
	}
	return oldest != nil
}

// put moves a stranger among others, as the youngest of them. Nil makes it known.
func (v *visitors) put(one *visitor, among *list.List) {
	if one.among != nil {
		one.among.Remove(one.place)
	}
	if one.among, one.place = among, nil; among != nil {
		one.place = among.PushBack(one)
	}
}

// asks notes that the sender of a request has sent all of its headers.
func (v *visitors) asks(ctx context.Context) { v.move(ctx, &v.asking) }

// known notes that the sender of a request has shown who they are: their connection is not closed for others.
func (v *visitors) known(ctx context.Context) { v.move(ctx, nil) }

func (v *visitors) move(ctx context.Context, among *list.List) {
	one, ok := ctx.Value(visitorKey{}).(*visitor)
	if !ok {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if one.among != nil && one.among != among {
		v.put(one, among)
	}
}

// changed implements http.Server.ConnState: connections leave, or have been answered.
func (v *visitors) changed(conn net.Conn, state http.ConnState) {
	v.mu.Lock()
	defer v.mu.Unlock()
	one, ok := v.all[conn]
	switch {
	case !ok:
	case state == http.StateClosed, state == http.StateHijacked:
		v.drop(one)
	case state == http.StateActive: // something has come: a moment shows whether it is a whole request
		if soon := time.Now().Add(graceTime / 10); soon.After(one.safe) {
			one.safe = soon
		}
	case state == http.StateIdle && one.among != nil:
		v.put(one, &v.silent)
	}
}

// drop forgets a connection. The lock is held.
func (v *visitors) drop(one *visitor) {
	delete(v.all, one.conn)
	v.put(one, nil)
}

// roomy accepts connections also when there is no descriptor left: a stranger's is closed for it.
type roomy struct {
	net.Listener
	visitors *visitors
}

// Accept implements net.Listener.
func (l roomy) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		switch {
		case err == nil && l.visitors.admit(conn, queueOf(l.Listener) >= longQueue):
			return conn, nil
		case err != nil && (!outOfDescriptors(err) || !l.visitors.makeRoom()):
			return nil, err
		}
	}
}
