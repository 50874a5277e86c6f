package front

import (
	"net/http"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// httpOutlet is the way back on one HTTP response: plain JSON, or an event stream from the first notification on.
type httpOutlet struct {
	w         http.ResponseWriter
	modern    bool
	streams   bool // the client accepts an event stream
	streaming bool // it has begun
	finished  bool
}

func (o *httpOutlet) settle() time.Duration { return 0 }

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
	if _, err := w.Write(event); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

func writeJSON(w http.ResponseWriter, status int, r response) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(r.body)))
	w.WriteHeader(status)
	_, err := w.Write(r.body)
	return err
}

func writeText(w http.ResponseWriter, status int, text string) {
	http.Error(w, text, status)
}
