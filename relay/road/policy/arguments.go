package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tabrelay/relay/road/fault"
)

// maxNames is of how many members of one object it is noticed that a name comes twice.
const maxNames = 10_000

// item is one name or value of arguments, in the order they were sent.
type item struct {
	depth int
	name  []byte // as sent, with its quotes; nil in a list, and for arguments that are no object
	index int    // in a list, from 1
	again bool   // the name was used before in the same object

	text   []byte // a string as sent, with its quotes; or what is no JSON
	token  string // a number, true, false or null, as sent
	about  string // what it is, where its text does not say so: a list, an object, or not JSON
	secret bool   // the field has a secret name: what follows is only how much it holds
	hides  int
}

// size is how many characters of it an agent wrote.
func (it *item) size() int { return count(it.name) + count(it.text) + len(it.token) + it.hides }

// walk goes through arguments as they were sent, with the values of secret fields or without. Nothing is decoded that a
// person could not see then: numbers keep their digits, names that come twice come twice, and what cannot be read as
// JSON is one text at the end.
func walk(arguments json.RawMessage, secrets bool, visit func(item)) {
	if len(bytes.TrimSpace(arguments)) == 0 {
		return
	}
	w := walker{in: decoder(arguments), secrets: secrets, visit: visit}
	if w.in.PeekKind() == '{' {
		_, w.err = w.in.ReadToken()
		w.members(0)
	} else {
		w.value(item{})
	}
	if w.err == nil {
		_, w.err = w.in.ReadToken() // there is to be nothing more
	}
	if rest := arguments[min(w.in.InputOffset(), int64(len(arguments))):]; !errors.Is(w.err, io.EOF) && len(rest) > 0 {
		visit(item{text: rest, about: "not JSON"})
	}
}

func decoder(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewReader(text), asSent)
}

// asSent lets pass what programs read differently, or not at all.
var asSent = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

type walker struct {
	in      *jsontext.Decoder
	secrets bool
	visit   func(item)
	err     error
}

func (w *walker) members(depth int) {
	seen := map[string]bool{}
	for w.err == nil && w.in.PeekKind() != '}' {
		var name jsontext.Value
		if name, w.err = w.in.ReadValue(); w.err != nil {
			return
		}
		it := item{depth: depth, name: bytes.Clone(name)}
		plain := decoded(it.name)
		it.again = seen[plain]
		if len(seen) < maxNames {
			seen[plain] = true
		}
		if w.secrets || !fault.SecretName(plain) {
			w.value(it)
			continue
		}
		var hidden jsontext.Value
		if hidden, w.err = w.in.ReadValue(); w.err == nil {
			it.secret = true
			walk(json.RawMessage(bytes.Clone(hidden)), true, func(below item) { it.hides += below.size() })
			w.visit(it)
		}
	}
	w.end()
}

func (w *walker) items(depth int) {
	for n := 1; w.err == nil && w.in.PeekKind() != ']'; n++ {
		w.value(item{depth: depth, index: n})
	}
	w.end()
}

func (w *walker) end() {
	if w.err == nil {
		_, w.err = w.in.ReadToken()
	}
}

// value visits the next value, and what is in it.
func (w *walker) value(it item) {
	kind := w.in.PeekKind()
	if kind != '{' && kind != '[' {
		var value jsontext.Value
		if value, w.err = w.in.ReadValue(); w.err != nil {
			return
		}
		if kind == '"' {
			it.text = bytes.Clone(value)
		} else {
			it.token = string(value)
		}
		w.visit(it)
		return
	}
	if _, w.err = w.in.ReadToken(); w.err != nil {
		return
	}
	empty := w.in.PeekKind() == '}' || w.in.PeekKind() == ']'
	it.about = map[jsontext.Kind]string{'{': "object", '[': "list"}[kind]
	if empty {
		it.about = "empty " + it.about
	}
	w.visit(it)
	if kind == '{' {
		w.members(it.depth + 1)
	} else {
		w.items(it.depth + 1)
	}
}

