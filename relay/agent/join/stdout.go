package join

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"
)

// The process ends after maxInvalid invalid messages within invalidWindow: a client that misses replies cannot tell
// which ones, and a new process may do better.
const (
	maxInvalid    = 3
	invalidWindow = time.Minute
	// bytes of a message up to which it is parsed as JSON; of longer ones only the ends are checked
	maxParsed = 64 << 10
)

// ErrInvalidOutput ends a conversation whose own output was invalid too often. The command line exits with 2 for it.
var ErrInvalidOutput = errors.New("tabrelay mcp was about to write 3 messages to stdout within a minute that are not " +
	"MCP; " +
	"it ended instead of confusing its client")

// MessageWriter is the one writer of a client's stdout. Each Write is one message with its line feed; what is not valid
// (UTF-8, one line, JSON) never reaches the client. It belongs to one goroutine.
type MessageWriter struct {
	To  io.Writer
	Log zerolog.Logger

	invalidAt []time.Time // of the last maxInvalid messages that were dropped
}

// Write passes one message on. A dropped message counts as written until there were too many.
func (w *MessageWriter) Write(message []byte) (int, error) {
	problem := InvalidMessage(message)
	if problem == "" {
		return w.To.Write(message)
	}
	now := time.Now()
	w.invalidAt = append(w.invalidAt, now)
	w.invalidAt = w.invalidAt[max(0, len(w.invalidAt)-maxInvalid):]
	w.Log.Error().Int("bytes", len(message)).Str("problem", problem).Msg("an invalid message for stdout was dropped")
	if len(w.invalidAt) == maxInvalid && now.Sub(w.invalidAt[0]) <= invalidWindow {
		return 0, ErrInvalidOutput
	}
	return len(message), nil
}

// InvalidMessage says why a line is no message for a client on stdio, empty when it is one.
func InvalidMessage(message []byte) string {
	text, ok := bytes.CutSuffix(message, []byte("\n"))
	switch {
	case !ok:
		return "it has no line feed at its end"
	case bytes.ContainsAny(text, "\n\r"):
		return "it has a line break inside"
	case !utf8.Valid(text):
		return "it is not UTF-8"
	case !bytes.HasPrefix(text, []byte("{")) && !bytes.HasPrefix(text, []byte("[{")),
		len(text) <= maxParsed && !json.Valid(text):
		return "it is neither a JSON object nor an array of them"
	}
	return ""
}

// readTimeout is how long a client may leave a notification unread before the next message is written all the same. On
// a busy machine a client may read nothing for a second.
const readTimeout = 5 * time.Second

var notificationStart = []byte(`{"jsonrpc":"2.0","method":"notifications/`)

// PacedWriter writes messages to a client's end of a pipe. After a notification it writes only notifications until the
// client has read them, or readTimeout has passed: the official TypeScript clients handle a response before the
// notifications of the same read, and then drop those. It belongs to one goroutine.
type PacedWriter struct {
	to       *os.File
	unread   func(*os.File) (bytes int, known bool)
	notified bool // the last message was a notification, and may not have been read
}

// NewPacedWriter paces what is written to a pipe or socket. Where the system does not tell what was read, nothing
// waits.
func NewPacedWriter(to *os.File) *PacedWriter { return &PacedWriter{to: to, unread: unread} }

// Write writes one message with its line feed.
func (w *PacedWriter) Write(message []byte) (int, error) {
	notifies := bytes.HasPrefix(message, notificationStart)
	if w.notified && !notifies {
		w.awaitRead()
	}
	w.notified = notifies
	return w.to.Write(message)
}

func (w *PacedWriter) awaitRead() {
	pause := 50 * time.Microsecond
	for began := time.Now(); time.Since(began) < readTimeout; pause = min(2*pause, 2*time.Millisecond) {
		if left, known := w.unread(w.to); !known || left == 0 {
			return
		}
		time.Sleep(pause)
	}
}
