package rawjson

import "encoding/json"

// Items lists the items of an array in their order, and reports whether doc is an array at all. The items are slices
// of the document.
func Items(doc json.RawMessage) (items []json.RawMessage, ok bool) {
	i := space(doc, 0)
	if i >= len(doc) || doc[i] != '[' {
		return nil, false
	}
	i = space(doc, i+1)
	for i < len(doc) && doc[i] != ']' {
		start := i
		if i = value(doc, i); i == start {
			break
		}
		items = append(items, doc[start:i:i])
		if i = space(doc, i); i < len(doc) && doc[i] == ',' {
			i = space(doc, i+1)
		}
	}
	return items, true
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
