package join

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	"tabrelay/relay/rawjson"
)

// ledger remembers of one client's conversation what a new relay has to be told, and who still waits for what.
type ledger struct {
	mu      sync.Mutex
	opening []line          // initialize, notifications/initialized, logging/setLevel, resources/subscribe: the state of the conversation
	pending []line          // requests without an answer, oldest first
	known   map[string]bool // ids of replayed requests whose answer the client has had
	shut    bool            // the client said shutdown
	left    bool            // and exit after it: a relay answers, then closes, and that is the end
}

// line is one message of the client.
type line struct {
	id     string // its exact JSON text; empty for a notification
	method string
	about  string // the exact JSON text of the resource it subscribes to; else empty
	text   []byte
}

// batchVersion is the one version whose messages may be arrays of messages; in any other the relay refuses them.
const batchVersion = "2025-03-26"

// sent records a message that goes to the relay.
func (l *ledger) sent(text []byte) {
	if messages, ok := rawjson.Items(text); ok && json.Valid(text) && l.version() == batchVersion {
		for _, m := range messages {
			l.sentOne(m)
		}
		return
	}
	l.sentOne(text)
}

func (l *ledger) sentOne(text []byte) {
	members, ok := rawjson.Members(text)
	if !ok || !json.Valid(text) {
		return // the relay will say what is wrong with it
	}
	m := line{text: text, id: string(rawjson.Get(members, "id"))}
	if json.Unmarshal(rawjson.Get(members, "method"), &m.method) != nil || m.id == "null" {
		return // an answer to a request of the relay, or nonsense
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch m.method {
	case "initialize", "notifications/initialized", "logging/setLevel":
		l.open(m)
	case "resources/subscribe", "resources/unsubscribe":
		params, _ := rawjson.Members(rawjson.Get(members, "params"))
		m.about = string(rawjson.Get(params, "uri"))
		l.subscribe(m)
	case "notifications/cancelled":
		params, _ := rawjson.Members(rawjson.Get(members, "params"))
		l.cancel(string(rawjson.Get(params, "requestId")))
	case "shutdown":
		l.shut = l.shut || m.id != "" && !isModern(members)
	case "exit":
		l.left = l.left || l.shut && !isModern(members)
	}
	if m.id != "" {
		l.pending = append(l.pending, m)
	}
}

func isModern(members []rawjson.Member) bool {
	params, _ := rawjson.Members(rawjson.Get(members, "params"))
	meta, _ := rawjson.Members(rawjson.Get(params, "_meta"))
	return rawjson.Get(meta, "io.modelcontextprotocol/protocolVersion") != nil
}

// gone reports whether the client said that it goes.
func (l *ledger) gone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left
}

// open keeps the last message of each method that opens a conversation.
func (l *ledger) open(m line) {
	for i := range l.opening {
		if l.opening[i].method == m.method {
			l.opening[i] = m
			return
		}
	}
	l.opening = append(l.opening, m)
}

// subscribe keeps a subscription until the client ends it.
func (l *ledger) subscribe(m line) {
	l.opening = slices.DeleteFunc(l.opening, func(o line) bool { return o.method == "resources/subscribe" && o.about == m.about })
	if m.method == "resources/subscribe" {
		l.opening = append(l.opening, m)
	}
}

// cancel stops waiting for a request: a cancelled one has no answer.
func (l *ledger) cancel(id string) {
	l.pending = slices.DeleteFunc(l.pending, func(m line) bool { return m.id == id })
}

// answered records a message of the relay, and reports whether the client is to see it.
func (l *ledger) answered(text []byte) (show bool) {
	if answers, ok := rawjson.Items(text); ok {
		for _, a := range answers {
			show = l.answeredOne(a) || show
		}
		return show
	}
	return l.answeredOne(text)
}

func (l *ledger) answeredOne(text []byte) (show bool) {
	id, ok := answerID(text)
	if !ok {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, m := range l.pending {
		if m.id == id {
			l.pending = slices.Delete(l.pending, i, i+1)
			return true
		}
	}
	if l.known[id] {
		delete(l.known, id)
		return false
	}
	return true
}

// replay is what a new relay has to be told. calls are tool calls, which the earlier relay may have carried out;
// lines bring the conversation where it was, and ask again what may simply be asked again. An answer that the
// client has had already is expected once more, and kept from it.
func (l *ledger) replay() (calls []json.RawMessage, lines [][]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := map[string]bool{}
	for _, m := range l.pending {
		waiting[m.id] = true
	}
	l.known = map[string]bool{}
	opens := map[string]bool{}
	for _, m := range l.opening {
		lines = append(lines, m.text)
		opens[m.id] = true
		l.known[m.id] = m.id != "" && !waiting[m.id]
	}
	for _, m := range l.pending {
		switch {
		case m.method == "tools/call":
			calls = append(calls, m.text)
		case !opens[m.id]:
			lines = append(lines, m.text)
		}
	}
	return calls, lines
}

// abandon empties the list of pending requests and returns it: nobody will answer them.
func (l *ledger) abandon() []line {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := l.pending
	l.pending = nil
	return lost
}

// initialized reports whether the conversation was opened as those of the legacy era are.
func (l *ledger) initialized() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.opening, func(m line) bool { return m.method == "initialize" })
}

// version is the one that the client asked for.
func (l *ledger) version() (version string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.opening {
		if m.method == "initialize" {
			members, _ := rawjson.Members(m.text)
			params, _ := rawjson.Members(rawjson.Get(members, "params"))
			_ = json.Unmarshal(rawjson.Get(params, "protocolVersion"), &version) // the relay says what is wrong with it
		}
	}
	return version
}

// answerID returns the id of a message that answers a request. The relay's own answers begin with it, so that
// a result of megabytes need not be read.
func answerID(text []byte) (id string, ok bool) {
	const opening = `{"jsonrpc":"2.0","id":`
	if rest, ok := bytes.CutPrefix(text, []byte(opening)); ok {
		for _, next := range []string{`,"result":`, `,"error":`} {
			if end := bytes.Index(rest[:min(len(rest), 512)], []byte(next)); end >= 0 && json.Valid(rest[:end]) {
				return string(rest[:end]), true
			}
		}
	}
	members, isObject := rawjson.Members(text)
	if !isObject || rawjson.Get(members, "method") != nil {
		return "", false
	}
	raw := rawjson.Get(members, "id")
	return string(raw), raw != nil
}
