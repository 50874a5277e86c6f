package rawjson

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"
)

// mostDeep is how deep encoding/json lets a document nest.
const mostDeep = 10_000

// Valid reports what json.Valid does: whether doc is JSON (RFC 8259), invalid UTF-8 in strings being let pass. It reads
// the inside of strings eight bytes at a time, which makes it several times as fast for large documents.
func Valid(doc json.RawMessage) bool {
	p := parser{doc: doc}
	p.document()
	return !p.bad
}

// Inspect tells of a document, in one pass, whether Valid holds, how deep its arrays and objects nest, and whether one
// of its objects has a member that Harmless would leave out.
func Inspect(doc json.RawMessage) (valid bool, depth int, harmful bool) {
	p := parser{doc: doc}
	p.document()
	return !p.bad, p.deepest, p.harmful
}

// What Decode fails with.
var (
	ErrInvalid = errors.New("not valid JSON")
	ErrRange   = errors.New("a number is too large")
)

// Decode returns what json.Unmarshal makes of doc for an any, faster for the same reason. It copies what it returns.
func Decode(doc json.RawMessage) (value any, err error) {
	p := parser{doc: doc, build: true}
	value = p.document()
	switch {
	case p.bad:
		return nil, ErrInvalid
	case p.beyond:
		return nil, ErrRange
	}
	return value, nil
}

// parser reads a document once, from its beginning to its end or to what is wrong with it.
type parser struct {
	doc    []byte
	at     int
	depth  int
	build  bool // values are wanted
	bad    bool // it is not JSON; the values mean nothing
	beyond bool // a number has no float64

	deepest int
	harmful bool // an object has a member that is left out of results
}

func (p *parser) document() any {
	p.at = space(p.doc, 0)
	value := p.value()
	if p.at = space(p.doc, p.at); p.at != len(p.doc) {
		p.bad = true
	}
	return value
}

// value reads the value at the cursor.
func (p *parser) value() any {
	switch c := p.peek(); c {
	case '{':
		return p.object()
	case '[':
		return p.array()
	case '"':
		if raw, plain := p.quoted(); p.build && !p.bad {
			return unquote(raw, plain)
		}
		return nil
	case 't':
		p.literal("true")
		return true
	case 'f':
		p.literal("false")
		return false
	case 'n':
		p.literal("null")
		return nil
	}
	return p.number()
}

// peek is the byte at the cursor, 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.doc) {
		return p.doc[p.at]
	}
	return 0
}

// enter takes the bracket at the cursor. more is false when the other one follows at once.
func (p *parser) enter(end byte) (more bool) {
	if p.depth++; p.depth > mostDeep {
		p.bad = true
		return false
	}
	p.deepest = max(p.deepest, p.depth)
	p.at = space(p.doc, p.at+1)
	if p.peek() != end {
		return true
	}
	p.at++
	p.depth--
	return false
}

// next takes the comma after a value. more is false when the end was there instead, or neither.
func (p *parser) next(end byte) (more bool) {
	if p.bad {
		return false
	}
	p.at = space(p.doc, p.at)
	switch p.peek() {
	case ',':
		p.at = space(p.doc, p.at+1)
		return true
	case end:
		p.at++
		p.depth--
	default:
		p.bad = true
	}
	return false
}

func (p *parser) object() any {
	var members map[string]any
	if p.build {
		members = map[string]any{}
	}
	for more := p.enter('}'); more; more = p.next('}') {
		key, plain := p.quoted()
		p.at = space(p.doc, p.at)
		if p.bad || p.peek() != ':' {
			p.bad = true
			return nil
		}
		p.harmful = p.harmful || harmfulKey(key, plain)
		p.at = space(p.doc, p.at+1)
		value := p.value()
		if p.build && !p.bad {
			members[unquote(key, plain)] = value
		}
	}
	return members
}

func (p *parser) array() any {
	items := []any{}
	for more := p.enter(']'); more; more = p.next(']') {
		if item := p.value(); p.build {
			items = append(items, item)
		}
	}
	return items
}

