package relay

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/google/renameio/v2/maybe"

	"tabrelay/relay/config"
)

// seenEvery is how often it is written down when clients were seen last. It is not worth more: what is lost in a crash
// is a minute.
const seenEvery = time.Minute

// seen remembers when each client was here last. It has a file of its own: secrets.json is written only when a secret
// changes.
type seen struct {
	path string

	mu      sync.Mutex
	at      map[string]time.Time
	dirty   bool
	written time.Time
	writing sync.WaitGroup

	file sync.Mutex // taken before mu
}

// ClientsSeen is when each client of a home folder was seen last, as it was written down last.
func ClientsSeen(home config.Home) (map[string]time.Time, error) {
	s := seen{path: home.ClientsSeen()}
	err := s.read()
	return s.at, err
}

func (s *seen) read() error {
	s.at = map[string]time.Time{}
	return config.ReadState(s.path, &s.at)
}

// note notes that a client is here now. It is called for every request.
func (s *seen) note(client string) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		s.at = map[string]time.Time{}
	}
	_, known := s.at[client]
	s.at[client], s.dirty = now, true
	if !known || now.Sub(s.written) >= seenEvery {
		s.written = now
		s.writing.Go(func() { _ = s.write() }) // the next one tries again
	}
}

// last is when a client was here last; zero: never.
func (s *seen) last(client string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[client]
}

// forget leaves out the clients that are gone.
func (s *seen) forget(holds func(client string) bool) {
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
func (s *seen) write() error {
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

// close writes down what is not yet.
func (s *seen) close() error {
	s.writing.Wait()
	if s.path == "" {
		return nil
	}
	return s.write()
}
