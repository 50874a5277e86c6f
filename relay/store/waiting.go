package store

import (
	"context"
	"sync"

	"tabrelay/relay/call"
)

// mostWaiting is how many bytes of results may wait in memory until they are written. A result that comes on top of
// that is written while its call waits.
const mostWaiting = 32 << 20

// waiting are results that can be read already and are still to be written, so that no answer waits for the disk.
type waiting struct {
	mu      sync.Mutex
	results []call.StoredResult // in their order; the first is being written
	bytes   int
	writing chan struct{} // closed when all are written; nil while there are none
	failing bool          // the last one could not be written, so the next call hears how it goes
	closed  bool
}

// postpone takes a result to be written later, and reports whether it did.
func (s *Store) postpone(r call.StoredResult) bool {
	w := &s.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.failing || w.bytes+len(r.Data) > mostWaiting {
		return false
	}
	w.results, w.bytes = append(w.results, r), w.bytes+len(r.Data)
	if w.writing == nil {
		w.writing = make(chan struct{})
		go s.writeWaiting()
	}
	return true
}

// writeWaiting writes the results that wait until none is left.
func (s *Store) writeWaiting() {
	w := &s.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.results) > 0 {
		r := w.results[0]
		w.mu.Unlock()
		err := s.writeResult(context.Background(), r)
		if err != nil {
			s.log.Warn().Err(err).Str("id", r.ID).Msg("a result that an agent was told of is lost")
		}
		w.mu.Lock()
		w.results[0] = call.StoredResult{}
		w.results, w.bytes, w.failing = w.results[1:], w.bytes-len(r.Data), err != nil
	}
	close(w.writing)
	w.results, w.writing = nil, nil
}

// find returns a result that is not written yet.
func (w *waiting) find(id string) (r call.StoredResult, found bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.results {
		if r.ID == id {
			return r, true
		}
	}
	return call.StoredResult{}, false
}

// wrote notes that the disk takes results again.
func (w *waiting) wrote() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failing = false
}

// close takes no more results and waits until those that wait are written.
func (w *waiting) close() {
	w.mu.Lock()
	w.closed = true
	writing := w.writing
	w.mu.Unlock()
	if writing != nil {
		<-writing
	}
}
