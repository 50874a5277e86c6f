package relay

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"tabrelay/relay/fault"
)

const (
	// bodyTime is how long a sender may take for the body of a request. On this machine it takes a moment.
	bodyTime = 30 * time.Second

	// headerTime is how long it may take for the headers.
	headerTime = 10 * time.Second

	// maxTarget bounds path and query of a request, in bytes.
	maxTarget = 8 << 10

	// maxHeaders bounds all headers of a request, in bytes.
	maxHeaders = 64 << 10
)

// bounded refuses requests whose target is too long, and gives the body a size and an end.
func bounded(maxBody int, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.RequestURI) > maxTarget {
			refuse(w, http.StatusRequestURITooLong, fault.New(fault.InvalidRequest, "The address of the request is too long",
				fault.WithHint("Send what is long in the body.")))
			return
		}
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Now().Add(bodyTime)) // both listeners can; a connection that ended says so when it is read
		// One byte more than the handlers allow, so that it is they who say that a body is too large.
		body := &timedBody{ReadCloser: http.MaxBytesReader(w, r.Body, int64(maxBody)+1), done: func() { _ = control.SetReadDeadline(time.Time{}) }}
		inner := r.WithContext(r.Context()) // the server looks at its own request's body to see whether the rest is worth reading
		inner.Body = body
		next.ServeHTTP(w, inner)
	})
}

// timedBody lifts the deadline when the body is over: afterwards the same connection is watched for its end, for as long
// as the answer takes.
type timedBody struct {
	io.ReadCloser
	done func()
	once sync.Once
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.once.Do(b.done)
	}
	return n, err
}
