package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrMalformed is what Decode returns, wrapped, for bytes that are no frame.
var ErrMalformed = errors.New("malformed frame")

// Encode writes a frame as one WebSocket message: the header on one line, and the payload, if there is one, after it.
// The payload is copied as it is. An error means that a RawMessage in the frame is not JSON.
func Encode(f Frame, payload json.RawMessage) ([]byte, error) {
	fields, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encode %s frame: %w", f.Kind(), err)
	}
	kind := f.Kind()
	size := len(`{"type":"",`) + len(kind) + len(fields)
	if payload != nil {
		size += 1 + len(payload)
	}
	out := make([]byte, 0, size)
	out = append(out, `{"type":"`...)
	out = append(out, kind...)
	out = append(out, '"')
	if len(fields) > len(`{}`) {
		out = append(out, ',')
	}
	out = append(out, fields[1:]...)
	if payload != nil {
		out = append(out, '\n')
		out = append(out, payload...)
	}
	return out, nil
}

// Decode reads a frame. The payload is a slice of message, nil when there is none; it is not looked into.
// A frame of an unknown type is an Unknown, not an error.
func Decode(message []byte) (f Frame, payload json.RawMessage, err error) {
	header := message
	if end := bytes.IndexByte(message, '\n'); end >= 0 {
		header, payload = message[:end], message[end+1:]
	}
	kind, err := kindOf(header)
	if err != nil {
		return nil, nil, err
	}
	empty, known := kinds[kind]
	if !known {
		return &Unknown{Type: string(kind)}, payload, nil
	}
	if len(header) > readHeaderBytes && !isList(kind) {
		return nil, nil, fmt.Errorf("%w: the header of %s has %d bytes", ErrMalformed, kind, len(header))
	}
	f = empty()
	if err := json.Unmarshal(header, f); err != nil {
		return nil, nil, fmt.Errorf("%w: %s: %w", ErrMalformed, kind, err)
	}
	if err := f.check(); err != nil {
		return nil, nil, fmt.Errorf("%w: %s: %w", ErrMalformed, kind, err)
	}
	return f, payload, nil
}

// isList reports whether a header of that kind may fill a frame.
func isList(kind Kind) bool {
	switch kind {
	case "tabs", "plugins", "ask", "ack":
		return true
	}
	return false
}

// kindOf finds the type of a header. Every sender we know writes it first, which saves reading the header twice.
func kindOf(header []byte) (Kind, error) {
	const prefix = `{"type":"`
	if bytes.HasPrefix(header, []byte(prefix)) {
		rest := header[len(prefix):]
		if end := bytes.IndexByte(rest, '"'); end >= 0 && bytes.IndexByte(rest[:end], '\\') < 0 {
			return Kind(rest[:end]), nil
		}
	}
	var only struct {
		Type *string `json:"type"`
	}
	if err := json.Unmarshal(header, &only); err != nil {
		return "", fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if only.Type == nil {
		return "", fmt.Errorf("%w: it has no type", ErrMalformed)
	}
	return Kind(*only.Type), nil
}
