package front

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strconv"

	"tabrelay/relay/fault"
	"tabrelay/relay/rawjson"
)

// Sizes of a page.
const (
	pageSize = 50
	maxPage  = 200 // what a client may ask for with limit
)

// list answers one of the list methods with a page of items, which are encoded already. size is how many there are on
// a page unless the client says otherwise; 0: all.
func (f *Front) list(x *exchange, m *message, name string, items [][]byte, size int) response {
	from, to, next, fail := page(m, digestOf(name, items), len(items), size)
	if fail != nil {
		return x.refuse(fail)
	}
	body := rawjson.AppendText(f.openResult(x, true, 64*len(items)), name)
	body = append(append(body, ":["...), bytes.Join(items[from:to], []byte{','})...)
	return closeList(body, next)
}

// closeList ends a list result with the cursor of the next page, if there is one.
func closeList(body []byte, next string) response {
	body = append(body, ']')
	if next != "" {
		body = rawjson.AppendText(append(body, `,"nextCursor":`...), next)
	}
	return response{body: append(body, "}}"...)}
}

// page decides which items, from and up to but not including to, answer a request for a list of total items, and
// makes the cursor of those after them. The cursor is bound to the list as it is now: after a change it would lead to
// the wrong place.
func page(m *message, digest string, total, size int) (from, to int, next string, fail *fault.Error) {
	if raw := m.param("limit"); raw != nil {
		n, err := strconv.Atoi(string(raw))
		if err != nil || n < 1 || n > maxPage {
			return 0, 0, "", fault.New(fault.InvalidParams, fmt.Sprintf("The limit is not a whole number from 1 to %d", maxPage))
		}
		size = n
	}
	if raw := m.param("cursor"); raw != nil {
		text, isText := rawjson.Text(raw)
		var known bool
		if from, known = readCursor(text, digest); !isText || !known || from >= total {
			return 0, 0, "", fault.New(fault.InvalidCursor, "Invalid cursor")
		}
	}
	if to = total; size > 0 && from+size < total {
		to = from + size
		next = makeCursor(digest, to)
	}
	return from, to, next, nil
}

// digestOf identifies a list by its name and everything in it.
func digestOf(name string, items [][]byte) string {
	h := sha256.New()
	h.Write([]byte(name))
	for _, item := range items {
		h.Write([]byte{0}) // which no JSON has
		h.Write(item)
	}
	return string(h.Sum(nil))
}

// encodeAll encodes each item by itself.
func encodeAll[T any](items []T) [][]byte {
	all := make([][]byte, len(items))
	for i, item := range items {
		all[i] = rawjson.MustEncode(item)
	}
	return all
}
