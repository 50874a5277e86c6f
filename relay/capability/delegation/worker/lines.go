package worker

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	acp "github.com/coder/acp-go-sdk"

	"tabrelay/relay/lib/lazyregexp"
)

const (
	// maxLine bounds one message of a program, in bytes. acp.Connection ends at a line of 10 MiB.
	maxLine = 10<<20 - 1<<10

	// keptOfLine is how much of the beginning and of the end of a longer one is kept, to see what it answers.
	keptOfLine = 4 << 10
)

// line is a line of a program's output, without its end. Of one that is too long there are only both ends.
type line struct {
	text []byte
	tail []byte // not nil: it was too long
}

// readLines reads the lines of a program until its output ends. What each gets is its own only until it returns.
func readLines(r io.Reader, each func(line)) {
	in := bufio.NewReaderSize(r, 64<<10)
	var l line
	for {
		part, err := in.ReadSlice('\n')
		l.add(part)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if l.tail != nil {
			l.tail = l.tail[max(0, len(l.tail)-keptOfLine):]
		}
		if l.text = bytes.TrimSpace(l.text); len(l.text) > 0 {
			each(l)
		}
		if err != nil {
			return // however it ended, nothing more comes
		}
		if l.text, l.tail = l.text[:0], nil; cap(l.text) > 1<<20 {
			l.text = nil
		}
	}
}

func (l *line) add(part []byte) {
	if l.tail == nil && len(l.text)+len(part) <= maxLine {
		l.text = append(l.text, part...)
		return
	}
	if l.tail == nil {
		l.tail = append([]byte{}, l.text[max(0, len(l.text)-keptOfLine):]...)
		l.text = append([]byte{}, l.text[:min(len(l.text), keptOfLine)]...)
	}
	l.tail = append(l.tail, part...)
	l.tail = l.tail[max(0, len(l.tail)-keptOfLine):]
}

// message is what a line says, as far as it matters here. It is read as acp.Connection reads it.
type message struct {
	ID     *json.RawMessage  `json:"id"`
	Method string            `json:"method"`
	Params json.RawMessage   `json:"params"`
	Error  *acp.RequestError `json:"error"`
}

// read returns what a line says. answers is the request that a line was to answer which is no message; empty: none.
func (l *line) read() (m message, answers, problem string) {
	if l.tail != nil {
		return m, l.answered(), "it is longer than 10 MiB"
	}
	err := json.Unmarshal(l.text, &m)
	switch {
	case err != nil:
		var id struct {
			ID     *json.RawMessage `json:"id"`
			Method any              `json:"method"`
		}
		if json.Unmarshal(l.text, &id) == nil && id.ID != nil && id.Method == nil {
			return m, string(*id.ID), "it is an answer without a form"
		}
		return m, "", "it is not a message"
	case m.ID == nil && m.Method == "":
		return m, "", "it is not a message"
	}
	return m, "", ""
}

// idAtEnd is the id of an answer that says it last.
var idAtEnd = lazyregexp.New(`"id"\s*:\s*(\d+)\s*\}\s*$`)

// answered is the request that a line answers which is too long; empty: none, as far as both its ends say.
func (l *line) answered() string {
	decoder := json.NewDecoder(bytes.NewReader(l.text))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return ""
	}
	for {
		name, err := decoder.Token()
		if err != nil || name == "method" {
			return ""
		}
		if name == "id" {
			var id json.RawMessage
			if decoder.Decode(&id) != nil {
				return ""
			}
			return string(id)
		}
		var skipped json.RawMessage
		if decoder.Decode(&skipped) != nil { // the long member
			break
		}
	}
	if found := idAtEnd.FindSubmatch(l.tail); found != nil {
		return string(found[1])
	}
	return ""
}
