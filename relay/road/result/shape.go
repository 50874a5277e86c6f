// Package result makes large results small enough for an answer, without losing anything: what an agent gets is valid
// JSON, in order, says how much of the whole it is, and where the rest can be read.
//
// A value is cut at one place if that is enough: a list keeps its first items, or the longest texts their beginnings.
// Only when no list or text is to blame does everything become smaller. Where a tool pages by itself, its own next
// offset or cursor goes on after the whole; beside a part it would skip what is missing, so it is moved to what is said
// of the cut.
package result

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/fault"
)

// Reader is the tool that reads a kept result.
const Reader = "relay__read_result"

// URI is the resource that a kept result is.
func URI(id string) string { return "result://" + id }

// Request is how a value is to be made smaller.
type Request struct {
	MaxBytes int    // of everything an agent reads of the answer
	Others   int    // bytes of it that are spoken for
	Path     string // of the list to cut, by the caller; empty: none
	Declared string // the same by the tool
	ID       string // under which the whole is kept; empty: it is not

	// Fits reports whether a smaller value, and what is said of the cut, may be returned by the tool, by its output
	// schema; nil: always.
	Fits func(value, note json.RawMessage) bool
}

// Shaped is a value that was made smaller.
type Shaped struct {
	Value   json.RawMessage // what is left of it
	Note    json.RawMessage // an object that says so: truncated, kept, total, and how to go on
	Text    json.RawMessage // the same with the value before it, as result
	Warning string          // in words
}

// Shape makes a valid document smaller so that Text, with Others, takes no more than MaxBytes. It fails when the
// caller's path leads nowhere (path_not_found, invalid_array_path), and with OUTPUT_TOO_LARGE when there is no way.
func Shape(doc json.RawMessage, r Request) (*Shaped, *fault.Error) {
	if !utf8.Valid(doc) {
		doc = json.RawMessage(strings.ToValidUTF8(string(doc), "\uFFFD"))
	}
	if r.Path != "" {
		if failure := r.checkList(doc); failure != nil {
			return nil, failure
		}
		if s := r.attempt(doc, func(budget int) (cut, bool) { return cutList(doc, way(r.Path), budget) }); s != nil {
			return s, nil
		}
		return nil, r.tooLarge(doc)
	}
	for _, way := range r.ways(doc) {
		if s := r.attempt(doc, way); s != nil {
			return s, nil
		}
	}
	return nil, r.tooLarge(doc)
}

func (r *Request) checkList(doc json.RawMessage) *fault.Error {
	if failure := CheckPath(r.Path); failure != nil {
		return failure
	}
	value, failure := get(doc, way(r.Path))
	if failure != nil {
		return failure
	}
	if _, ok := rawjson.Items(value); !ok {
		return wrongPath(fault.TypeInvalidArrayPath, fmt.Sprintf("What is at %s is not a list", r.Path),
			"Name the path of a list, or none.")
	}
	return nil
}

// ways are what can be tried without a path of the caller's, the best first.
func (r *Request) ways(doc json.RawMessage) (list []func(budget int) (cut, bool)) {
	lists, texts := survey(doc, len(doc)-r.MaxBytes)
	if r.Declared != "" && CheckPath(r.Declared) == nil {
		list = append(list, func(budget int) (cut, bool) { return some(cutList(doc, way(r.Declared), budget)) })
	}
	for _, l := range lists {
		list = append(list, func(budget int) (cut, bool) { return some(cutList(doc, l.steps, budget)) })
	}
	return append(list,
		func(budget int) (cut, bool) { return cutTexts(doc, texts, budget) },
		func(budget int) (cut, bool) { return shrink(doc, budget, true) },
		func(budget int) (cut, bool) { return shrink(doc, budget, false) })
}

// some refuses a cut that leaves nothing.
func some(c cut, ok bool) (cut, bool) { return c, ok && c.kept > 0 }

// attempts bounds how often a cut is made again because what is said about it takes more than was thought.
const attempts = 4

