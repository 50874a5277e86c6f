package demo

import (
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	maxSlow = 10 * time.Minute
	maxBig  = 64 << 20
)

// status answers with the status in the path; ?retryAfter= becomes the Retry-After header as it is.
func status(w http.ResponseWriter, r *http.Request) {
	code, err := strconv.Atoi(r.PathValue("code"))
	if err != nil || code < 200 || code > 599 {
		refuse(w, http.StatusBadRequest, "The status has to be a number from 200 to 599.")
		return
	}
	if after := r.URL.Query().Get("retryAfter"); after != "" {
		w.Header().Set("Retry-After", after)
	}
	if code == http.StatusNoContent || code == http.StatusNotModified {
		w.WriteHeader(code)
		return
	}
	reply(w, code, map[string]any{"status": code, "text": http.StatusText(code)})
}

// slow answers after ?ms= milliseconds, or stops when the caller goes away.
func slow(w http.ResponseWriter, r *http.Request) {
	ms, err := strconv.Atoi(r.URL.Query().Get("ms"))
	wait := time.Duration(ms) * time.Millisecond
	if err != nil || wait < 0 || wait > maxSlow {
		refuse(w, http.StatusBadRequest, "ms has to be a number of milliseconds, ten minutes at most.")
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		answer(w, map[string]int{"waitedMs": ms})
	case <-r.Context().Done():
	}
}

// big answers a text of ?bytes= bytes.
func big(w http.ResponseWriter, r *http.Request) {
	size, err := strconv.Atoi(r.URL.Query().Get("bytes"))
	if err != nil || size < 0 || size > maxBig {
		refuse(w, http.StatusBadRequest, "bytes has to be a number, 64 MiB at most.")
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	const line = "All the tea in this cup is for you. "
	for size > 0 {
		n, err := io.WriteString(w, line[:min(size, len(line))])
		if err != nil {
			return // the caller went away
		}
		size -= n
	}
}
