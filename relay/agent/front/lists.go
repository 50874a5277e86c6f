package front

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
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
		return x.errorResponse(fail)
	}
	body := rawjson.AppendText(f.openResult(x, 0, 64*len(items)), name)
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
			return 0, 0, "", fault.New(fault.InvalidParams, fmt.Sprintf("The limit is not a whole number from 1 to %d",
				maxPage))
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

// A cursor of a paged list (MCP, "Pagination") holds an offset and is bound to one list by the hash of that list: after
// the list has changed, or in another list, it no longer reads. It carries nothing secret and proves nothing. A client
// that makes one up reaches a place of a list that it may read anyway; the reader of a cursor still compares the offset
// with the length of its list.
const (
	cursorVersion = 1
	cursorDigest  = 12            // bytes of the list's hash that a cursor carries
	maxOffset     = math.MaxInt32 // no list of the relay is longer
)

// makeCursor returns the cursor that continues at offset (from 0) in the list that hash identifies. The hash may be any
// text, for example a cursorDigest of the list's bytes, together with what else the page depends on. The cursor is at
// most 31 characters of the URL-safe base64 alphabet. A negative offset counts as 0.
func makeCursor(hash string, offset int) string {
	sum := sha256.Sum256([]byte(hash))
	raw := append([]byte{cursorVersion}, sum[:cursorDigest]...)
	raw = binary.AppendUvarint(raw, uint64(min(max(offset, 0), maxOffset)))
	return base64.RawURLEncoding.EncodeToString(raw)
}

// readCursor returns the offset of a cursor that makeCursor made for the same hash. Any other text is not ok: garbage,
// a cursor of another list, or of the same list as it was before.
func readCursor(text, hash string) (offset int, ok bool) {
	raw, _ := base64.RawURLEncoding.DecodeString(text) // what is none is not what makeCursor makes
	value, _ := binary.Uvarint(raw[min(1+cursorDigest, len(raw)):])
	offset = int(min(value, maxOffset))
	return offset, text == makeCursor(hash, offset)
}

// catalog answers tools/list. What it answers is encoded once for each listing, toolset and view.
type catalog struct {
	mu             lock.Mutex
	listing, pages uint64
	cached         map[string]*toolList
}

// toolList is the tools that a client is shown, sorted by name.
type toolList struct {
	objects []byte // separated by commas
	ends    []int  // of each object
	digest  string
}

// part returns the objects from and up to but not including to.
func (l *toolList) part(from, to int) []byte {
	if from == to {
		return nil
	}
	start := 0
	if from > 0 {
		start = l.ends[from-1] + len(",")
	}
	return l.objects[start:l.ends[to-1]]
}

// maxCached bounds the lists that are kept: the names of toolsets come from clients.
const maxCached = 32

// list returns the tools that are shown.
func (c *catalog) list(snapshot *registry.Snapshot, v visible) *toolList {
	key := v.key()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cached == nil || c.listing != snapshot.Listing || c.pages != snapshot.Pages || len(c.cached) >= maxCached {
		c.listing, c.pages, c.cached = snapshot.Listing, snapshot.Pages, map[string]*toolList{}
	}
	if l, ok := c.cached[key]; ok {
		return l
	}
	l := encodeList(snapshot, v)
	c.cached[key] = l
	return l
}

func encodeList(snapshot *registry.Snapshot, v visible) *toolList {
	type listed struct {
		name   string
		object []byte
	}
	var tools []listed
	size := 2
	for _, t := range snapshot.Tools {
		if v.lists(t) {
			object := v.view.Marked(t, t.InList(v.offer.Profiles))
			tools = append(tools, listed{t.Name, object})
			size += len(object) + 1
		}
	}
	if v.tools.Gateway {
		for _, g := range gatewayTools {
			object := g.object
			if g.name == registry.SearchTools && v.left != nil && v.left.says != "" {
				object = registry.SearchObject(object, v.left.says)
			}
			tools = append(tools, listed{g.name, []byte(object)})
			size += len(object) + 1
		}
		slices.SortFunc(tools, func(a, b listed) int { return strings.Compare(a.name, b.name) })
	}
	l := &toolList{objects: make([]byte, 0, size), ends: make([]int, len(tools))}
	for i, t := range tools {
		l.objects = append(appendComma(l.objects, i), t.object...)
		l.ends[i] = len(l.objects)
	}
	l.digest = digestOf("tools", [][]byte{l.objects})
	return l
}

// moved says where tools went that there were before.
var moved = map[string]string{
	"webpage__read_article":   `browser__read {"what":"article"}`,
	"webpage__read_text":      `browser__read {"what":"text"}`,
	"webpage__search_text":    "browser__find",
	"webpage__outline":        `browser__read {"what":"outline"}`,
	"webpage__list_links":     `browser__read {"what":"links"}`,
	"webpage__list_tables":    `browser__read {"what":"tables"}`,
	"webpage__read_table":     `browser__read {"what":"tables"} with table`,
	"webpage__list_forms":     `browser__read {"what":"forms"}`,
	"webpage__list_images":    `browser__read {"what":"images"}`,
	"webpage__read_selection": `browser__read {"what":"selection"}`,
	"webpage__page_info":      `browser__read {"what":"about"}`,
}

// unknownTool says which tool the client may have meant: one with a name like it, or one that the words of the name
// describe.
func (f *Front) unknownTool(name string, snapshot *registry.Snapshot, v visible) *fault.Error {
	if now, gone := moved[name]; gone {
		return fault.New(fault.UnknownTool,
			fmt.Sprintf("There is no tool named %q any more: it is now %s", name, now))
	}
	rank := func(name string) []*registry.Tool { return f.index.of(snapshot).Rank(name, nil) }
	if len(name) > longestGuess {
		rank = nil
	}
	return snapshot.UnknownTool(name, v.shows, rank)
}

// longestGuess is the longest name whose words are looked for.
const longestGuess = 80 // bytes

// listTools answers tools/list with bytes that were encoded before. Unless configured otherwise the list comes whole:
// widely used clients read one page only.
func (f *Front) listTools(p *peer, x *exchange, m *message) response {
	l := f.listFor(p.session, p.tools, p.offered)
	p.knows(l.digest)
	from, to, next, fail := page(m, l.digest, len(l.ends), f.options.PageSize)
	if fail != nil {
		return x.errorResponse(fail)
	}
	part := l.part(from, to)
	body := append(f.openResult(x, 0, len(part)), `"tools":[`...)
	return closeList(append(body, part...), next)
}

// listFor is the tools that are listed now to a client that asked for a toolset and was offered something before.
func (f *Front) listFor(s call.Session, asked registry.Toolset, o *offered) *toolList {
	snapshot, v := f.options.Tools.Snapshot(), f.visibleTo(s, asked, o)
	v.left = o.overBudget(f.options.ListTokens, f.options.Instructions, snapshot, &v)
	return f.catalog.list(snapshot, v)
}

// knows notes which list the client was given.
func (p *peer) knows(digest string) {
	p.offered.mu.Lock()
	p.offered.list = digest
	p.offered.mu.Unlock()
	if p.listener != nil {
		p.listener.learns(digest)
	}
}

// listKnown is the digest of the list that the client of a new subscription knows: the one that its session was given
// last, or else the one that it would be given now.
func (f *Front) listKnown(p *peer) string {
	p.offered.mu.Lock()
	known := p.offered.list
	p.offered.mu.Unlock()
	return cmp.Or(known, f.listFor(p.session, p.tools, p.offered).digest)
}
