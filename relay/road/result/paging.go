package result

import (
	"encoding/json"
	"slices"
	"strings"

	"tabrelay/relay/lib/rawjson"
)

// pagingNames are the names, in lower case and without _ and -, by which tools say that or where their results go on.
var pagingNames = map[string]bool{
	"nextoffset": true, "nextcursor": true, "nextpage": true, "nextpagetoken": true, "nexttoken": true,
	"nextstart": true,
	"nextindex": true, "nextposition": true, "nextlink": true, "nexturl": true, "nexthref": true, "next": true,
	"hasmore": true, "hasnext": true, "hasnextpage": true, "hasmorepages": true, "more": true, "lastpage": true,
	"islast": true, "islastpage": true, "continuation": true, "continuationtoken": true, "continue": true,
	"cursor": true, "endcursor": true, "pagetoken": true, "scrollid": true,
}

// tellsPaging reports whether a member says where a result goes on. A list of that name is content.
func tellsPaging(m rawjson.Member) bool {
	return m.Value[0] != '[' && string(m.Value) != "null" &&
		pagingNames[strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(m.Name))]
}

// withholdPaging takes out of the value what the tool itself says of its next page, in every object whose paging may be
// about what was cut: those around the cut, and those that no list holds; all of them when it is not known where the
// cut is.
func (c *cut) withholdPaging() {
	w := withholding{around: c.steps, everywhere: !c.goesOn, found: map[string]json.RawMessage{}}
	if value, changed := w.visit(c.value, nil, true); changed {
		c.value, c.withheld = value, w.found
	}
}

type withholding struct {
	around     []step // to the cut
	everywhere bool
	found      map[string]json.RawMessage
}

// visit goes through a value at a place. on tells that the place is on the way to the cut.
func (w *withholding) visit(value json.RawMessage, at []step, on bool) (json.RawMessage, bool) {
	if len(at) > deepest || len(value) == 0 {
		return value, false
	}
	if items, ok := rawjson.Items(value); ok {
		return w.items(value, items, at, on)
	}
	members, ok := rawjson.Members(value)
	if !ok {
		return value, false
	}
	changed := false
	kept := members[:0:0]
	for _, m := range members {
		here := append(at[:len(at):len(at)], step{name: &m.Name})
		within := on && w.leads(here)
		if !within && tellsPaging(m) {
			if !w.everywhere || !slices.ContainsFunc(here, func(s step) bool { return s.name == nil }) {
				w.found[query(here)] = m.Value // that of every item would be too much; the whole is kept
			}
			changed = true
			continue
		}
		inner, altered := w.visit(m.Value, here, within)
		m.Value, changed = inner, changed || altered
		kept = append(kept, m)
	}
	if !changed {
		return value, false
	}
	return rawjson.Join(kept), true
}

// items goes into those items of a list that matter.
func (w *withholding) items(value json.RawMessage, items []json.RawMessage, at []step,
	on bool) (json.RawMessage, bool) {
	changed := false
	for i := range items {
		here := append(at[:len(at):len(at)], step{index: i})
		within := on && w.leads(here)
		if !within && !w.everywhere {
			continue
		}
		inner, altered := w.visit(items[i], here, within)
		items[i], changed = inner, changed || altered
	}
	if !changed {
		return value, false
	}
	return rawjson.List(items), true
}

// leads reports whether a place is on the way to the cut, or is it.
func (w *withholding) leads(to []step) bool {
	return !w.everywhere && len(to) <= len(w.around) && slices.EqualFunc(to, w.around[:len(to)], func(a, b step) bool {
		if a.name == nil || b.name == nil {
			return a.name == b.name && a.index == b.index
		}
		return *a.name == *b.name
	})
}
