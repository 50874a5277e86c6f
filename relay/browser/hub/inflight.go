package hub

import (
	"time"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

const (
	// orphanTime is how long a write that its caller gave up may take to report its end.
	orphanTime = time.Minute

	// tabGoneTime is how long the extension may take to say how the calls of a closed tab ended.
	tabGoneTime = time.Second
)

// calls are the calls in flight to one browser, with the connection that they go over.
type calls struct {
	open           map[call.ID]*flight
	commands       map[call.ID]chan *wire.Reply // one slot each
	conn           *conn                        // nil: the browser is away
	connectedAt    time.Time                    // when conn was attached
	disconnectedAt time.Time                    // when the last connection ended; zero: there was none
	waitEnds       time.Time                    // until when calls wait for its return; zero: none has waited
	closing        bool                         // no new calls are accepted
	shut           bool                         // ends of calls are no longer journalled

	giveUpAt time.Time   // when calls that are still recovering count as lost
	giveUp   *time.Timer // nil until something had to recover

	notices []wire.Notice // the last ones

	ended []*flight // journalled calls that the present update has ended
}

// flight is one call that was sent, or is about to be.
type flight struct {
	id     call.ID
	req    *call.Invocation // nil: a call of an earlier relay
	write  bool             // it is in the journal
	tabID  int
	epoch  string // it was sent under
	sent   time.Time
	queued time.Time // its frame; zero where nobody measures

	reported chan struct{} // one slot: there are reports
	done     chan struct{} // closed when reply or failure stand

	// Guarded by browser.mu.
	recovering bool // the link it was sent over is gone, and the extension has not said what became of it
	abandoned  bool // nobody waits for it any more
	started    bool // the extension said so
	ended      bool
	reports    []report
	timing     *call.Timing // nil: nobody measures, or the extension does not

	reply   *call.Reply
	failure *fault.Error
}

// update changes calls under the lock; nothing else may. Afterwards it closes the connection if the last call of a
// closing hub has ended, and journals the calls that ended.
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
		b.hub.journalEnd(f.id, f.reply, f.failure)
		close(f.done)
	}
}

// peek reads calls under the lock.
func (b *browser) peek(look func(*calls)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	look(&b.calls)
}

// end sets the result of a call, once. The caller of a journalled call is woken after it is journalled.
func (s *calls) end(f *flight, reply *call.Reply, failure *fault.Error) {
	if f.ended {
		return
	}
	f.ended, f.reply, f.failure = true, reply, failure
	delete(s.open, f.id)
	if f.write && !s.shut {
		s.ended = append(s.ended, f)
	} else {
		close(f.done)
	}
}

// enqueueCall queues a call's frame on the connection that was chosen for it. With a failure, the frame has not been
// sent and never will be.
func (b *browser) enqueueCall(f *flight, over *conn, frame []byte) (failure *fault.Error) {
	b.update(func(s *calls) {
		switch {
		case s.closing:
			failure = fault.New(fault.ShuttingDown, "The relay is shutting down and takes no new calls")
		case s.conn != over:
			failure = neverSent(b)
		case s.open[f.id] != nil:
			failure = fault.New(fault.InternalError, "A call with the same id is already running",
				fault.WithOutcome(fault.NotExecuted))
		case !over.queue.put(frame, false):
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

// noteStarted notes that a call has started, and tells its caller.
func (b *browser) noteStarted(id call.ID) {
	var open *flight
	b.peek(func(s *calls) {
		if open = s.open[id]; open != nil {
			open.started = true
		}
	})
	if open != nil && open.req != nil && open.req.Started != nil {
		open.req.Started()
	}
}

// notifyHidden tells the caller, where told is set, that the page of an open call is not in front.
func (b *browser) notifyHidden(id call.ID, told bool) {
	if !told {
		return
	}
	if open := b.lookup(id); open != nil && open.req != nil && open.req.Hidden != nil {
		open.req.Hidden()
	}
}

// abandon cancels a call whose caller has given up. It reports false when the call has ended meanwhile. A journalled
// call stays open until its outcome is known, so that it can be journalled.
func (b *browser) abandon(f *flight, reason string) (abandoned bool) {
	b.update(func(s *calls) {
		if f.ended {
			return
		}
		abandoned = true
		f.abandoned = true
		if s.conn != nil {
			s.conn.queue.putAlways(mustEncode(&wire.Cancel{ID: f.id, Reason: reason}))
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

// addReport queues a report for the caller of a call.
func (b *browser) addReport(id call.ID, one report) {
	b.peek(func(s *calls) {
		f := s.open[id]
		if f == nil || f.abandoned || f.req == nil || len(f.reports) >= maxReports && !one.step {
			return
		}
		if len(f.reports) >= maxReports { // the newest progress is the one that counts
			f.reports[len(f.reports)-1] = one
		} else {
			f.reports = append(f.reports, one)
		}
		select {
		case f.reported <- struct{}{}:
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
