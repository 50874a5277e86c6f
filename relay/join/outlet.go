package join

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"
)

// The rule for one's own output: so many bad messages within this time, and the process gives up. A client that is
// sent nonsense cannot tell which answer is missing, and a new process may do better.
const (
	corruptMost   = 3
	corruptWithin = time.Minute
	checkedWhole  = 64 << 10 // bytes of a message up to which it is parsed; longer ones are only looked through
)

// ErrCorrupt ends a conversation whose own output was bad too often. The command line exits with 2 for it.
var ErrCorrupt = errors.New("tabrelay mcp was about to write 3 messages to stdout within a minute that are not MCP; it ended instead of confusing its client")

// Outlet is the one writer of a client's stdout. What it is given is one message with its line feed; what is no such
// thing (UTF-8, one line, JSON) never reaches the client. It belongs to one goroutine.
type Outlet struct {
	To  io.Writer
	Log zerolog.Logger

	bad []time.Time // the last times something was held back
}

// Write passes one message on. A message that is held back counts as written until there were too many.
func (o *Outlet) Write(message []byte) (int, error) {
	problem := Malformed(message)
	if problem == "" {
		return o.To.Write(message)
	}
	now := time.Now()
	o.bad = append(o.bad, now)
	o.bad = o.bad[max(0, len(o.bad)-corruptMost):]
	o.Log.Error().Int("bytes", len(message)).Str("problem", problem).Msg("a message for stdout was held back")
	if len(o.bad) == corruptMost && now.Sub(o.bad[0]) <= corruptWithin {
		return 0, ErrCorrupt
	}
	return len(message), nil
}

// Malformed says why a line is no message for a client on stdio, empty when it is one.
func Malformed(message []byte) string {
	text, ok := bytes.CutSuffix(message, []byte("\n"))
	switch {
	case !ok:
		return "it has no line feed at its end"
	case bytes.ContainsAny(text, "\n\r"):
		return "it has a line break inside"
	case !utf8.Valid(text):
		return "it is not UTF-8"
	case !bytes.HasPrefix(text, []byte("{")) && !bytes.HasPrefix(text, []byte("[{")) || len(text) <= checkedWhole && !json.Valid(text):
		return "it is neither a JSON object nor an array of them"
	}
	return ""
}
