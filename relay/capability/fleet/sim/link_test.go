//go:build unix

package sim

import (
	"net"
	"sync"
	"testing"
	"time"
)

// link is a way from a member of the fleet to a NATS server. It can be cut, held so that nothing passes and nobody is
// told, or slow.
type link struct {
	to    string
	inner net.Listener

	mu    sync.Mutex
	open  map[net.Conn]struct{}
	cut   bool
	held  chan struct{} // closed when it is held no more; nil: it is not held
	delay time.Duration
}

func newLink(t testing.TB, to string) *link {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &link{to: to, inner: l, open: map[net.Conn]struct{}{}}
	go k.serve()
	t.Cleanup(func() {
		_ = l.Close() // nobody connects any more
		k.hold(false)
		k.breakOff(true)
	})
	return k
}

func (k *link) address() string { return k.inner.Addr().String() }

func (k *link) serve() {
	for {
		in, err := k.inner.Accept()
		if err != nil {
			return
		}
		go k.connect(in)
	}
}

func (k *link) connect(in net.Conn) {
	out, err := net.Dial("tcp", k.to)
	k.mu.Lock()
	if err != nil || k.cut {
		k.mu.Unlock()
		_ = in.Close() // as a network does
		if out != nil {
			_ = out.Close()
		}
		return
	}
	k.open[in], k.open[out] = struct{}{}, struct{}{}
	k.mu.Unlock()
	go k.pass(in, out)
	k.pass(out, in)
}

// pass passes on what comes, until one side ends.
func (k *link) pass(to, from net.Conn) {
	defer func() {
		_ = to.Close() // the other way ends, too
		_ = from.Close()
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.open, to)
		delete(k.open, from)
	}()
	buffer := make([]byte, 256<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		k.mu.Lock()
		held, delay := k.held, k.delay
		k.mu.Unlock()
		if held != nil {
			<-held
		}
		if delay > 0 {
			<-time.After(delay)
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// breakOff cuts the link, or mends it.
func (k *link) breakOff(cut bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cut = cut
	for conn := range k.open {
		if cut {
			_ = conn.Close() // its ways end
		}
	}
}

// hold lets nothing pass, or what came meanwhile and everything after it.
func (k *link) hold(hold bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case hold && k.held == nil:
		k.held = make(chan struct{})
	case !hold && k.held != nil:
		close(k.held)
		k.held = nil
	}
}

func (k *link) slow(delay time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.delay = delay
}
