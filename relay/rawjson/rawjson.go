// Package rawjson looks into JSON without decoding it. Arguments and results of a tool can be megabytes that
// nobody between agent and page needs as Go values; what the relay wants of them are a few members.
//
// Every function expects a document that json.Valid accepts; on another the answers mean nothing, but nothing
// panics and nothing runs past the end.
package rawjson

import (
	"bytes"
	"encoding/json"
)

// Member is one member of an object; Key and Value are slices of the document.
type Member struct {
	Name  string // Key, decoded
	Key   json.RawMessage
	Value json.RawMessage
}

// Members lists the members of an object in their order, and reports whether doc is an object at all.
func Members(doc json.RawMessage) (members []Member, ok bool) {
	i := space(doc, 0)
	if i >= len(doc) || doc[i] != '{' {
		return nil, false
	}
	i = space(doc, i+1)
	for i < len(doc) && doc[i] == '"' {
		start := i
		i = text(doc, i)
		m := Member{Key: doc[start:i:i]}
		m.Name = name(m.Key)
		i = space(doc, i)
		if i >= len(doc) || doc[i] != ':' {
			break
		}
		start = space(doc, i+1)
		i = value(doc, start)
		m.Value = doc[start:i:i]
		members = append(members, m)
		if i = space(doc, i); i < len(doc) && doc[i] == ',' {
			i = space(doc, i+1)
		}
	}
	return members, true
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

// Make is a member with a name that needs no escaping.
func Make(name string, value json.RawMessage) Member {
	return Member{Name: name, Key: json.RawMessage(`"` + name + `"`), Value: value}
}

// Get returns the last member of that name, as decoders do, or nil.
func Get(members []Member, name string) json.RawMessage {
	for i := len(members) - 1; i >= 0; i-- {
		if members[i].Name == name {
			return members[i].Value
		}
	}
	return nil
}

// Depth is how deep arrays and objects nest; a number or string alone has depth 0.
func Depth(doc json.RawMessage) int {
	depth, deepest := 0, 0
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case '"':
			i = text(doc, i) - 1
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}

// IsObject reports whether doc is an object.
func IsObject(doc json.RawMessage) bool {
	i := space(doc, 0)
	return i < len(doc) && doc[i] == '{'
}

// name decodes a key, also one that has no end: the document may be anything.
func name(key json.RawMessage) string {
	if len(key) < 2 {
		return string(key)
	}
	return unquote(key, bytes.IndexByte(key, '\\') < 0)
}

func space(doc []byte, i int) int {
	for i < len(doc) && (doc[i] == ' ' || doc[i] == '\n' || doc[i] == '\t' || doc[i] == '\r') {
		i++
	}
	return i
}

// text returns the end of the string that starts at i.
func text(doc []byte, i int) int {
	i++
	for i < len(doc) {
		quote := bytes.IndexByte(doc[i:], '"')
		if quote < 0 {
			return len(doc)
		}
		end := i + quote
		slashes := 0
		for end-slashes > i && doc[end-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end + 1
		}
		i = end + 1
	}
	return len(doc)
}

// value returns the end of the value that starts at i.
func value(doc []byte, i int) int {
	if i >= len(doc) {
		return len(doc)
	}
	switch doc[i] {
	case '"':
		return text(doc, i)
	case '{', '[':
		return nested(doc, i)
	}
	for i < len(doc) && bytes.IndexByte([]byte(",]} \n\t\r"), doc[i]) < 0 {
		i++
	}
	return i
}

func nested(doc []byte, i int) int {
	depth := 0
	for i < len(doc) {
		switch doc[i] {
		case '"':
			i = text(doc, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(doc)
}
