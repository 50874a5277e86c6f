package result

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"tabrelay/relay/lib/rawjson"
)

// What kept and total of a cut count.
const (
	ofItems      = "items"
	ofCharacters = "characters"
	ofBytes      = "bytes"
)

// cut is a value that was made smaller.
type cut struct {
	value       json.RawMessage
	kept, total int
	unit        string
	steps       []step // to the list or text that was cut
	goesOn      bool   // what is missing begins where kept ends, at steps

	// paging of the tool's own that was taken out of value, by path; nil: there was none
	withheld map[string]json.RawMessage
}

// cutList keeps as many items of a list as fit into budget bytes together with everything around it.
func cutList(doc json.RawMessage, steps []step, budget int) (c cut, ok bool) {
	value, failure := get(doc, steps)
	if failure != nil {
		return cut{}, false
	}
	all, isList := rawjson.Items(value)
	empty := put(doc, steps, json.RawMessage("[]"))
	if !isList || len(empty) > budget {
		return cut{}, false
	}
	kept := fitting(all, budget-len(empty))
	return cut{value: put(doc, steps, rawjson.List(all[:kept])), kept: kept, total: len(all), unit: ofItems,
		steps:  steps,
		goesOn: true}, true
}

// fitting is how many of the first items fit into so many bytes, with commas between them.
func fitting(all []json.RawMessage, room int) int {
	for n, item := range all {
		if room -= len(item); n > 0 {
			room--
		}
		if room < 0 {
			return n
		}
	}
	return len(all)
}

// ellipsis ends a text that was cut: how much is missing.
func ellipsis(missing int) string { return "… (+" + strconv.Itoa(missing) + " characters)" }

// ellipsisRoom is more than any ellipsis takes.
const ellipsisRoom = len("… (+12345678901 characters)")

// leastText is what must remain of a text for it to say anything.
const leastText = 24

// cutTexts shortens the longest texts, all to the same length, so that the value fits.
func cutTexts(doc json.RawMessage, texts []span, budget int) (c cut, ok bool) {
	lengths := make([]int, len(texts))
	for i, t := range texts {
		lengths[i] = t.end - t.start - 2
	}
	size := func(most int) int {
		total := len(doc)
		for _, length := range lengths {
			total -= max(0, length-most-ellipsisRoom)
		}
		return total
	}
	longest := 0
	if len(lengths) > 0 {
		longest = slices.Max(lengths)
	}
	most := largest(longest, func(n int) bool { return size(n) <= budget })
	if most < leastText {
		return cut{}, false
	}
	c = cut{value: make(json.RawMessage, 0, budget), unit: ofCharacters}
	done, shortened := 0, 0
	for i, t := range texts {
		if lengths[i] <= most+ellipsisRoom {
			continue
		}
		content := doc[t.start+1 : t.end-1]
		end, kept := prefix(content, most)
		rest := characters(content[end:])
		c.value = append(append(c.value, doc[done:t.start+1+end]...), ellipsis(rest)...)
		done = t.end - 1
		c.kept, c.total = c.kept+kept, c.total+kept+rest
		if shortened++; shortened == 1 {
			c.steps, c.goesOn = locate(doc, t.start), true
		}
	}
	c.value = append(c.value, doc[done:]...)
	c.goesOn = c.goesOn && shortened == 1
	return c, shortened > 0
}

// largest is the largest number up to most that is good, when every smaller one is good too; -1 when none is.
func largest(most int, good func(int) bool) int {
	low, high := -1, most
	for low < high {
		middle := low + (high-low+1)/2
		if good(middle) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// textInShrunk is how many bytes of a text remain where everything has to become smaller.
const textInShrunk = 160

// shrinkSteps is how often more is tried once something fits; a tenth of the room may stay empty.
const shrinkSteps = 4

// shrink makes everything smaller: the first items of every list, the beginning of every text, and, unless members
// must stay, the first members of every object. It is what is left when no single list or text is to blame.
func shrink(doc json.RawMessage, budget int, keepMembers bool) (best cut, ok bool) {
	try := func(most int) bool {
		s := shrinker{items: most, members: most, budget: budget, out: make([]byte, 0, budget)}
		if keepMembers {
			s.members = len(doc)
		}
		s.value(bytes.TrimSpace(doc))
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

// shrinker copies a valid document, leaving out what is too much. It stops when the budget is spent.
type shrinker struct {
	items, members int
	budget         int
	out            []byte
	depth          int
}

// deepestShrunk bounds how deep a shrunk value nests; what is deeper becomes null.
const deepestShrunk = 200

func (s *shrinker) value(doc json.RawMessage) {
	switch {
	case len(doc) > 0 && doc[0] == '"':
		s.text(doc)
		return
	case !rawjson.IsArray(doc) && !rawjson.IsObject(doc):
		s.out = append(s.out, doc...)
		return
	case s.depth == deepestShrunk:
		s.out = append(s.out, "null"...)
		return
	}
	s.depth++
	if rawjson.IsArray(doc) {
		s.out = append(s.out, '[')
		n := 0
		for item := range rawjson.EachItem(doc) {
			if !s.next(&n, s.items) {
				break
			}
			s.value(item)
		}
		s.out = append(s.out, ']')
	} else {
		s.out = append(s.out, '{')
		n := 0
		for m := range rawjson.EachMember(doc) {
			if !s.next(&n, s.members) {
				break
			}
			s.out = append(append(s.out, m.Key...), ':')
			s.value(m.Value)
		}
		s.out = append(s.out, '}')
	}
	s.depth--
}

// next writes the comma before all but the first part of an array or object. It is false when there were enough.
func (s *shrinker) next(n *int, most int) bool {
	if *n >= most || len(s.out) > s.budget {
		return false
	}
	if *n > 0 {
		s.out = append(s.out, ',')
	}
	*n++
	return true
}

func (s *shrinker) text(doc json.RawMessage) {
	content := doc[1 : len(doc)-1]
	if len(content) <= textInShrunk+ellipsisRoom {
		s.out = append(s.out, doc...)
		return
	}
	kept, _ := prefix(content, textInShrunk)
	missing := characters(content[kept:])
	s.out = append(append(append(s.out, doc[:1+kept]...), ellipsis(missing)...), '"')
}
