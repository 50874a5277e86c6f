// Package rawjson looks into JSON without decoding all of it. Arguments and results of a tool can be megabytes that
// nobody between agent and page needs as Go values; what the relay wants of them are a few members.
//
// Valid and Decode (read.go) accept any text and say whether it is JSON. Every other function expects a
// document that is: it looks for the ends of values and reads nothing between them. On another text the answers mean
// nothing, but nothing panics and nothing runs past the end.
package rawjson

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
)

// Member is one member of an object; Key and Value are slices of the document.
type Member struct {
	Name  string // Key, decoded
	Key   json.RawMessage
	Value json.RawMessage
}

// Members lists the members of an object in their order, and reports whether doc is an object at all.
func Members(doc json.RawMessage) (members []Member, ok bool) {
	return slices.Collect(EachMember(doc)), IsObject(doc)
}

// EachMember yields the members of an object in their order.
func EachMember(doc json.RawMessage) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		if !IsObject(doc) {
			return
		}
		for i := space(doc, space(doc, 0)+1); i < len(doc) && doc[i] == '"'; i = nextPart(doc, i) {
			end := TextEnd(doc, i)
			m := Member{Key: doc[i:end:end]}
			if i = space(doc, end); i >= len(doc) || doc[i] != ':' {
				return
			}
			start := space(doc, i+1)
			i = ValueEnd(doc, start)
			m.Value = doc[start:i:i]
			m.Name, _ = Text(m.Key)
			if !yield(m) {
				return
			}
		}
	}
}

// Items lists the items of an array in their order, and reports whether doc is an array at all. The items are slices
// of the document.
func Items(doc json.RawMessage) (items []json.RawMessage, ok bool) {
	return slices.Collect(EachItem(doc)), IsArray(doc)
}

// EachItem yields the items of an array in their order.
func EachItem(doc json.RawMessage) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		if !IsArray(doc) {
			return
		}
		for i := space(doc, space(doc, 0)+1); i < len(doc) && doc[i] != ']'; i = nextPart(doc, i) {
			start := i
			if i = ValueEnd(doc, i); i == start || !yield(doc[start:i:i]) {
				return
			}
		}
	}
}

// nextPart returns where the next member or item starts, after the one that ends at i.
func nextPart(doc []byte, i int) int {
	if i = space(doc, i); i < len(doc) && doc[i] == ',' {
		i = space(doc, i+1)
	}
	return i
}

// Join writes members as one object.
func Join(members []Member) json.RawMessage {
	size := 2
	for _, m := range members {
		size += len(m.Key) + len(m.Value) + 2
	}
	doc := append(make([]byte, 0, size), '{')
	for i, m := range members {
		if i > 0 {
			doc = append(doc, ',')
		}
		doc = append(append(append(doc, m.Key...), ':'), m.Value...)
	}
	return append(doc, '}')
}

// List writes items as one array.
func List(items []json.RawMessage) json.RawMessage {
	size := 2
	for _, item := range items {
		size += len(item) + 1
	}
	doc := append(make([]byte, 0, size), '[')
	for i, item := range items {
		if i > 0 {
			doc = append(doc, ',')
		}
		doc = append(doc, item...)
	}
	return append(doc, ']')
}

// Make is a member with a name that needs no escaping.
func Make(name string, value json.RawMessage) Member {
	return Member{Name: name, Key: json.RawMessage(`"` + name + `"`), Value: value}
}

// Get returns the last member of that name, as decoders do, or nil.
func Get(members []Member, name string) json.RawMessage {
	for _, m := range slices.Backward(members) {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// IsObject and IsArray report what a document is.
func IsObject(doc json.RawMessage) bool { return bytes.HasPrefix(doc[space(doc, 0):], []byte("{")) }
func IsArray(doc json.RawMessage) bool  { return bytes.HasPrefix(doc[space(doc, 0):], []byte("[")) }

// Depth is how deep arrays and objects nest; a number or string alone has depth 0. It counts brackets, so that a text
// that is too deep to be read has a depth as well. Comments, which people write into JSON, are passed over.
func Depth(doc json.RawMessage) (deepest int) {
	depth := 0
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case '"':
			i = TextEnd(doc, i) - 1
		case '/':
			i = commentEnd(doc, i) - 1
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}

// commentEnd is the end of the comment that starts at i, or of the slash that starts none.
func commentEnd(doc []byte, i int) int {
	end := "*/"
	switch {
	case bytes.HasPrefix(doc[i:], []byte("//")):
		end = "\n"
	case !bytes.HasPrefix(doc[i:], []byte("/*")):
		return i + 1
	}
	if n := bytes.Index(doc[i+2:], []byte(end)); n >= 0 {
		return i + 2 + n + len(end)
	}
	return len(doc)
}

func space(doc []byte, i int) int {
	for i < len(doc) && (doc[i] == ' ' || doc[i] == '\n' || doc[i] == '\t' || doc[i] == '\r') {
		i++
	}
	return i
}

// ValueEnd returns the end of the value that starts at i. It and TextEnd are written by hand, because a document was
// read before they are called: in one of 1 MiB that is mostly text they find the end in 0.03 ms, where jsontext reads
// for 0.7 ms, and for 2.6 ms when the text is not ASCII (BenchmarkMembers beside BenchmarkValid).
func ValueEnd(doc []byte, i int) int {
	for depth := 0; i < len(doc); i++ {
		switch doc[i] {
		case '"':
			if i = TextEnd(doc, i) - 1; depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return i + 1 + depth // behind the value's own bracket, or before that of what holds it
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	return len(doc)
}

// TextEnd returns the end of the string that starts at i.
func TextEnd(doc []byte, i int) int {
	for i++; i < len(doc); {
		quote := bytes.IndexByte(doc[i:], '"')
		if quote < 0 {
			return len(doc)
		}
		end, slashes := i+quote, 0
		for end-slashes > i && doc[end-slashes-1] == '\\' {
			slashes++
		}
		if i = end + 1; slashes%2 == 0 {
			return i
		}
	}
	return len(doc)
}
