package httpapi

import (
	"cmp"
	"container/list"
	"context"
	"net"
	"net/http"
	"time"

	"tabrelay/relay/lib/lock"
)

const (
	// maxUnauthenticated is how many connections may be open whose senders have not shown a token and had
	// authenticateTime for it. One more closes the oldest of them.
	maxUnauthenticated = 128

	// authenticateTime is how long a sender has before that: clients that come all at once show their tokens as fast as
	// the relay reads.
	authenticateTime = 2 * time.Second

	// maxConnections is how many connections may be open in all, when the process may have that many descriptors. One
	// more closes the oldest unauthenticated one, however young, so that a program that opens connections shuts nobody
	// out. A client that does not wait for answers opens one for each call.
	maxConnections = 4096

	// graceTime is how long a connection has at least to send a request, when others are to have its place: a client
	// sends once it is connected. One that waited behind longQueue others to be accepted has had most of that time, and
	// has a tenth of it.
	graceTime = 100 * time.Millisecond
	longQueue = 64

	// keptDescriptors is how many descriptors are not for connections of the ports: database, log, sockets, browsers,
	// attached clients, programs that are started. Of a large limit it is a quarter.
	keptDescriptors = 40
)

// Limiter bounds the open connections of the ports, apart from those of browsers, which the hub counts. The zero value
// allows as many as are usual.
type Limiter struct {
	most     int           // connections in all; 0: maxConnections
	patience time.Duration // with unauthenticated connections

	mu     lock.Mutex
	all    map[net.Conn]*connection
	silent list.List // of *connection: unauthenticated, and no whole request has come; the oldest in front
	asking list.List // of *connection: unauthenticated, and their request is answered
}

// connection is an open connection.
type connection struct {
	net.Conn
	since time.Time
	safe  time.Time  // until then it may be about to send its request
	among *list.List // unauthenticated connections of its kind; nil once its sender is known
	place *list.Element
}

type connectionKey struct{}

// NewLimiter makes a limiter for what this process may open.
func NewLimiter() *Limiter {
	return &Limiter{most: connectionsWithin(descriptors()), patience: authenticateTime}
}

// Most is how many connections may be open in all.
func (l *Limiter) Most() int { return l.limit() }

// connectionsWithin is how many connections a process may have that may have so many descriptors.
func connectionsWithin(descriptors uint64) int {
	if descriptors >= 2*maxConnections {
		return maxConnections
	}
	n := int(descriptors)
	return min(max(n-max(keptDescriptors, n/4), 8), maxConnections)
}

// enter implements http.Server.ConnContext.
func (l *Limiter) enter(ctx context.Context, conn net.Conn) context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one := l.all[connOf(conn)]; one != nil {
		return context.WithValue(ctx, connectionKey{}, one)
	}
	return ctx // over relay.sock, which is open to this person only
}

// admit takes a connection in, and closes another for it where there are too many. It waits while all of them are too
// young for that. What it reports is false when the senders of all others are known, and this one was closed.
func (l *Limiter) admit(conn net.Conn, waited bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[net.Conn]*connection{}
	}
	for len(l.all) >= l.limit() {
		oldest, soon := l.oldest()
		if oldest == nil && soon <= 0 {
			_ = conn.Close() // nothing was promised to it
			return false
		}
		if oldest != nil {
			l.evict(oldest)
			break
		}
		l.mu.Unlock()
		time.Sleep(soon)
		l.mu.Lock()
	}
	if l.silent.Len()+l.asking.Len() >= min(maxUnauthenticated, l.limit()/2) {
		if e := l.silent.Front(); e != nil {
			if oldest, _ := e.Value.(*connection); time.Since(oldest.since) >= l.patience {
				l.evict(oldest)
			}
		}
	}
	one := &connection{Conn: conn, since: time.Now()}
	one.safe = one.since.Add(graceTime)
	if waited {
		one.safe = one.since.Add(graceTime / 10)
	}
	l.all[conn] = one
	l.put(one, &l.silent)
	return true
}

func (l *Limiter) limit() int {
	return cmp.Or(l.most, maxConnections)
}

// oldest is the unauthenticated connection to close for another: of those that have sent nothing, or not all of a
// request, the one that came first; else of those that are being answered. What a sender has sent and nobody has read
// yet counts. While all of them may still be about to send, it is nil, and soon says when that is over; zero when there
// is no unauthenticated connection.
func (l *Limiter) oldest() (one *connection, soon time.Duration) {
	now := time.Now()
	for e := l.silent.Front(); e != nil; {
		one, _ := e.Value.(*connection)
		e = e.Next()
		switch wait := one.safe.Sub(now); {
		case hasAsked(one.Conn):
			l.put(one, &l.asking)
		case wait <= 0:
			return one, 0
		case soon == 0 || wait < soon:
			soon = wait
		}
	}
	if soon > 0 || l.asking.Len() == 0 {
		return nil, soon
	}
	one, _ = l.asking.Front().Value.(*connection)
	return one, 0
}

// evict closes a connection. Its handler notices; nothing was promised to it.
func (l *Limiter) evict(one *connection) {
	_ = one.Close()
	l.drop(one)
}

// makeRoom closes an unauthenticated connection, when the process can have no more descriptors. It reports whether
// there was one.
func (l *Limiter) makeRoom() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	oldest, soon := l.oldest()
	if oldest == nil && soon > 0 {
		oldest, _ = l.silent.Front().Value.(*connection)
	}
	if oldest != nil {
		l.evict(oldest)
	}
	return oldest != nil
}

// put moves an unauthenticated connection among others, as the youngest of them. Nil says that its sender is known.
func (l *Limiter) put(one *connection, among *list.List) {
	if one.among != nil {
		one.among.Remove(one.place)
	}
	if one.among, one.place = among, nil; among != nil {
		one.place = among.PushBack(one)
	}
}

// asks notes that the sender of a request has sent all of its headers.
func (l *Limiter) asks(ctx context.Context) { l.move(ctx, &l.asking) }

// known notes that the sender of a request has shown who they are: their connection is not closed for others.
func (l *Limiter) known(ctx context.Context) { l.move(ctx, nil) }

func (l *Limiter) move(ctx context.Context, among *list.List) {
	one, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if one.among != nil && one.among != among {
		l.put(one, among)
	}
}

// changed implements http.Server.ConnState: connections leave, or have been answered.
func (l *Limiter) changed(conn net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one, ok := l.all[connOf(conn)]
	switch {
	case !ok:
	case state == http.StateClosed, state == http.StateHijacked:
		l.drop(one)
	case state == http.StateActive: // something has come: a moment shows whether it is a whole request
		if soon := time.Now().Add(graceTime / 10); soon.After(one.safe) {
			one.safe = soon
		}
	case state == http.StateIdle && one.among != nil:
		l.put(one, &l.silent)
	}
}

// drop forgets a connection. The lock is held.
func (l *Limiter) drop(one *connection) {
	delete(l.all, one.Conn)
	l.put(one, nil)
}

// limited accepts connections also when there is no descriptor left: an unauthenticated one is closed for it.
type limited struct {
	net.Listener
	limiter *Limiter
}

// Accept implements net.Listener.
func (l limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		switch {
		case err == nil && l.limiter.admit(conn, queueOf(l.Listener) >= longQueue):
			return conn, nil
		case err != nil && (!outOfDescriptors(err) || !l.limiter.makeRoom()):
			return nil, err
		}
	}
}
