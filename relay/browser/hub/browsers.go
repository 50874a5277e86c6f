package hub

import (
	"slices"
	"sync/atomic"
	"time"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// browser is one profile, connected or not. It outlives its connections, because its calls do.
type browser struct {
	hub       *Hub
	id        string        // of the profile
	idle      chan struct{} // closed when the hub closes and no call is open
	attaching chan struct{} // one slot: a handshake decides whose connection counts

	about atomic.Pointer[wire.Hello] // of the last connection; nil: none to this relay
	// when the person said that the profile is not used any more; nil: they did not
	forgotten atomic.Pointer[time.Time]

	tabs atomic.Pointer[tabSet]

	mu    lock.Mutex
	calls calls // accessed only in update and peek
}

func newBrowser(h *Hub, id string) *browser {
	b := &browser{hub: h, id: id, idle: make(chan struct{}), attaching: make(chan struct{}, 1)}
	b.calls.open = map[call.ID]*flight{}
	b.calls.commands = map[call.ID]chan *wire.Reply{}
	b.tabs.Store(new(tabSet))
	return b
}

func (h *Hub) all() []*browser { return *h.browsers.Load() }

// find returns the browser of a profile, or nil.
func (h *Hub) find(profileID string) *browser {
	for _, b := range *h.browsers.Load() {
		if b.id == profileID {
			return b
		}
	}
	return nil
}

// browserOf returns the browser of a profile and makes it when it is new.
func (h *Hub) browserOf(profileID string) *browser {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b := h.find(profileID); b != nil {
		return b
	}
	b := newBrowser(h, profileID)
	list := append(slices.Clone(h.all()), b)
	h.browsers.Store(&list)
	return b
}

// Forget lists a profile no more, until it connects again. One that is connected is not forgotten; ok is false then.
func (h *Hub) Forget(profileID string) (ok bool) {
	b := h.find(profileID)
	if b == nil {
		return true
	}
	if b.connected() {
		return false
	}
	now := time.Now()
	b.forgotten.Store(&now)
	return true
}

// label is what people call the profile.
func (b *browser) label() string {
	if hello := b.about.Load(); hello != nil && hello.Profile.Label != "" {
		return hello.Profile.Label
	}
	return b.id[:min(8, len(b.id))]
}

// at is the option that says where a call ran.
func (b *browser) at(tabID int) fault.Option { return fault.WithTab(tabID, b.label()) }

// tell sends a frame when the browser is connected.
func (b *browser) tell(frame []byte) {
	b.peek(func(s *calls) {
		if s.conn != nil {
			s.conn.queue.putAlways(frame)
		}
	})
}

// shut ends the connection, waits until its run has returned, and lets go of the calls that are still open. The
// journal is not told about those: the next relay finds them there, and asks again.
func (b *browser) shut() {
	var c *conn
	b.peek(func(s *calls) { c = s.conn })
	if c != nil {
		c.stop(closeGoingAway, "the relay is going away")
		<-c.ended
	}
	b.update(func(s *calls) {
		if s.giveUp != nil {
			s.giveUp.Stop()
		}
		s.shut = true
		for _, f := range s.open {
			s.end(f, nil, fault.New(fault.ExtensionLost, "The relay shut down while the call ran", b.at(f.tabID),
				fault.WithOutcome(fault.Unknown)))
		}
	})
}

func (b *browser) connected() (yes bool) {
	b.peek(func(s *calls) { yes = s.conn != nil })
	return yes
}

// lastSeen is when the browser was connected last; zero when it never was.
func (b *browser) lastSeen() (at time.Time) {
	b.peek(func(s *calls) {
		if at = s.disconnectedAt; s.conn != nil {
			at = time.Now()
		}
	})
	return at
}

// presence is whether a browser can take calls.
type presence int

const (
	gone    presence = iota // and not expected
	onWay                   // it was here a moment ago, or has not told its tabs yet
	present                 // connected, tabs known
)

// candidate is one browser at the moment of routing.
type candidate struct {
	b    *browser
	conn *conn
	is   presence
}

// candidates lists the browsers that ever connected, or whose calls an earlier relay left open.
func (h *Hub) candidates() []candidate {
	all := *h.browsers.Load()
	list := make([]candidate, 0, len(all))
	for _, b := range all {
		c := candidate{b: b}
		var left time.Time
		b.peek(func(s *calls) { c.conn, left = s.conn, s.disconnectedAt })
		switch {
		case c.conn != nil && c.conn.ready.Load():
			c.is = present
		case c.conn == nil && h.ended(b):
		case c.conn != nil, !left.IsZero() && time.Since(left) <= recently, left.IsZero() && h.starting():
			c.is = onWay
		}
		list = append(list, c)
	}
	return list
}

// starting reports whether browsers that knew an earlier relay may still be on their way to this one.
func (h *Hub) starting() bool {
	return (len(h.cfg.Known) > 0 || len(h.all()) > 0) && time.Since(h.started) <= recently
}

// knew reports whether a profile of this id or name was connected to an earlier relay.
func (h *Hub) knew(profile string) bool {
	return slices.ContainsFunc(h.cfg.Known, func(k call.Profile) bool { return k.ID == profile || k.Label == profile })
}

// ended reports whether the process of a browser is known to have ended.
func (h *Hub) ended(b *browser) bool { return h.cfg.BrowserEnded != nil && h.cfg.BrowserEnded(b.id) }

// withPresence filters. Nearly always all browsers are present, and then nothing is copied.
func withPresence(list []candidate, want presence) []candidate {
	other := func(c candidate) bool { return c.is != want }
	if !slices.ContainsFunc(list, other) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), other)
}

// news wakes who waits for a browser to connect, or for one of its tabs to change.
type news struct {
	mu       lock.Mutex
	next     chan struct{} // closed, and replaced, when something changed; nil while nobody waits
	waitEnds time.Time     // until when calls wait for browsers that knew an earlier relay; zero: none has yet
}

// Changed returns a channel that is closed when Resolve may answer something else.
func (h *Hub) Changed() <-chan struct{} {
	n := &h.news
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next == nil {
		n.next = make(chan struct{})
	}
	return n.next
}

// changed wakes everyone who waits.
func (n *news) changed() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next != nil {
		close(n.next)
		n.next = nil
	}
}

// patience is how long a call waits from now on for the browsers that are on their way. The first call of an outage
// begins the wait, and those after it have what is left of it: whoever calls again and again does not wait each time.
func (h *Hub) patience() (rest time.Duration) {
	now := time.Now()
	left := func(ends *time.Time) {
		if ends.IsZero() {
			*ends = now.Add(h.cfg.ReconnectWait)
		}
		rest = max(rest, ends.Sub(now))
	}
	expected := false
	for _, c := range h.candidates() {
		if c.is == onWay {
			expected = true
			c.b.update(func(s *calls) { left(&s.waitEnds) })
		}
	}
	if !expected { // browsers of an earlier relay
		h.news.mu.Lock()
		defer h.news.mu.Unlock()
		left(&h.news.waitEnds)
	}
	return rest
}
