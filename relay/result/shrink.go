package result

import "encoding/json"

// textInShrunk is how many bytes of a text remain where everything has to become smaller.
const textInShrunk = 160

// shrinkSteps is how often more is tried once something fits; a tenth of the room may stay empty.
const shrinkSteps = 4

// shrink makes everything smaller: the first items of every list, the beginning of every text, and, unless members
// must stay, the first members of every object. It is what is left when no single list or text is to blame.
func shrink(doc json.RawMessage, budget int, keepMembers bool) (best cut, ok bool) {
	try := func(most int) bool {
		s := shrinker{doc: doc, items: most, members: most, budget: budget, out: make([]byte, 0, budget)}
		if keepMembers {
			s.members = len(doc)
		}
		s.value(0)
		if len(s.out) > budget {
			return false
		}
		best, ok = cut{value: s.out, kept: len(s.out), total: len(doc), unit: ofBytes}, true
		return true
	}
	most, tooMany := 100_000, 0
	for ; !try(most); most /= 3 {
		if tooMany = most; most == 0 {
			return cut{}, false
		}
	}
	for range shrinkSteps { // closer to what fits
		middle := (most + tooMany) / 2
		if middle <= most {
			break
		}
		if try(middle) {
			most = middle
		} else {
			tooMany = middle
		}
	}
	return best, ok
}

// shrinker copies a valid document, leaving out what is too much. It stops writing when the budget is spent.
type shrinker struct {
	doc            json.RawMessage
	items, members int
	budget         int
	out            []byte
	depth          int
}

// deepestShrunk bounds how deep a shrunk value nests; what is deeper becomes null.
const deepestShrunk = 200

// value copies the value at i, after white space, and returns its end.
func (s *shrinker) value(i int) int {
	i = skipSpace(s.doc, i)
	switch {
	case len(s.out) > s.budget:
		return skip(s.doc, i)
	case s.doc[i] == '"':
		return s.text(i)
	case s.doc[i] == '[' || s.doc[i] == '{':
		if s.depth == deepestShrunk {
			s.out = append(s.out, "null"...)
			return skip(s.doc, i)
		}
		s.depth++
		end := s.nested(i)
		s.depth--
		return end
	}
	end := skip(s.doc, i)
	s.out = append(s.out, s.doc[i:end]...)
	return end
}

// nested copies the first parts of an array or object.
func (s *shrinker) nested(i int) int {
	most, object := s.items, s.doc[i] == '{'
	if object {
		most = s.members
	}
	s.out = append(s.out, s.doc[i])
	i = skipSpace(s.doc, i+1)
	for n := 0; s.doc[i] != ']' && s.doc[i] != '}'; n++ {
		if s.doc[i] == ',' {
			i = skipSpace(s.doc, i+1)
		}
		if n >= most || len(s.out) > s.budget {
			if object {
				i = skipSpace(s.doc, skip(s.doc, i)) + 1 // the name and its colon
			}
			i = skipSpace(s.doc, skip(s.doc, skipSpace(s.doc, i)))
			continue
		}
		if n > 0 {
			s.out = append(s.out, ',')
		}
		if object {
			end := skip(s.doc, i)
			s.out = append(append(s.out, s.doc[i:end]...), ':')
			i = skipSpace(s.doc, end) + 1
		}
		i = skipSpace(s.doc, s.value(i))
	}
	s.out = append(s.out, s.doc[i])
	return i + 1
}

func (s *shrinker) text(i int) int {
	end := textEnd(s.doc, i)
	content := s.doc[i+1 : end-1]
	if len(content) <= textInShrunk+ellipsisRoom {
		s.out = append(s.out, s.doc[i:end]...)
		return end
	}
	kept, _ := prefix(content, textInShrunk)
	missing := characters(content[kept:])
	s.out = append(append(append(s.out, s.doc[i:i+1+kept]...), ellipsis(missing)...), '"')
	return end
}

func skipSpace(doc []byte, i int) int {
	for i < len(doc) && (doc[i] == ' ' || doc[i] == '\n' || doc[i] == '\t' || doc[i] == '\r') {
		i++
	}
	return i
}

// skip returns the end of the value that starts at i.
func skip(doc []byte, i int) int {
	for depth := 0; i < len(doc); {
		switch doc[i] {
		case '"':
			i = textEnd(doc, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\n', '\t', '\r':
			i++
		default:
			for i < len(doc) && doc[i] != ',' && doc[i] != ']' && doc[i] != '}' && doc[i] > ' ' {
				i++
			}
		}
		if depth <= 0 {
			break
		}
	}
	return i
}