// characters are those of a string as it was sent: what escapes stand for, halves of surrogate pairs as they are, and
// bytes that are no UTF-8 as numbers below 0.
func characters(sent []byte) iter.Seq[rune] {
	escaped := len(sent) > 1 && sent[0] == '"' && sent[len(sent)-1] == '"'
	if escaped {
		sent = sent[1 : len(sent)-1]
	}
	return func(yield func(rune) bool) {
		for i := 0; i < len(sent); {
			r, size := utf8.DecodeRune(sent[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				r = -rune(sent[i])
			case r == '\\' && escaped:
				r, size = unescaped(sent[i:])
			}
			if !yield(r) {
				return
			}
			i += size
		}
	}
}

// unescaped reads an escape, and the one after it where both make one character.
func unescaped(text []byte) (r rune, size int) {
	if len(text) < 2 {
		return '\\', 1
	}
	if text[1] != 'u' {
		if i := strings.IndexByte(`bfnrt`, text[1]); i >= 0 {
			return rune("\b\f\n\r\t"[i]), 2
		}
		return rune(text[1]), 2
	}
	r = hex4(text)
	if utf16.IsSurrogate(r) && len(text) > 6 {
		if both := utf16.DecodeRune(r, hex4(text[6:])); both != utf8.RuneError {
			return both, 12
		}
	}
	return r, 6
}

// hex4 is the unit of an escape that text begins with; U+FFFD if it begins with none.
func hex4(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

func count(sent []byte) (n int) {
	for range characters(sent) {
		n++
	}
	return n
}

// decoded is a name as programs know it.
func decoded(sent []byte) string {
	var b strings.Builder
	for r := range characters(sent) {
		b.WriteRune(r)
	}
	return b.String()
}

// The relay's own words among those of an agent stand in these, and what an agent writes never has them.
const (
	opens  = '⟨'
	closes = '⟩'
)

func note(words string) string { return string(opens) + words + string(closes) }

// Runs of blanks that are longer are counted instead of shown: they would push what follows out of sight.
const (
	maxBreaks = 2
	maxBlanks = 16
)

// maxMarks is how many accents one letter can have; more of them would cover the lines around it.
const maxMarks = 2

// legible writes characters so that each is seen: one that is not, that turns text around, or that could pass for the
// relay's own words is written as its number.
func legible(text []rune) string {
	var b strings.Builder
	marks := 0
	for i := 0; i < len(text); {
		r := text[i]
		run := 1
		for i+run < len(text) && text[i+run] == r {
			run++
		}
		switch {
		case r == '\n' && run > maxBreaks, (r == ' ' || r == '\t') && run > maxBlanks:
			b.WriteString(note(numbered(r) + " × " + strconv.Itoa(run)))
			i += run
			marks = 0
			continue
		case unicode.Is(unicode.M, r):
			marks++
		default:
			marks = 0
		}
		if seen(r) && marks <= maxMarks {
			b.WriteRune(r)
		} else {
			b.WriteString(note(numbered(r)))
		}
		i++
	}
	return b.String()
}

// seen reports whether a person sees a character as what it is.
func seen(r rune) bool {
	switch {
	case r == ' ', r == '\n', r == '\t':
		return true
	case r == opens, r == closes:
		return false
	}
	return r >= 0 && unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r) && !fault.Invisible(r)
}

func numbered(r rune) string {
	if r < 0 {
		return "byte " + strings.ToUpper(strconv.FormatInt(int64(-r), 16))
	}
	digits := strings.ToUpper(strconv.FormatInt(int64(r), 16))
	return "U+" + strings.Repeat("0", max(0, 4-len(digits))) + digits
}

// withoutSecrets is arguments as JSON, without the values of fields with secret names and with every character visible.
func withoutSecrets(arguments json.RawMessage) json.RawMessage {
	in := decoder(arguments)
	var b bytes.Buffer
	out := jsontext.NewEncoder(&b, asSent, jsontext.PreserveRawStrings(true))
	for {
		name := false
		if kind, n := in.StackIndex(in.StackDepth()); kind == '{' && n%2 == 0 {
			name = in.PeekKind() == '"'
		}
		token, err := in.ReadToken()
		if err != nil {
			break
		}
		secret := name && fault.SecretName(token.String())
		if out.WriteToken(token) != nil {
			return nil
		}
		if !secret {
			continue
		}
		if in.SkipValue() != nil || out.WriteToken(jsontext.String("[redacted]")) != nil {
			return nil
		}
	}
	return json.RawMessage(escaped(bytes.TrimSpace(b.Bytes())))
}

// escaped writes characters of JSON that nobody sees as escapes.
func escaped(text []byte) string {
	var b strings.Builder
	for _, r := range string(text) {
		if r < 0x7f || seen(r) || r == opens || r == closes {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			b.WriteString(`\u` + strconv.FormatInt(0x10000+int64(unit), 16)[1:])
		}
	}
	return b.String()
}
