package rawjson

import (
	"bytes"
	"encoding/json"
	"slices"
)

// MostDeep is how deep arrays and objects nest in what goes between a page and an agent. Readers that recurse, and people,
// are lost long before the depth that parsers allow.
const MostDeep = 50

// harmfulNames are members that mean something else than a value in JavaScript: a program that copies them from one
// object into another changes what all its objects inherit.
var harmfulNames = []string{"__proto__", "constructor", "prototype"}

// harmfulKey reports whether a key, with its quotes, is one of those names, however it is written. plain tells that it
// has no escapes.
func harmfulKey(key json.RawMessage, plain bool) bool {
	if plain {
		switch string(key) {
		case `"__proto__"`, `"constructor"`, `"prototype"`:
			return true
		}
		return false
	}
	return slices.Contains(harmfulNames, unquote(key, false))
}

// Harmless returns a valid document, of at most MostDeep levels, without the members that Inspect calls harmful, and the
// names of those that it had.
func Harmless(doc json.RawMessage) (clean json.RawMessage, left []string) {
	c := &copying{doc: doc, out: make([]byte, 0, len(doc))}
	c.value(space(doc, 0))
	slices.Sort(c.left)
	return c.out, slices.Compact(c.left)
}

// copying is a document on its way into another.
type copying struct {
	doc, out []byte
	left     []string
}

// value copies the value at a place, and returns where it ends.
func (c *copying) value(i int) int {
	if i >= len(c.doc) || c.doc[i] != '{' && c.doc[i] != '[' {
		end := value(c.doc, i)
		c.out = append(c.out, c.doc[i:end]...)
		return end
	}
	object := c.doc[i] == '{'
	c.out = append(c.out, c.doc[i])
	first := true
	for i = space(c.doc, i+1); i < len(c.doc) && c.doc[i] != ']' && c.doc[i] != '}'; {
		var key json.RawMessage
		if object {
			end := text(c.doc, i)
			key = c.doc[i:end]
			i = space(c.doc, space(c.doc, end)+1) // behind the colon
		}
		if object && harmfulKey(key, bytes.IndexByte(key, '\\') < 0) {
			c.left = append(c.left, name(key))
			i = value(c.doc, i)
		} else {
			if !first {
				c.out = append(c.out, ',')
			}
			first = false
			if object {
				c.out = append(append(c.out, key...), ':')
			}
			i = c.value(i)
		}
		if i = space(c.doc, i); i < len(c.doc) && c.doc[i] == ',' {
			i = space(c.doc, i+1)
		}
	}
	if i >= len(c.doc) {
		return i
	}
	c.out = append(c.out, c.doc[i])
	return i + 1
}
