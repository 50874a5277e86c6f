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
	count   int             // messages so far
	opening []line          // what a relay has accepted that is the state of the conversation, see opens
	pending []line          // requests without an answer, oldest first
	known   map[string]bool // ids of replayed requests whose answer the client has had
	shut    bool            // the client said shutdown
	left    bool            // and exit after it: a relay answers, then closes, and that is the end
}

// line is one message of the client.
type line struct {
	at      int    // its place among all messages
	id      string // its exact JSON text; empty for a notification
	method  string
	about   string // the exact JSON text of the resource it subscribes to; else empty
	outside bool   // it came before initialize, or after shutdown, in the era that has them: a relay refuses it
	text    []byte
}

// opens is what a message of the client sets, of which the last message counts; empty: it sets nothing.
func (m *line) opens() string {
	switch m.method {
	case "initialize", "notifications/initialized", "logging/setLevel", "shutdown":
		return m.method
	case "resources/subscribe", "resources/unsubscribe":
		return "resources/subscribe " + m.about
	}
	return ""
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
	legacy := !isModern(members)
	params, _ := rawjson.Members(rawjson.Get(members, "params"))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	m.at, m.outside = l.count, legacy && (!l.begun() || l.shut)
	switch m.method {
	case "notifications/initialized":
		l.open(m)
	case "resources/subscribe", "resources/unsubscribe":
		m.about = string(rawjson.Get(params, "uri"))
	case "notifications/cancelled":
		l.cancel(string(rawjson.Get(params, "requestId")))
	case "shutdown":
		l.shut = l.shut || m.id != "" && legacy
	case "exit":
		l.left = l.left || l.shut && legacy
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

// open keeps what a relay has accepted. Answers may come in another order than requests: the later request counts. The
// end of a subscription is kept only while an answer to an earlier message about it may still come.
func (l *ledger) open(m line) {
	about := m.opens()
	if about == "" {
		return
	}
	same := func(o line) bool { return o.opens() == about }
	if i := slices.IndexFunc(l.opening, same); i >= 0 && l.opening[i].at > m.at {
		return
	}
	l.opening = append(slices.DeleteFunc(l.opening, same), m)
	l.opening = slices.DeleteFunc(l.opening, func(o line) bool {
		return o.method == "resources/unsubscribe" && !slices.ContainsFunc(l.pending, func(p line) bool { return p.about == o.about })
	})
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
	id, accepted, ok := answerTo(text)
	if !ok {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, m := range l.pending {
		if m.id == id {
			l.pending = slices.Delete(l.pending, i, i+1)
			if accepted {
				l.open(m)
			}
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
// lines bring the conversation where it was, and ask again what may simply be asked again, in the order in which the
// client sent them. An answer that the client has had already is expected once more, and kept from it.
func (l *ledger) replay() (calls []json.RawMessage, lines [][]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known = map[string]bool{}
	for _, m := range l.opening {
		l.known[m.id] = m.id != ""
	}
	all := slices.Concat(l.opening, l.pending)
	slices.SortStableFunc(all, func(a, b line) int { return a.at - b.at })
	for _, m := range all {
		if m.method == "tools/call" && !m.outside {
			calls = append(calls, m.text)
		} else {
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
	return l.begun()
}

// begun is initialized, with mu held. An initialize that was not answered yet counts.
func (l *ledger) begun() bool {
	_, found := l.initialize()
	return found
}

// initialize is the client's, with mu held.
func (l *ledger) initialize() (m line, found bool) {
	for _, m := range slices.Concat(l.opening, l.pending) {
		if m.method == "initialize" {
			return m, true
		}
	}
	return m, false
}

// version is the one that the client asked for.
func (l *ledger) version() (version string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, _ := l.initialize()
	members, _ := rawjson.Members(m.text)
	params, _ := rawjson.Members(rawjson.Get(members, "params"))
	_ = json.Unmarshal(rawjson.Get(params, "protocolVersion"), &version) // the relay says what is wrong with it
	return version
}

// answerTo returns the id of a message that answers a request, and whether it is a result. The relay's own answers begin
// with the id, so that a result of megabytes need not be read.
func answerTo(text []byte) (id string, accepted, ok bool) {
	const opening = `{"jsonrpc":"2.0","id":`
	if rest, ok := bytes.CutPrefix(text, []byte(opening)); ok {
		for _, next := range []string{`,"result":`, `,"error":`} {
			if end := bytes.Index(rest[:min(len(rest), 512)], []byte(next)); end >= 0 && json.Valid(rest[:end]) {
				return string(rest[:end]), next == `,"result":`, true
			}
		}
	}
	members, isObject := rawjson.Members(text)
	if !isObject || rawjson.Get(members, "method") != nil {
		return "", false, false
	}
	raw := rawjson.Get(members, "id")
	return string(raw), rawjson.Get(members, "result") != nil, raw != nil
}
