package join

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"tabrelay/relay/rawjson"
)

// maxAttach bounds the first line of an attachment; pending requests are in it.
const maxAttach = 64 << 20

// Attach is the first line of an attachment: who is asking. The MCP conversation of one client follows it.
type Attach struct {
	Key     string            `json:"key"` // 32 hexadecimal digits, the same for the life of the shim
	Client  string            `json:"client,omitempty"`
	Token   string            `json:"token,omitempty"`
	Toolset string            `json:"toolset,omitempty"`
	Version string            `json:"version"`
	Pending []json.RawMessage `json:"pending,omitempty"` // tool calls that an earlier relay had and did not answer
}

// Answer is the relay's first line. Exactly one member is set.
type Answer struct {
	Attached *Attached `json:"attached,omitempty"`
	Refused  *Refused  `json:"refused,omitempty"`
	Handover *Handover `json:"handover,omitempty"`
}

// Attached says that the conversation may go on.
type Attached struct {
	Version string `json:"version"` // of the relay
	Client  string `json:"client"`  // as the relay knows the client
}

// Handover says that the relay is older than the shim, and ends so that the newer one can take its place.
type Handover struct {
	Version string `json:"version"`
}

// Farewell is the relay's last line when a person stopped it: unlike one that is lost, it is not started again until
// the client wants something.
const Farewell = `{"farewell":{}}` + "\n"

// Refused says why an attachment cannot be served, and what to do. It is an error.
type Refused struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Error is the sentence of the refusal.
func (r *Refused) Error() string { return r.Message }

// errTooLong ends a line that does not end.
var errTooLong = errors.New("the line is too long")

// ReadAttach reads the first line of an attachment.
func ReadAttach(r *bufio.Reader) (a Attach, err error) {
	line, err := readLine(r, maxAttach)
	if err != nil {
		return a, fmt.Errorf("cannot read who attaches: %w", err)
	}
	var first struct {
		Attach *Attach `json:"attach"`
	}
	if err := json.Unmarshal(line, &first); err != nil {
		return a, fmt.Errorf("the first line is not JSON: %w", err)
	}
	if first.Attach == nil || len(first.Attach.Key) != 32 || strings.Trim(first.Attach.Key, "0123456789abcdef") != "" {
		return a, errors.New("the first line has no attach.key of 32 hexadecimal digits")
	}
	return *first.Attach, nil
}

// write sends the line. Requests travel as the exact text the client sent: their ids are looked up by it.
func (a Attach) write(w io.Writer) error {
	return writeLine(w, map[string]Attach{"attach": a})
}

// Write sends the relay's first line.
func (a Answer) Write(w io.Writer) error { return writeLine(w, a) }

func readAnswer(r *bufio.Reader) (a Answer, err error) {
	line, err := readLine(r, 64<<10)
	if err != nil {
		return a, fmt.Errorf("the relay did not answer: %w", err)
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return a, fmt.Errorf("the relay's answer is not JSON: %w", err)
	}
	return a, nil
}

func writeLine(w io.Writer, v any) error {
	line, err := rawjson.Encode(v)
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}

// readLine reads up to and without the line feed. At the end of input it returns what is left with io.EOF. A line
// beyond the limit is returned as far as it was read, with errTooLong.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		case len(line) > limit:
			return line, errTooLong
		}
	}
}
