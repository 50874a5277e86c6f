package result

import (
	"encoding/json"
	"slices"
	"strconv"

	"tabrelay/relay/rawjson"
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

	withheld map[string]json.RawMessage // paging of the tool's own that was taken out of value, by path; nil: there was none
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
	return cut{value: put(doc, steps, rawjson.List(all[:kept])), kept: kept, total: len(all), unit: ofItems, steps: steps, goesOn: true}, true
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
