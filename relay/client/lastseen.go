package client

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/google/renameio/v2/maybe"

	"tabrelay/relay/config"
	"tabrelay/relay/lock"
)

// writeEvery is how often it is written down when clients were seen last. It is not worth more: what is lost in a crash
// is a minute.
const writeEvery = time.Minute

// LastSeen remembers when each client was here last. It has a file of its own: secrets.json is written only when a
// secret changes.
type LastSeen struct {
	path string

	mu      lock.Mutex
	at      map[string]time.Time
	dirty   bool
	written time.Time
	writing sync.WaitGroup

	file lock.Mutex // taken before mu
}

// ReadLastSeen reads what was written down last.
func ReadLastSeen(home config.Home) (*LastSeen, error) {
	s := &LastSeen{path: home.ClientsSeen(), at: map[string]time.Time{}}
	return s, config.ReadState(s.path, &s.at)
}

// Note notes that a client is here now. It is called for every request.
func (s *LastSeen) Note(client string) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.at[client]
	s.at[client], s.dirty = now, true
	if !known || now.Sub(s.written) >= writeEvery {
		s.written = now
		s.writing.Go(func() { _ = s.write() }) // the next one tries again
	}
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
	defer s.mu.Unlock()
	for client := range s.at {
		if !holds(client) {
			delete(s.at, client)
			s.dirty = true
		}
	}
}

// write writes down what has changed. Nobody who comes in waits for the disk.
func (s *LastSeen) write() error {
	s.file.Lock()
	defer s.file.Unlock()
	s.mu.Lock()
	rounded := make(map[string]time.Time, len(s.at))
	for client, at := range s.at {
		rounded[client] = at.UTC().Truncate(time.Second)
	}
	dirty := s.dirty
	s.dirty = false
	s.mu.Unlock()
	if !dirty {
		return nil
	}
	text, err := json.MarshalIndent(rounded, "", "  ")
	if err == nil {
		err = maybe.WriteFile(s.path, append(text, '\n'), 0o600)
	}
	return err
}

// Close writes down what is not yet.
func (s *LastSeen) Close() error {
	s.writing.Wait()
	return s.write()
}
