package result

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"tabrelay/relay/lib/rawjson"
)

// Limits of what one look at a value collects.
const (
	deepest   = 64 // levels at which lists are looked for
	maxLists  = 8  // the largest ones
	shortText = 64 // bytes a text must have to be worth cutting
	maxBorder = 12 // bytes of the longest escape: a surrogate pair
)

// list is an array in a value.
type list struct {
	steps []step
	size  int // bytes
}

// span is a part of a document.
type span struct{ start, end int }

// frame is an array or object whose end has not been seen.
type frame struct {
	start  int
	object bool
	key    span // of the member it is at
	index  int  // of the item it is at
}

// walk visits a valid document once: each text that is a value, and each array and object at its end. open are the
// arrays and objects around it. It stops when visit says so.
func walk(doc json.RawMessage, visit func(open []frame, at span) (goOn bool)) {
	var open []frame
	key := false // the next string is a member's name
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case '"':
			at := span{i, rawjson.TextEnd(doc, i)}
			i = at.end - 1
			if key {
				open[len(open)-1].key, key = at, false
			} else if !visit(open, at) {
				return
			}
		case '{':
			open = append(open, frame{start: i, object: true})
			key = true
		case '[':
			open = append(open, frame{start: i})
		case ',':
			if top := &open[len(open)-1]; top.object {
				key = true
			} else {
				top.index++
			}
		case ']', '}':
			key = false
			f := open[len(open)-1]
			open = open[:len(open)-1]
			if !visit(open, span{f.start, i + 1}) {
				return
			}
		}
	}
}

// survey returns the largest arrays of at least floor bytes, the largest first and of two the same size the outer one,
// and where the longer texts are.
func survey(doc json.RawMessage, floor int) (lists []list, texts []span) {
	walk(doc, func(open []frame, at span) bool {
		size := at.end - at.start
		switch {
		case doc[at.start] == '"' && size > shortText:
			texts = append(texts, at)
		case doc[at.start] == '[' && size >= floor && len(open) <= deepest:
			lists = larger(lists, list{size: size}, func() []step { return stepsTo(doc, open) })
		}
		return true
	})
	return lists, texts
}

// locate returns the steps to the text that starts at a place.
func locate(doc json.RawMessage, start int) (steps []step) {
	walk(doc, func(open []frame, at span) bool {
		if at.start == start {
			steps = stepsTo(doc, open)
		}
		return at.start != start
	})
	return steps
}

// larger adds a list if it is among the largest.
func larger(lists []list, l list, steps func() []step) []list {
	at, _ := slices.BinarySearchFunc(lists, l, func(a, b list) int {
		return cmp.Compare(b.size, a.size)
	})
	if at >= maxLists {
		return lists
	}
	l.steps = steps()
	lists = slices.Insert(lists, at, l)
	return lists[:min(len(lists), maxLists)]
}

func stepsTo(doc json.RawMessage, open []frame) []step {
	steps := make([]step, len(open))
	for i, f := range open {
		if !f.object {
			steps[i].index = f.index
			continue
		}
		name, _ := rawjson.Text(doc[f.key.start:f.key.end])
		steps[i].name = &name
	}
	return steps
}

// character returns the end of the character that starts at i inside a JSON string: a rune, or an escape. A surrogate
// pair of escapes (RFC 8259, section 7) is one.
func character(doc []byte, i int) int {
	switch {
	case doc[i] != '\\':
		_, size := utf8.DecodeRune(doc[i:])
		return i + size
	case i+6 > len(doc) || doc[i+1] != 'u':
		return min(i+2, len(doc))
	case isSurrogate(doc[i:], 'd', "89ab") && isSurrogate(doc[i+6:], 'd', "cdef"):
		return i + maxBorder
	}
	return i + 6
}

// isSurrogate reports whether an escape begins with the digit first and one of second.
func isSurrogate(doc []byte, first byte, second string) bool {
	return len(doc) >= 6 && doc[0] == '\\' && doc[1] == 'u' && doc[2]|0x20 == first &&
		bytes.IndexByte([]byte(second), doc[3]|0x20) >= 0
}

// prefix returns the end of the most characters of the text that take no more than so many bytes, and how many they
// are.
func prefix(text []byte, most int) (end, count int) {
	for end < len(text) {
		if c := text[end]; c < utf8.RuneSelf && c != '\\' && end < most {
			end, count = end+1, count+1
			continue
		}
		next := character(text, end)
		if next > most {
			break
		}
		end, count = next, count+1
	}
	return end, count
}

// characters is how many characters a text has.
func characters(text []byte) (count int) {
	for {
		escape := bytes.IndexByte(text, '\\')
		if escape < 0 {
			return count + runes(text)
		}
		count += runes(text[:escape]) + 1
		text = text[character(text, escape):]
	}
}

func runes(text []byte) (count int) {
	for _, b := range text {
		if utf8.RuneStart(b) {
			count++
		}
	}
	return count
}