// attempt makes a cut and writes it down, with all that is to be said of it or, where that is too much, the least.
func (r *Request) attempt(doc json.RawMessage, way func(budget int) (cut, bool)) *Shaped {
	for _, brief := range []bool{false, true} {
		widest := cut{value: json.RawMessage("0"), kept: len(doc), total: len(doc), unit: ofCharacters}
		budget := r.MaxBytes - r.Others - len(r.envelope(widest, len(doc), brief)) - len(r.warning(widest))
		for range attempts {
			if budget <= 0 {
				break
			}
			c, ok := way(budget)
			if !ok {
				break
			}
			c.withholdPaging()
			s := &Shaped{c.value, r.note(c, len(doc), brief), r.envelope(c, len(doc), brief), r.warning(c)}
			over := len(s.Text) + len(s.Warning) + r.Others - r.MaxBytes
			if over <= 0 && (r.Fits == nil || r.Fits(c.value, s.Note)) {
				return s
			}
			if over <= 0 {
				return nil
			}
			budget = min(budget, len(c.value)) - over
		}
	}
	return nil
}

// envelope is what an agent reads in place of the value. Its first four members are those of the SDK's truncate.
func (r *Request) envelope(c cut, size int, brief bool) json.RawMessage {
	// the value goes in as it is
	return slices.Concat([]byte(`{"result":`), c.value, []byte(","), r.note(c, size, brief)[len("{"):])
}

// note is the envelope without the value.
func (r *Request) note(c cut, size int, brief bool) json.RawMessage {
	n := note{Truncated: true, Kept: c.kept, Total: c.total, Unit: c.unit, Bytes: size, Withheld: c.withheld}
	if c.goesOn {
		n.NextOffset = &c.kept
		n.ArrayPath, _ = path(c.steps)
	}
	if r.ID != "" {
		n.ID, n.URI = r.ID, URI(r.ID)
		n.More = &more{Tool: Reader, Arguments: r.goOn(c)}
	}
	if brief {
		n.Unit, n.Bytes, n.URI, n.More = "", 0, "", nil
	}
	return rawjson.MustEncode(n)
}

type note struct {
	Truncated  bool   `json:"truncated"`
	Kept       int    `json:"kept"`
	Total      int    `json:"total"`
	Unit       string `json:"unit,omitempty"` // of kept and total
	ArrayPath  string `json:"arrayPath,omitempty"`
	NextOffset *int   `json:"nextOffset,omitempty"`
	Bytes      int    `json:"bytes,omitempty"` // of the whole
	ID         string `json:"id,omitempty"`
	URI        string `json:"uri,omitempty"`
	More       *more  `json:"more,omitempty"`
	// paging of the tool's own, which goes on after the whole
	Withheld map[string]json.RawMessage `json:"withheld,omitempty"`
}

// more is the call that goes on where the answer ends.
type more struct {
	Tool      string    `json:"tool"`
	Arguments Arguments `json:"arguments"`
}

// goOn are the arguments of that call.
func (r *Request) goOn(c cut) Arguments {
	a := Arguments{ID: r.ID}
	if !c.goesOn {
		return a
	}
	a.Offset = c.kept
	text, ok := path(c.steps)
	if ok || len(c.steps) == 0 {
		a.ArrayPath = text
	} else {
		a.JQ = query(c.steps)
	}
	return a
}

func (r *Request) warning(c cut) string {
	text := fmt.Sprintf("The result is truncated: %d of %d %s are here.", c.kept, c.total, c.unit)
	if c.withheld != nil {
		text += " What the tool itself says of the next page is withheld, because it goes on after the whole: read " +
			"the " +
			"rest first."
	}
	return text
}

func (r *Request) tooLarge(doc json.RawMessage) *fault.Error {
	how := "to"
	if r.Fits != nil {
		how = "to a value that fits the tool's output schema and takes at most"
	}
	return fault.New(fault.OutputTooLarge, fmt.Sprintf("The result has %d bytes and cannot be shortened %s %d bytes",
		len(doc), how, r.MaxBytes))
}
