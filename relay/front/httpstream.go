package front

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// stream is a GET request that stays open: where a legacy client hears of changes.
type stream struct{ end context.CancelFunc }

// getStream serves one. There is one for each session: a newer one ends the one before, which the client may have lost
// without our knowing.
func (f *Front) getStream(w http.ResponseWriter, r *http.Request) {
	s := f.session(w, r, nil)
	if s == nil {
		return
	}
	if !accepts(r, "text/event-stream") {
		writeText(w, http.StatusNotAcceptable, "The client must accept text/event-stream")
		return
	}
	ctx, end := context.WithCancel(r.Context())
	defer end()
	defer context.AfterFunc(f.closing, end)()
	l := &stream{end}
	if !s.attach(l) {
		return
	}
	defer s.detach(l)
	beginStream(w)
	s.tellChanges(ctx, w)
}

// attach makes l the stream of the session, unless the session has ended.
func (s *httpSession) attach(l *stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	if s.stream != nil {
		s.stream.end()
	}
	s.stream = l
	return true
}

func (s *httpSession) detach(l *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == l {
		s.stream = nil
	}
	s.used = time.Now()
}

// tellChanges writes what mcp-go tells this client, until ctx ends or the client is gone.
func (s *httpSession) tellChanges(ctx context.Context, w http.ResponseWriter) {
	notes := s.party.client.notes
	quiet := time.NewTicker(keepAlive)
	defer quiet.Stop()
	for {
		var err error
		select {
		case n := <-notes:
			if ctx.Err() != nil { // a newer stream must tell it
				select {
				case notes <- n:
				default:
				}
				return
			}
			err = writeEvent(w, encoded(n))
		case <-s.party.client.box.wake:
			if ctx.Err() != nil { // the same
				s.party.client.box.ring()
				return
			}
			for _, l := range s.party.client.box.take() {
				err = errors.Join(err, writeEvent(w, l.encode(nil)))
			}
		case <-quiet.C:
			err = writeEvent(w, nil)
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}
