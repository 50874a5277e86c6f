package provider

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// maxEvent is how long a line of a stream may be, and all lines of one event; maxStream is that of the whole answer.
const (
	maxEvent  = 8 << 20
	maxStream = 64 << 20
)

// The errors of reading a stream, besides those of its connection.
var (
	errGarbage = errors.New("sent something that is not its protocol")
	errPage    = errors.New("answered with a web page")
	errCut     = io.ErrUnexpectedEOF // the connection was closed before the stream was complete
)

// stream reads server-sent events. A server that does not stream answers with one JSON object: that is one event.
type stream struct {
	lines *bufio.Scanner
	whole []byte // the object of a server that does not stream

	marked bool // its end came: a mark, or that of the object
}

func newStream(body io.Reader) (*stream, error) {
	r := bufio.NewReader(io.LimitReader(body, maxStream))
	s := &stream{}
	for {
		first, err := r.Peek(1)
		switch {
		case errors.Is(err, io.EOF):
			return nil, errCut
		case err != nil:
			return nil, err
		case bytes.ContainsAny(first, " \t\r\n\xef\xbb\xbf"):
			_, _ = r.Discard(1)
			continue
		case first[0] == '<':
			return nil, errPage
		case first[0] == '{' || first[0] == '[':
			s.whole, err = io.ReadAll(r)
			return s, err
		}
		s.lines = bufio.NewScanner(r)
		s.lines.Buffer(make([]byte, 0, 4096), maxEvent)
		return s, nil
	}
}

// next returns the data of the next event, and io.EOF after the last. An event that the end of the stream cut counts
// when it is whole nevertheless: not every server ends it with an empty line.
func (s *stream) next() (data []byte, err error) {
	if s.lines == nil {
		data, s.whole = s.whole, nil
		if data == nil {
			return nil, io.EOF
		}
		s.marked = true
		return data, nil
	}
	for s.lines.Scan() {
		line := s.lines.Bytes()
		if len(line) == 0 {
			if data != nil {
				return data, nil
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) != "data" { // comments, and names of events: the data has its type
			continue
		}
		if data != nil {
			data = append(data, '\n')
		}
		if data = append(data, bytes.TrimPrefix(value, []byte(" "))...); len(data) > maxEvent {
			return nil, errGarbage
		}
	}
	switch err := s.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, errGarbage
	case err != nil:
		return nil, err
	case data == nil:
		return nil, io.EOF
	case json.Valid(data) || string(data) == doneMarker:
		return data, nil
	}
	return nil, errCut
}

// doneMarker ends a stream of Chat Completions.
const doneMarker = "[DONE]"

// each decodes the events of a stream into T until f says that the last has come, or the stream ends.
func each[T any](s *stream, f func(*T) (last bool, err error)) error {
	for {
		data, err := s.next()
		if string(data) == doneMarker {
			s.marked = true
			return nil
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		event := new(T)
		if json.Unmarshal(data, event) != nil {
			return errGarbage
		}
		if last, err := f(event); last || err != nil {
			return err
		}
	}
}
