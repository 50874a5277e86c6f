package client

import (
	"context"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/state/store"
)

// writeEvery is how often it is written down when a client was seen last. It is not worth more: what is lost in a crash
// is a minute.
const writeEvery = time.Minute

// LastSeen remembers when each client was here last.
type LastSeen struct {
	store *store.Store

	mu      lock.Mutex
	at      map[string]time.Time
	written map[string]time.Time // of these, what the store has
}

// OpenLastSeen reads what was written down last.
func OpenLastSeen(ctx context.Context, s *store.Store) (*LastSeen, error) {
	at, err := s.ClientsSeen(ctx)
	return &LastSeen{store: s, at: at, written: map[string]time.Time{}}, err
}

// Note notes that a client is here now. It is called for every request.
func (s *LastSeen) Note(client string) {
	now := time.Now()
	if s.note(client, now) {
		s.store.ClientSeen(client, now)
	}
}

// note reports whether it is time to write it down.
func (s *LastSeen) note(client string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at[client] = now
	if now.Sub(s.written[client]) < writeEvery {
		return false
	}
	s.written[client] = now
	return true
}

// At is when a client was here last; zero: never.
func (s *LastSeen) At(client string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[client]
}

// Forget leaves out the clients that are gone.
func (s *LastSeen) Forget(holds func(client string) bool) {
	s.mu.Lock()
	var gone []string
	for client := range s.at {
		if !holds(client) {
			delete(s.at, client)
			delete(s.written, client)
			gone = append(gone, client)
		}
	}
	s.mu.Unlock()
	for _, client := range gone {
		s.store.ForgetClient(client)
	}
}

// Close writes down what is not yet, before the store is closed.
func (s *LastSeen) Close() {
	s.mu.Lock()
	last := map[string]time.Time{}
	for client, written := range s.written {
		if at := s.at[client]; at.After(written) {
			last[client], s.written[client] = at, at
		}
	}
	s.mu.Unlock()
	for client, at := range last {
		s.store.ClientSeen(client, at)
	}
}
