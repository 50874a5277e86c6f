package hub

import (
	"sync"
	"sync/atomic"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/wire"
)

const (
	// orphanTime is how long a write that its caller gave up may take to report its end.
	orphanTime = time.Minute

	// tabGoneTime is how long the extension may take to say how the calls of a closed tab ended.
	tabGoneTime = time.Second
)

// browser is one profile, connected or not. It outlives its connections, because its calls do.
type browser struct {
	hub  *Hub
	id   string        // of the profile
	idle chan struct{} // closed when the hub closes and no call is open
	door chan struct{} // one slot: a handshake decides whose connection counts

	about atomic.Pointer[wire.Hello] // of the last connection; nil: none to this relay
	tabs  atomic.Pointer[tabSet]

	mu    sync.Mutex
	calls calls // accessed only in update and peek
}

// calls is what is in flight to one browser, and the connection it goes over.
type calls struct {
	open     map[call.ID]*flight
	commands map[call.ID]chan *wire.Reply // one slot each
	conn     *conn                        // nil: the browser is away
	since    time.Time                    // when conn was attached
	left     time.Time                    // when the last connection ended; zero: there was none
	waitEnds time.Time                    // until when calls wait for its return; zero: none has waited
	closing  bool                         // nothing new is let in
	shut     bool                         // the journal is told nothing more

	giveUpAt time.Time   // when calls that are still recovering count as lost
	giveUp   *time.Timer // nil until something had to recover

	notices []wire.Notice // the last ones

	ended []*flight // journalled calls that the change under way has ended
}

// flight is one call that was sent, or is about to be.
type flight struct {
	id    call.ID
	req   *call.Invocation // nil: a call of an earlier relay
	write bool             // it is in the journal
	tabID int
	epoch string // it was sent under
	sent  time.Time

	mail chan struct{} // one slot: there are letters
	done chan struct{} // closed when reply or failure stand

	// Guarded by browser.mu.
	recovering bool // the link it was sent over is gone, and the extension has not said what became of it
	abandoned  bool // nobody waits for it any more
	over       bool
	letters    []letter

	reply   *call.Reply
	failure *fault.Error
}

func newBrowser(h *Hub, id string) *browser {
	b := &browser{hub: h, id: id, idle: make(chan struct{}), door: make(chan struct{}, 1)}
	b.calls.open = map[call.ID]*flight{}
	b.calls.commands = map[call.ID]chan *wire.Reply{}
	b.tabs.Store(new(tabSet))
	return b
}

// update is the only way to change what is in flight. After every change it decides whether the connection is
// finished, and then tells the journal about the calls that ended.
func (b *browser) update(change func(*calls)) {
	b.mu.Lock()
	s := &b.calls
	change(s)
	if s.closing && len(s.open) == 0 {
		select {
		case <-b.idle:
		default:
			close(b.idle)
		}
		if s.conn != nil {
			s.conn.stop(closeGoingAway, "the relay is going away")
		}
	}
	ended := s.ended
	s.ended = nil
	b.mu.Unlock()
	for _, f := range ended {
		b.hub.record(f.id, f.reply, f.failure)
		close(f.done)
	}
}

// peek reads what is in flight.
func (b *browser) peek(look func(*calls)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	look(&b.calls)
}

// end gives a call its result, once. Its caller is woken when the journal knows.
func (s *calls) end(f *flight, reply *call.Reply, failure *fault.Error) {
	if f.over {
		return
	}
	f.over, f.reply, f.failure = true, reply, failure
	delete(s.open, f.id)
	if f.write && !s.shut {
		s.ended = append(s.ended, f)
	} else {
		close(f.done)
	}
}

// launch sends a call's frame over the connection that was chosen for it. It reports why not, if not: then the frame
// has not left and never will.
func (b *browser) launch(f *flight, over *conn, frame []byte) (failure *fault.Error) {
	b.update(func(s *calls) {
		switch {
		case s.closing:
			failure = fault.New(fault.ShuttingDown, "The relay is shutting down and takes no new calls")
		case s.conn != over:
			failure = neverSent(b)
		case s.open[f.id] != nil:
			failure = fault.New(fault.InternalError, "A call with the same id is already running", fault.WithOutcome(fault.NotExecuted))
		case !over.queue.push(frame):
			failure = fault.New(fault.Overloaded, "The browser does not take calls as fast as they come",
				fault.WithRetryAfter(time.Second))
		default:
			s.open[f.id] = f
		}
	})
	return failure
}

// lookup returns an open call, or nil.
func (b *browser) lookup(id call.ID) (f *flight) {
	b.peek(func(s *calls) { f = s.open[id] })
	return f
}

// abandon lets go of a call whose caller gave up: the page is told to abort it. It reports false when the call has
// ended meanwhile. A journalled call stays open until its end is known, so that the journal will know it too.
func (b *browser) abandon(f *flight, reason string) (abandoned bool) {
	b.update(func(s *calls) {
		if f.over {
			return
		}
		abandoned = true
		f.abandoned = true
		if s.conn != nil {
			s.conn.queue.insist(mustEncode(&wire.Cancel{ID: f.id, Reason: reason}))
		}
		if !f.write {
			s.end(f, nil, abandonedFault(b, f))
			return
		}
		time.AfterFunc(orphanTime, func() {
			b.update(func(s *calls) { s.end(f, nil, lostFault(b, f, "")) })
		})
	})
	return abandoned
}

// post gives a letter to the caller of a call.
func (b *browser) post(id call.ID, l letter) {
	b.peek(func(s *calls) {
		f := s.open[id]
		if f == nil || f.abandoned || f.req == nil || len(f.letters) >= maxLetters && !l.step {
			return
		}
		if len(f.letters) >= maxLetters { // the newest progress is the one that counts
			f.letters[len(f.letters)-1] = l
		} else {
			f.letters = append(f.letters, l)
		}
		select {
		case f.mail <- struct{}{}:
		default:
		}
	})
}

// tabGone ends the calls of a closed tab, unless the extension says first how they ended.
func (b *browser) tabGone(tabID int) {
	var there []*flight
	b.peek(func(s *calls) {
		for _, f := range s.open {
			if f.tabID == tabID {
				there = append(there, f)
			}
		}
	})
	if len(there) == 0 {
		return
	}
	time.AfterFunc(tabGoneTime, func() {
		b.update(func(s *calls) {
			for _, f := range there {
				if !f.recovering {
					s.end(f, nil, closedFault(b, f, "The tab was closed before the tool ended", fault.Unknown))
				}
			}
		})
	})
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
			s.conn.queue.insist(frame)
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
			s.end(f, nil, fault.New(fault.ExtensionLost, "The relay shut down while the call ran", b.at(f.tabID), fault.WithOutcome(fault.Unknown)))
		}
	})
}
