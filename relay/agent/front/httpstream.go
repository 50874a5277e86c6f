package front

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
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
		notAcceptable(w, nil)
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
	notes := s.peer.listener.notes
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
		case <-s.peer.listener.outbox.wake:
			if ctx.Err() != nil { // the same
				s.peer.listener.outbox.signal()
				return
			}
			for _, l := range s.peer.listener.outbox.drain() {
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

// httpOutlet is the way back on one HTTP response: plain JSON, or an event stream from the first notification on.
type httpOutlet struct {
	w         http.ResponseWriter
	modern    bool
	streams   bool // the client accepts an event stream
	streaming bool // it has begun
	finished  bool
}

func (o *httpOutlet) responseDelay() time.Duration { return 0 }

func (o *httpOutlet) asks() bool { return o.streams }

// send writes one notification, or a comment when it is nil. A client that cannot read a stream gets none.
func (o *httpOutlet) send(note []byte) error {
	if !o.streams {
		return nil
	}
	o.begin()
	return writeEvent(o.w, note)
}

func (o *httpOutlet) begin() {
	if !o.streaming {
		beginStream(o.w)
		o.streaming = true
	}
}

func (o *httpOutlet) finish(r response) error {
	o.finished = true
	if o.streaming {
		return writeEvent(o.w, r.body)
	}
	status := http.StatusOK
	if o.modern {
		status = statusOf(r.code)
	}
	return writeJSON(o.w, status, r)
}

// end closes the response of a request that was cancelled: an event stream without the response is how HTTP says
// nothing.
func (o *httpOutlet) end() {
	if !o.finished && o.streams {
		o.begin()
	}
}

// statusOf is the HTTP status that the modern era has for a JSON-RPC error.
func statusOf(code int) int {
	switch code {
	case mcp.METHOD_NOT_FOUND:
		return http.StatusNotFound
	case mcp.HEADER_MISMATCH, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, mcp.UNSUPPORTED_PROTOCOL_VERSION,
		mcp.INVALID_REQUEST, mcp.INVALID_PARAMS, mcp.PARSE_ERROR:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

func beginStream(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	limitWrite(w)
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
}

// writeEvent writes one message as one event with one Write; nil becomes a comment.
func writeEvent(w http.ResponseWriter, message []byte) error {
	const before, after = "event: message\ndata: ", "\n\n"
	event := []byte(": \n\n")
	if message != nil {
		event = append(make([]byte, 0, len(before)+len(message)+len(after)), before...)
		event = append(append(event, message...), after...)
	}
	limitWrite(w)
	if _, err := w.Write(event); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// writeTime is how long a client may take nothing of what is written to it, before its connection is ended. A session
// whose client has only stopped reading would be in use without end.
const writeTime = 30 * time.Second

func limitWrite(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime)) // where there is none, it can wait
}

func writeJSON(w http.ResponseWriter, status int, r response) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(r.body)))
	limitWrite(w)
	w.WriteHeader(status)
	_, err := w.Write(r.body)
	return err
}
