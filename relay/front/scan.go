package front

import (
	"bytes"
	"encoding/json"

	"tabrelay/relay/rawjson"
)

// maxDepth is how deep a message may nest. It bounds the scanner's stack.
const maxDepth = 1000

// scanner walks JSON text once, checking it and cutting it into pieces without building or copying values: a
// 1 MiB argument is looked at here and handed on as the bytes it came in. Text must be valid UTF-8 already.
type scanner struct {
	text  []byte
	at    int
	depth int
	deep  bool // it nests too deeply, and was given up for that
}

// space skips white space and returns the next byte, or 0 at the end.
func (s *scanner) space() byte {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// value skips one value of any kind and reports whether it is well formed.
func (s *scanner) value() bool {
	switch c := s.space(); {
	case c == '{':
		return s.object(func([]byte) bool { return s.value() })
	case c == '[':
		return s.array()
	case c == '"':
		return s.quoted()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	case c == '-' || isDigit(c):
		return s.number()
	}
	return false
}

// object walks the members of the object at the cursor. For each it calls member with the key as written, without
// quotes, and the cursor on the value; member consumes the value.
func (s *scanner) object(member func(key []byte) bool) bool {
	if s.depth++; s.depth > maxDepth {
		s.deep = true
		return false
	}
	s.at++
	if s.space() == '}' {
		return s.leave()
	}
	for {
		if s.space() != '"' {
			return false
		}
		start := s.at + 1
		if !s.quoted() {
			return false
		}
		key := s.text[start : s.at-1]
		if s.space() != ':' {
			return false
		}
		s.at++
		if s.space(); !member(key) {
			return false
		}
		switch s.space() {
		case ',':
			s.at++
		case '}':
			return s.leave()
		default:
			return false
		}
	}
}

func (s *scanner) array() bool {
	if s.depth++; s.depth > maxDepth {
		s.deep = true
		return false
	}
	s.at++
	if s.space() == ']' {
		return s.leave()
	}
	for s.value() {
		switch s.space() {
		case ',':
			s.at++
		case ']':
			return s.leave()
		default:
			return false
		}
	}
	return false
}

func (s *scanner) leave() bool {
	s.at++
	s.depth--
	return true
}

func (s *scanner) literal(word string) bool {
	if !bytes.HasPrefix(s.text[s.at:], []byte(word)) {
		return false
	}
	s.at += len(word)
	return true
}

// quoted skips the string at the cursor.
func (s *scanner) quoted() bool {
	i := s.at + 1
	for {
		i = rawjson.Plain(s.text, i)
		if i >= len(s.text) {
			return false
		}
		switch c := s.text[i]; {
		case c == '"':
			s.at = i + 1
			return true
		case c == '\\':
			n := rawjson.Escape(s.text[i:])
			if n == 0 {
				return false
			}
			i += n
		default: // a control character
			return false
		}
	}
}

func (s *scanner) number() bool {
	start := s.at
	s.at = rawjson.Number(s.text, s.at)
	return s.at > start
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// unquote decodes a JSON string; ok is false when raw is not one.
func unquote(raw []byte) (text string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	return text, json.Unmarshal(raw, &text) == nil
}
