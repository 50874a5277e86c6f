package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// asSent lets documents pass as encoding/json does: names may come twice, and strings need not be Unicode.
var asSent = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Valid reports whether doc is JSON.
func Valid(doc json.RawMessage) bool { return jsontext.Value(doc).IsValid(asSent) }

// What Decode fails with.
var (
	ErrInvalid = errors.New("not valid JSON")
	ErrRange   = errors.New("a number is too large")
)

// Decode returns what json.Unmarshal makes of doc for an any, and how deep its arrays and objects nest.
func Decode(doc json.RawMessage) (value any, depth int, err error) {
	depth = Depth(doc)
	if jsonv2.Unmarshal(doc, &value, jsontext.AllowInvalidUTF8(true)) == nil {
		return value, depth, nil
	}
	value = nil
	var tooLarge *json.UnmarshalTypeError
	switch err = json.Unmarshal(doc, &value); { // a name that comes twice is no mistake here
	case err == nil:
		return value, depth, nil
	case errors.As(err, &tooLarge):
		return nil, depth, ErrRange
	}
	return nil, depth, ErrInvalid
}

// Text decodes a string of a valid document, and reports whether raw is one.
func Text(raw json.RawMessage) (text string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner), true
	}
	decoded, _ := jsontext.AppendUnquote(nil, raw) // what is not Unicode becomes U+FFFD, and is reported
	return string(decoded), true
}

// AppendText appends text as a JSON string. Unlike encoding/json it leaves <, > and & alone, which would make a page
// 1.7 times as long. What is not UTF-8 becomes U+FFFD.
func AppendText[T string | []byte](dst []byte, text T) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // it reports what is not UTF-8
	return dst
}

// AppendDocument appends a valid document as a JSON string, as AppendText does. Its line breaks are gone already, and
// what else has to be escaped is rare in long texts: between quotes it is looked for with the processor's own search.
// Of 1 MiB that is mostly text that takes a fifth of the time or less (BenchmarkAppendDocument).
func AppendDocument(dst []byte, doc json.RawMessage) []byte {
	const seldom = 64
	if bytes.Count(doc, []byte{'"'})+bytes.Count(doc, []byte{'\\'}) > len(doc)/seldom {
		return AppendText(dst, []byte(doc))
	}
	dst = append(dst, '"')
	for len(doc) > 0 {
		part := doc
		if quote := bytes.IndexByte(doc, '"'); quote >= 0 {
			part = doc[:quote]
		}
		if bytes.IndexByte(part, '\\') < 0 && bytes.IndexByte(part, '\t') < 0 {
			dst = append(dst, part...)
		} else {
			start := len(dst)
			dst = AppendText(dst, []byte(part))
			dst = append(dst[:start], dst[start+1:len(dst)-1]...) // without its quotes
		}
		if doc = doc[len(part):]; len(doc) > 0 {
			dst, doc = append(dst, '\\', '"'), doc[1:]
		}
	}
	return append(dst, '"')
}

// Pointer is the JSON pointer (RFC 6901) of what names lead to.
func Pointer(names []string) string {
	var p jsontext.Pointer
	for _, name := range names {
		p = p.AppendToken(name)
	}
	return string(p)
}

// Encode writes a value as encoding/json does, on one line, but leaves <, > and & alone as AppendText does.
func Encode(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// MustEncode is Encode for values of our own, made of texts, numbers and valid JSON. One that does not encode is a bug.
func MustEncode(value any) json.RawMessage {
	doc, err := Encode(value)
	if err != nil {
		panic(err)
	}
	return doc
}

// MostDeep is how deep arrays and objects nest in what goes between a page and an agent. Readers that recurse, and
// people, are lost long before the depth that parsers allow.
const MostDeep = 50

// prototypeNames are members that mean something other than a value in JavaScript: a program that copies them from one
// object into another changes what all its objects inherit (prototype pollution).
var prototypeNames = []string{"__proto__", "constructor", "prototype"}

// WithoutPrototypes returns a valid document of at most MostDeep levels without such members, and the names of those
// that it had.
func WithoutPrototypes(doc json.RawMessage) (clean json.RawMessage, left []string) {
	if !bytes.Contains(doc, []byte("proto")) && !bytes.Contains(doc, []byte("constructor")) &&
		!bytes.Contains(doc, []byte(`\u`)) {
		return doc, nil
	}
	if clean = withoutPrototypes(doc, &left); left == nil {
		return doc, nil
	}
	slices.Sort(left)
	return clean, slices.Compact(left)
}

func withoutPrototypes(doc json.RawMessage, left *[]string) json.RawMessage {
	if items, ok := Items(doc); ok {
		for i, item := range items {
			items[i] = withoutPrototypes(item, left)
		}
		return List(items)
	}
	members, ok := Members(doc)
	if !ok {
		return doc
	}
	kept := members[:0]
	for _, m := range members {
		if slices.Contains(prototypeNames, m.Name) {
			*left = append(*left, m.Name)
			continue
		}
		m.Value = withoutPrototypes(m.Value, left)
		kept = append(kept, m)
	}
	return Join(kept)
}

// WithoutHalfPairs replaces each escape of half a surrogate pair in a string by U+FFFD, and says whether there was
// one. JSON allows them (RFC 8259, section 8.2), but parsers differ: some refuse the whole message.
func WithoutHalfPairs(doc json.RawMessage) (whole json.RawMessage, changed bool) {
	if !bytes.Contains(doc, []byte(`\ud`)) && !bytes.Contains(doc, []byte(`\uD`)) ||
		jsontext.Value(doc).IsValid(jsontext.AllowDuplicateNames(true)) {
		return doc, false
	}
	whole, err := jsontext.AppendFormat(nil, doc, asSent)
	return whole, err == nil
}
