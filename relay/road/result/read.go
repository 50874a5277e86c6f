package result

import (
	"context"
	"encoding/json"
	"fmt"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// Arguments are what relay__read_result takes.
type Arguments struct {
	ID        string `json:"id"`
	ArrayPath string `json:"arrayPath,omitempty"`
	JQ        string `json:"jq,omitempty"`
	Offset    int    `json:"offset,omitempty"`
	Limit     int    `json:"limit,omitempty"`
	MaxBytes  int    `json:"maxBytes,omitempty"`
}

// piece is what relay__read_result answers.
type piece struct {
	Result     json.RawMessage `json:"result"`
	Truncated  bool            `json:"truncated"` // there is more after it
	Kept       int             `json:"kept"`
	Total      int             `json:"total"`
	Unit       string          `json:"unit"` // of kept, total and the offsets
	Offset     int             `json:"offset"`
	NextOffset *int            `json:"nextOffset,omitempty"`
	Note       string          `json:"note,omitempty"`
}

// Read returns a piece of a kept result: an object that takes no more than maxBytes. The piece begins at the offset and
// is as long as fits, at most limit: items of a list, characters of a text. Anything else is given whole if it fits,
// and else as pieces of its JSON text.
func Read(ctx context.Context, r call.StoredResult, a Arguments, maxBytes int) (json.RawMessage, *fault.Error) {
	doc := json.RawMessage(r.Data)
	isText := r.MIMEType != "application/json"
	switch {
	case a.JQ != "" && a.ArrayPath != "":
		return nil, fault.New(fault.ValidationError, "Both jq and arrayPath say what to read",
			fault.WithHint("Use one of them."))
	case isText && (a.JQ != "" || a.ArrayPath != ""):
		return nil,
			fault.New(fault.ValidationError, "The result is not JSON, so neither jq nor arrayPath finds anything in it",
				fault.WithHint("Read it with offset and limit, which count characters then."),
				fault.WithType(fault.TypeInvalidJSON))
	case isText:
		doc = rawjson.AppendText(nil, string(doc))
	}
	doc, failure := a.choose(ctx, doc)
	if failure != nil {
		return nil, failure
	}
	if all, ok := rawjson.Items(doc); ok {
		return a.readItems(all, maxBytes)
	}
	if len(doc) > 0 && doc[0] == '"' {
		return a.readText(doc[1:len(doc)-1], "", maxBytes)
	}
	if a.Offset == 0 {
		if whole := rawjson.MustEncode(piece{Result: doc, Kept: 1, Total: 1, Unit: ofItems}); len(whole) <= maxBytes {
			return whole, nil
		}
	}
	text := rawjson.AppendText(nil, string(doc))
	return a.readText(text[1:len(text)-1], "This is a part of the result's JSON text.", maxBytes)
}

// choose is what of the document is to be read.
func (a *Arguments) choose(ctx context.Context, doc json.RawMessage) (json.RawMessage, *fault.Error) {
	if a.JQ != "" {
		return jq(ctx, doc, a.JQ)
	}
	if failure := CheckPath(a.ArrayPath); failure != nil {
		return nil, failure
	}
	return get(doc, way(a.ArrayPath))
}

func (a *Arguments) outside(total int, unit string) *fault.Error {
	if a.Offset <= total {
		return nil
	}
	return fault.New(fault.ValidationError, fmt.Sprintf("The offset %d is beyond the end: there are %d %s", a.Offset,
		total, unit),
		fault.WithHint("Use the nextOffset of the piece before; a piece without one is the last."))
}

func (a *Arguments) readItems(all []json.RawMessage, maxBytes int) (json.RawMessage, *fault.Error) {
	if failure := a.outside(len(all), ofItems); failure != nil {
		return nil, failure
	}
	rest := all[a.Offset:]
	if a.Limit > 0 {
		rest = rest[:min(a.Limit, len(rest))]
	}
	room := maxBytes - around(len(all), ofItems, "") - len("[]")
	kept := fitting(rest, room)
	if kept > 0 || len(rest) == 0 {
		return a.piece(rawjson.List(rest[:kept]), kept, len(all), ofItems, ""), nil
	}
	return a.readLargeItem(rest[0], len(all), maxBytes)
}

// readLargeItem gives an item that is too large by itself in a smaller form, so that reading does not get stuck.
func (a *Arguments) readLargeItem(item json.RawMessage, total, maxBytes int) (json.RawMessage, *fault.Error) {
	text := fmt.Sprintf("This item has %d bytes and is shortened. Read it with jq, for example %s", len(item),
		a.select1())
	room := maxBytes - around(total, ofItems, text) - len("[]")
	small, ok := shrink(item, room, false)
	if !ok {
		return nil, tooSmall(maxBytes)
	}
	return a.piece(rawjson.List([]json.RawMessage{small.value}), 1, total, ofItems, text), nil
}

// select1 is a jq expression for the item at the offset.
func (a *Arguments) select1() string {
	at := fmt.Sprintf("[%d]", a.Offset)
	switch {
	case a.JQ != "":
		return "[" + a.JQ + "]" + at
	case a.ArrayPath != "":
		return a.ArrayPath + at
	}
	return "." + at
}

// readText gives a part of a text, which is the content of a JSON string.
func (a *Arguments) readText(content []byte, what string, maxBytes int) (json.RawMessage, *fault.Error) {
	total := 0
	start := len(content)
	for i := 0; i < len(content); i, total = character(content, i), total+1 {
		if total == a.Offset {
			start = i
		}
	}
	if failure := a.outside(total, ofCharacters); failure != nil {
		return nil, failure
	}
	room := maxBytes - around(total, ofCharacters, what) - len(`""`)
	end, kept := prefix(content[start:], room)
	if a.Limit > 0 && kept > a.Limit {
		for end, kept = 0, 0; kept < a.Limit; kept++ {
			end = character(content[start:], end)
		}
	}
	if kept == 0 && start < len(content) {
		return nil, tooSmall(maxBytes)
	}
	value := append(append([]byte{'"'}, content[start:start+end]...), '"')
	return a.piece(value, kept, total, ofCharacters, what), nil
}

func tooSmall(maxBytes int) *fault.Error {
	return fault.New(fault.ValidationError, fmt.Sprintf("Not even a piece of the result fits into %d bytes", maxBytes),
		fault.WithHint("Raise maxBytes."),
		fault.WithType(fault.TypeOutputTooLarge))
}

// piece writes a piece down.
func (a *Arguments) piece(value json.RawMessage, kept, total int, unit, text string) json.RawMessage {
	p := piece{Result: value, Kept: kept, Total: total, Unit: unit, Offset: a.Offset, Note: text}
	if next := a.Offset + kept; next < total {
		p.Truncated, p.NextOffset = true, &next
	}
	return rawjson.MustEncode(p)
}

// around is how long a piece is at the most besides its value.
func around(total int, unit, text string) int {
	return len(rawjson.MustEncode(piece{Result: json.RawMessage("0"), Truncated: false, Kept: total, Total: total,
		Unit: unit, Offset: total, NextOffset: &total, Note: text})) - 1
}
