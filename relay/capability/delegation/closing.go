package delegation

import (
	"maps"
	"strings"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
)

// Close ends a session of a client. It may be called for one that does not exist.
func (s *Sessions) Close(asker call.Session, id string, why Reason) {
	if e, failure := s.find(asker, id); failure == nil {
		s.end(e, why, errCancelled)
	}
}

// Stop ends a session for the person, and reports whether there was one.
func (s *Sessions) Stop(id string) bool {
	return s.endAll(Stopped, fault.New(fault.Cancelled, "The person stopped the agent", fault.WithRetryable(false),
		fault.WithHint("Do not delegate the errand again unless the person asks for it.")),
		func(e *entry) bool { return e.ID == id }) > 0
}

// SessionEnded ends the sessions of a client without a name that left: those that its attachment created, or a session
// inside it. Those of a client with a name wait for its next connection, until they expire; what one was doing for a
// call ends with that. What is delegated as a whole ends with its call, which goes on without the client where it is a
// task of MCP. SessionEnded does not wait for them.
func (s *Sessions) SessionEnded(sessionID string) {
	s.endAll(ClientLeft, errCancelled, func(e *entry) bool {
		rest, inside := strings.CutPrefix(e.Asker.ID, sessionID)
		return !e.once && e.Asker.Client == call.Unnamed && inside && (rest == "" || strings.HasPrefix(rest, "/"))
	})
}

// Shutdown ends all sessions, and lets no others begin.
func (s *Sessions) Shutdown() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.endAll(RelayStopping, fault.New(fault.ShuttingDown, "The relay stopped before the errand was done"),
		func(*entry) bool { return true })
	s.ending.Wait()
}

// endAll begins to end the sessions that which picks, all at once.
func (s *Sessions) endAll(why Reason, cause error, which func(*entry) bool) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.open {
		if e.opened && e.closing == "" && which(e) {
			e.closing = why
			s.ending.Go(func() { s.closeEntry(e, cause) })
			n++
		}
	}
	return n
}

// end closes a session, unless somebody does already. cause is why a prompt ends that is under way; nil: none is.
func (s *Sessions) end(e *entry, why Reason, cause error) {
	s.mu.Lock()
	mine := e.closing == ""
	if mine {
		e.closing = why
	}
	s.mu.Unlock()
	if mine {
		s.closeEntry(e, cause)
	}
}

// closeEntry ends a session that is closing. The prompt under way, if there is one, ends with the cause, and the agent
// hears of the end when it has come back from it.
func (s *Sessions) closeEntry(e *entry, cause error) {
	s.mu.Lock()
	busy := e.state == StateBusy
	if e.expiry != nil {
		e.expiry.Stop()
	}
	s.mu.Unlock()
	if busy {
		s.interrupt(e, cause)
		return
	}
	s.finishClosing(e)
}

// finishClosing closes a session that is not busy, once.
func (s *Sessions) finishClosing(e *entry) {
	s.mu.Lock()
	done := e.finished
	e.finished = true
	s.mu.Unlock()
	if done {
		return
	}
	s.closeAgent(e, e.closing)
	s.remove(e)
	s.forget(e)
	s.options.Left(e.Acts.ID)
	s.tell(e, "closed a session with the agent "+e.AgentID, map[string]any{"reason": string(e.closing)})
}

// remove forgets a session.
func (s *Sessions) remove(e *entry) {
	s.mu.Lock()
	delete(s.open, e.ID)
	open := len(s.open)
	s.mu.Unlock()
	s.options.Meter.AgentSessions(open)
	s.options.Changed()
}

// armExpiry lets a session end by itself when nobody uses it. It is called while mu is held.
func (s *Sessions) armExpiry(e *entry) {
	left := min(s.limits.Idle, s.limits.TTL-time.Since(e.Created))
	e.expiry = time.AfterFunc(max(left, 0), func() { s.expire(e) })
}

// expire ends a session, unless it has become busy meanwhile.
func (s *Sessions) expire(e *entry) {
	s.mu.Lock()
	if e.state == StateBusy || e.closing != "" || e.expiry == nil {
		s.mu.Unlock()
		return
	}
	e.closing = Expired
	s.mu.Unlock()
	s.finishClosing(e)
}

// tell tells who listens to events what happened to a session.
func (s *Sessions) tell(e *entry, what string, data map[string]any) {
	all := map[string]any{"agent": e.AgentID, "agentSession": e.ID}
	maps.Copy(all, data)
	s.options.Events(event.Of(e.Asker), event.Session, e.Asker.Client+" "+what, all)
	s.options.Changed()
}
