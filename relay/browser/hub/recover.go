package hub

import (
	"context"
	"encoding/json"
	"time"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// attach makes a connection the browser's. Every call sent over an earlier one is recovering: the extension sends the
// outcomes it still holds, and is asked about each.
func (b *browser) attach(c *conn) {
	b.update(func(s *calls) {
		s.conn, s.connectedAt = c, time.Now()
		s.drop()
		if len(s.open) == 0 {
			return
		}
		ask := &wire.Ask{}
		for _, f := range s.open {
			f.recovering = true
			ask.Calls = append(ask.Calls, wire.Asked{ID: f.id, TabID: f.tabID})
		}
		c.queue.putAlways(mustEncode(ask))
		s.expect(b)
	})
}

// lose notes that a connection has ended. The calls sent over it wait for the browser to come back.
func (b *browser) lose(c *conn, err error) {
	lost := false
	b.update(func(s *calls) {
		if s.conn != c {
			return // replaced already
		}
		lost = true
		s.conn, s.disconnectedAt = nil, time.Now()
		s.drop()
		for _, f := range s.open {
			f.recovering = true
		}
		if len(s.open) > 0 {
			s.expect(b)
		}
	})
	c.log.Info().Err(err).Int("code", CloseCode(err)).Bool("replaced", !lost).Msg("browser disconnected")
	if lost {
		b.hub.countBrowsers()
		b.hub.news.changed()
		b.hub.emit(Event{Kind: Disconnected, ProfileID: b.id, Profile: b.label()})
		b.hub.tabNews(TabNews{ProfileID: b.id})
	}
}

// drop fails what cannot survive a connection: the commands.
func (s *calls) drop() {
	for id, answer := range s.commands {
		delete(s.commands, id)
		answer <- nil
	}
}

// lookEvery is how often a browser that is expected back is looked at: its process may have ended.
const lookEvery = 200 * time.Millisecond

// expect sets the time by which recovering calls are known or lost.
func (s *calls) expect(b *browser) {
	s.giveUpAt = time.Now().Add(b.hub.cfg.ReconnectWait)
	if s.giveUp == nil {
		s.giveUp = time.AfterFunc(lookEvery, b.giveUpLost)
	} else {
		s.giveUp.Reset(lookEvery)
	}
}

// giveUpLost ends the calls nobody knows anything about, when it is time or when their browser has ended.
func (b *browser) giveUpLost() {
	ended := b.hub.ended(b)
	b.update(func(s *calls) {
		ended := ended && s.conn == nil
		recovering := 0
		for _, f := range s.open {
			if !f.recovering {
				continue
			}
			switch {
			case ended:
				s.end(f, nil, endedFault(b, f))
			case time.Now().Before(s.giveUpAt):
				recovering++
			default:
				s.end(f, nil, lostFault(b, f, ""))
			}
		}
		if recovering > 0 {
			s.giveUp.Reset(min(lookEvery, time.Until(s.giveUpAt)))
		}
	})
}

// state takes the extension's word on a recovering call, as far as it proves anything.
func (b *browser) state(st *wire.State) {
	b.update(func(s *calls) {
		f := s.open[st.ID]
		if f == nil || !f.recovering {
			return
		}
		switch {
		case st.State == wire.Running:
			f.recovering = false
			// Its caller gave it up meanwhile. One that an earlier relay sent has no caller here, and may yet be asked
			// for.
			if f.abandoned && f.req != nil && s.conn != nil {
				s.conn.queue.putAlways(mustEncode(&wire.Cancel{ID: f.id, Reason: "client"}))
			}
		case st.State == wire.Finished: // its outcome follows
		case st.State == wire.NotStarted && f.started && f.write: // it contradicts itself
			s.end(f, nil, lostFault(b, f, st.Reason))
		case st.State == wire.NotStarted && st.Epoch == f.epoch:
			s.end(f, nil, neverStarted(b, f))
		default:
			s.end(f, nil, lostFault(b, f, st.Reason))
		}
	})
}

// fail ends an open call whose outcome cannot be used, and acknowledges that outcome.
func (b *browser) fail(id call.ID, because func(*browser, *flight) *fault.Error) {
	b.update(func(s *calls) {
		if f := s.open[id]; f != nil {
			s.end(f, nil, because(b, f))
			if s.conn != nil {
				s.conn.queue.ack(id)
			}
		}
	})
}

// adoptOpenCalls makes the calls that an earlier relay left open wait for their browsers.
func (h *Hub) adoptOpenCalls(ctx context.Context) {
	records, err := h.cfg.Journal.OpenCalls(ctx)
	if err != nil {
		// Each is answered as unknown when somebody asks for it: the safe answer.
		h.cfg.Log.Error().Err(err).Msg("the open calls of the last run could not be read from the journal")
		return
	}
	for _, r := range records {
		f := &flight{
			id: r.ID, write: true, tabID: r.TabID, epoch: r.Epoch, sent: r.Dispatched, recovering: true,
			done: make(chan struct{}),
		}
		b := h.browserOf(r.ProfileID)
		b.update(func(s *calls) {
			s.open[f.id] = f
			s.expect(b)
		})
		h.cfg.Journal.RecordEnd(r.ID, call.Recovering, nil, nil)
	}
	if len(records) > 0 {
		h.cfg.Log.Info().Int("calls", len(records)).Msg("asking the browsers about calls of the last run")
	}
}

// FindOutcome finds the end of a call that an earlier relay, or an earlier attachment of its client, may have sent. It
// waits while that is being found out. known is false when the call was never journalled, and so no write was sent.
func (h *Hub) FindOutcome(ctx context.Context, id call.ID) (reply *call.Reply, failure *fault.Error, known bool) {
	for _, b := range h.all() {
		f := b.lookup(id)
		if f == nil || !f.write {
			continue
		}
		select {
		case <-f.done:
			return f.reply, f.failure, true
		case <-ctx.Done():
			return nil, abandonedFault(b, f), true
		}
	}
	r, found, err := h.cfg.Journal.Find(ctx, id)
	switch {
	case err != nil:
		return nil, fault.New(fault.ExtensionLost, "The journal could not be read, so the outcome of the call is "+
			"unknown",
			fault.WithOutcome(fault.Unknown), fault.WithCause(err)), true
	case !found:
		return nil, nil, false
	}
	reply, failure = h.recall(r)
	return reply, failure, true
}

// recall is how a journalled call ended.
func (h *Hub) recall(r call.Record) (*call.Reply, *fault.Error) {
	at := fault.WithTab(r.TabID, h.labelOf(r.ProfileID))
	if failure := unpack(r.Failure); failure != nil {
		return nil, failure
	}
	switch {
	case r.State == call.Executed && len(r.Output) > 0:
		return &call.Reply{Output: r.Output, TabID: r.TabID, ProfileID: r.ProfileID, Profile: h.labelOf(r.ProfileID)},
			nil
	case r.State == call.Executed:
		return nil, fault.New(fault.OutputTooLarge, "The tool has run, but its result was too large to keep while "+
			"the relay restarted", at,
			fault.WithHint("The action has happened: do not repeat it. Read the page to see its effect."))
	case r.State == call.NotExecuted:
		return nil, fault.New(fault.ExtensionLost, "The tool never started", at, fault.WithOutcome(fault.NotExecuted),
			fault.WithRetryable(true))
	}
	return nil, fault.New(fault.ExtensionLost, "The relay restarted after the call was sent, and its end could not "+
		"be learned", at,
		fault.WithOutcome(fault.Unknown))
}

func (h *Hub) labelOf(profileID string) string {
	if b := h.find(profileID); b != nil {
		return b.label()
	}
	return ""
}

// packed is a failure as the journal keeps it: with the one fact about it that no client is shown.
type packed struct {
	*fault.Error
	FromPage bool `json:"fromPage,omitempty"`
}

func pack(failure *fault.Error) json.RawMessage {
	raw, err := json.Marshal(packed{failure, failure.FromPage})
	if err != nil {
		return nil
	}
	return raw
}

func unpack(raw json.RawMessage) *fault.Error {
	if len(raw) == 0 {
		return nil
	}
	p := packed{Error: &fault.Error{}}
	if json.Unmarshal(raw, &p) != nil || p.Error == nil || p.Code == "" {
		return nil
	}
	p.Error.FromPage = p.FromPage
	return p.Error
}

// lateOutcome is the end of a call that is not open any more.
type lateOutcome struct {
	b       *browser
	id      call.ID
	reply   *call.Reply
	failure *fault.Error
}

// lateOutcome counts an answer nobody waits for, and has the journal learn it. It is acknowledged when that is done;
// when too many come at once, the rest come again with the next connection.
func (h *Hub) lateOutcome(b *browser, o *wire.Outcome, payload json.RawMessage) {
	h.cfg.Meter.LateAnswer()
	late := lateOutcome{b: b, id: o.ID}
	late.reply, late.failure = b.decodeOutcome(&flight{id: o.ID}, o, payload)
	select {
	case h.late <- late:
	default:
	}
}

// settleLate looks late outcomes up in the journal. A call that counted as unknown gets its true end; any other end
// stays as it is.
func (h *Hub) settleLate(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case late := <-h.late:
			r, found, err := h.cfg.Journal.Find(ctx, late.id)
			if err != nil {
				continue // not acknowledged: it comes again
			}
			open := r.State == call.Unknown || r.State == call.Dispatched || r.State == call.Recovering
			if found && r.ProfileID == late.b.id && open {
				h.journalEnd(late.id, late.reply, late.failure)
			}
			late.b.peek(func(s *calls) {
				if s.conn != nil {
					s.conn.queue.ack(late.id)
				}
			})
		}
	}
}
