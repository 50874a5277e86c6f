package front

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
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
		i = plain(s.text, i)
		if i >= len(s.text) {
			return false
		}
		switch c := s.text[i]; {
		case c == '"':
			s.at = i + 1
			return true
		case c == '\\':
			n := escape(s.text[i:])
			if n == 0 {
				return false
			}
			i += n
		default: // a control character
			return false
		}
	}
}

// plain returns where, from i on, the first quote, backslash or control character stands. Eight bytes at a time: most
// of a large message is the inside of strings.
func plain(text []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		special := (quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w
		if special&highs != 0 {
			break
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c == '"' || c == '\\' || c < 0x20 {
			return i
		}
	}
	return i
}

// escape returns the length of the escape sequence that text begins with, 0 when it is none.
func escape(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(text) < 6 {
			return 0
		}
		for _, c := range text[2:6] {
			if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
				return 0
			}
		}
		return 6
	}
	return 0
}

func (s *scanner) number() bool {
	if s.text[s.at] == '-' {
		s.at++
	}
	switch start := s.at; {
	case s.digits() == 0:
		return false
	case s.text[start] == '0' && s.at > start+1:
		return false
	}
	if s.at < len(s.text) && s.text[s.at] == '.' {
		s.at++
		if s.digits() == 0 {
			return false
		}
	}
	if s.at < len(s.text) && s.text[s.at]|0x20 == 'e' {
		s.at++
		if s.at < len(s.text) && (s.text[s.at] == '+' || s.text[s.at] == '-') {
			s.at++
		}
		return s.digits() > 0
	}
	return true
}

func (s *scanner) digits() int {
	start := s.at
	for s.at < len(s.text) && isDigit(s.text[s.at]) {
		s.at++
	}
	return s.at - start
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