func (p *parser) literal(word string) {
	if len(p.doc)-p.at < len(word) || string(p.doc[p.at:p.at+len(word)]) != word {
		p.bad = true
		return
	}
	p.at += len(word)
}

// quoted reads a string and returns it with its quotes. plain says that nothing in it is escaped.
func (p *parser) quoted() (raw json.RawMessage, plain bool) {
	if p.peek() != '"' {
		p.bad = true
		return nil, false
	}
	plain = true
	for i := p.at + 1; ; plain = false {
		if i = Plain(p.doc, i); i >= len(p.doc) {
			break
		}
		if p.doc[i] == '"' {
			raw = p.doc[p.at : i+1]
			p.at = i + 1
			return raw, plain
		}
		n := Escape(p.doc[i:])
		if n == 0 {
			break
		}
		i += n
	}
	p.bad = true
	return nil, false
}

// Plain returns where, from i on, the first quote, backslash or control character stands. Many bytes at a time: most of
// a large document is the inside of strings.
func Plain(doc []byte, i int) int {
	for ; i+32 <= len(doc); i += 32 {
		d := doc[i : i+32]
		one, two := binary.LittleEndian.Uint64(d), binary.LittleEndian.Uint64(d[8:])
		three, four := binary.LittleEndian.Uint64(d[16:]), binary.LittleEndian.Uint64(d[24:])
		if (special(one)|special(two)|special(three)|special(four))&0x8080808080808080 != 0 {
			break
		}
	}
	for ; i < len(doc); i++ {
		if c := doc[i]; c == '"' || c == '\\' || c < 0x20 {
			return i
		}
	}
	return i
}

// special has a high bit set when one of eight bytes is a quote, a backslash or a control character.
func special(word uint64) uint64 {
	const ones = 0x0101010101010101
	quote, slash := word^(ones*'"'), word^(ones*'\\')
	return (quote-ones)&^quote | (slash-ones)&^slash | (word-ones*0x20)&^word
}

// Escape returns the length of the escape sequence that doc begins with, 0 when it is none.
func Escape(doc []byte) int {
	if len(doc) < 2 || doc[0] != '\\' {
		return 0
	}
	switch doc[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(doc) < 6 {
			return 0
		}
		for _, c := range doc[2:6] {
			if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
				return 0
			}
		}
		return 6
	}
	return 0
}

func (p *parser) number() any {
	end := Number(p.doc, p.at)
	if end == p.at {
		p.bad = true
		return nil
	}
	start := p.at
	p.at = end
	if !p.build {
		return nil
	}
	n, err := strconv.ParseFloat(string(p.doc[start:end]), 64)
	if err != nil {
		p.beyond = true
	}
	return n
}

// Number returns the end of the number that starts at i; i when there is none.
func Number(doc []byte, i int) int {
	start := i
	if i < len(doc) && doc[i] == '-' {
		i++
	}
	whole := i
	if i = digits(doc, i); i == whole || doc[whole] == '0' && i > whole+1 {
		return start
	}
	if i < len(doc) && doc[i] == '.' {
		fraction := i + 1
		if i = digits(doc, fraction); i == fraction {
			return start
		}
	}
	if i < len(doc) && doc[i]|0x20 == 'e' {
		i++
		if i < len(doc) && (doc[i] == '+' || doc[i] == '-') {
			i++
		}
		exponent := i
		if i = digits(doc, i); i == exponent {
			return start
		}
	}
	return i
}

func digits(doc []byte, i int) int {
	for i < len(doc) && isDigit(doc[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// unquote decodes a string of a valid document.
func unquote(raw json.RawMessage, plain bool) string {
	if inner := raw[1 : len(raw)-1]; plain && utf8.Valid(inner) {
		return string(inner)
	}
	var decoded string
	if json.Unmarshal(raw, &decoded) != nil {
		return string(raw)
	}
	return decoded
}
