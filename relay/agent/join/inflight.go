package join

import (
	"bytes"
	"encoding/json"
	"slices"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/rawjson"
)

// inFlight tracks one client's conversation: the requests without a reply, and what a new relay has to be sent to bring
// the conversation to the same state.
type inFlight struct {
	mu          lock.Mutex
	count       int             // messages so far
	accepted    []clientMessage // what a relay has accepted that is state of the conversation, see clientMessage.state
	pending     []clientMessage // requests without a reply, oldest first
	answeredIDs map[string]bool // ids of replayed requests whose reply the client has had
	shutdown    bool            // the client said shutdown
	exited      bool            // and exit after it: the relay answers, then closes the connection
}

// clientMessage is one message of the client.
type clientMessage struct {
	seq        int    // its number among all messages
	line       int64  // its number among the lines that the relay was sent; 0: it was handed to it by replay
	id         string // its exact JSON text; empty for a notification
	method     string
	state      string // the name of the state that it sets, of which the last message counts; empty: it sets none
	resource   string // the exact JSON text of the resource it subscribes to; else empty
	outOfOrder bool   // before initialize or after shutdown, in the legacy era: a relay refuses it
	text       []byte
}

// metaVersion is the member of _meta by which a message says that it is of the modern era.
const metaVersion = "io.modelcontextprotocol/protocolVersion"

// recordSent records a message that goes to the relay as a line of this number.
func (f *inFlight) recordSent(text []byte, line int64) {
	members, ok := rawjson.Members(text)
	if !ok || !rawjson.Valid(text) {
		return // the relay will say what is wrong with it
	}
	m := clientMessage{text: text, line: line, id: string(rawjson.Get(members, "id"))}
	if json.Unmarshal(rawjson.Get(members, "method"), &m.method) != nil || m.id == "null" {
		return // a reply to a request of the relay, or invalid
	}
	params, _ := rawjson.Members(rawjson.Get(members, "params"))
	meta, _ := rawjson.Members(rawjson.Get(params, "_meta"))
	legacy := rawjson.Get(meta, metaVersion) == nil
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	m.seq, m.outOfOrder = f.count, legacy && (!f.hasInitialize() || f.shutdown)
	switch m.method {
	case "initialize", "logging/setLevel":
		m.state = m.method
	case "notifications/initialized":
		m.state = m.method
		f.accept(m)
	case "resources/subscribe", "resources/unsubscribe":
		m.resource = string(rawjson.Get(params, "uri"))
		m.state = "resources/subscribe " + m.resource
	case "notifications/cancelled":
		f.cancel(string(rawjson.Get(params, "requestId")))
	case "shutdown":
		m.state = m.method
		f.shutdown = f.shutdown || m.id != "" && legacy
	case "exit":
		f.exited = f.exited || f.shutdown && legacy
	}
	if m.id != "" {
		f.pending = append(f.pending, m)
	}
}

// hasExited reports whether the client ended the conversation with exit.
func (f *inFlight) hasExited() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.exited
}

// accept keeps a message that a relay has accepted and that sets a state. Replies may come in another order than
// requests: the later request counts. An unsubscribe is kept only while a reply to an earlier message about the same
// resource may still come.
func (f *inFlight) accept(m clientMessage) {
	same := func(o clientMessage) bool { return o.state == m.state }
	if i := slices.IndexFunc(f.accepted, same); i >= 0 && f.accepted[i].seq > m.seq {
		return
	}
	f.accepted = append(slices.DeleteFunc(f.accepted, same), m)
	f.accepted = slices.DeleteFunc(f.accepted, func(o clientMessage) bool {
		pending := func(p clientMessage) bool { return p.resource == o.resource }
		return o.method == "resources/unsubscribe" && !slices.ContainsFunc(f.pending, pending)
	})
}

// cancel forgets a request: a cancelled one has no reply.
func (f *inFlight) cancel(id string) {
	f.pending = slices.DeleteFunc(f.pending, func(m clientMessage) bool { return m.id == id })
}

// recordReply records a message of the relay; it reports whether the client is to see it.
func (f *inFlight) recordReply(text []byte) (show bool) {
	id, accepted, ok := replyID(text)
	if !ok {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, m := range f.pending {
		if m.id == id {
			f.pending = slices.Delete(f.pending, i, i+1)
			if accepted && m.state != "" {
				f.accept(m)
			}
			return true
		}
	}
	if f.answeredIDs[id] {
		delete(f.answeredIDs, id)
		return false
	}
	return true
}

// replay is what a new relay has to be sent. calls are tool calls, which the earlier relay may have executed; lines are
// all other messages, in the order in which the client sent them: they restore the state and repeat pending requests.
// Replies that the client has had already are recorded in answeredIDs, so that it does not get them twice.
func (f *inFlight) replay() (calls []json.RawMessage, lines [][]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.pending {
		f.pending[i].line = 0
	}
	f.answeredIDs = map[string]bool{}
	for _, m := range f.accepted {
		f.answeredIDs[m.id] = m.id != ""
	}
	all := slices.Concat(f.accepted, f.pending)
	slices.SortStableFunc(all, func(a, b clientMessage) int { return a.seq - b.seq })
	for _, m := range all {
		if m.method == "tools/call" && !m.outOfOrder {
			calls = append(calls, m.text)
		} else {
			lines = append(lines, m.text)
		}
	}
	return calls, lines
}

// removeUnheard removes and returns the requests that a relay was sent after the last line it has heard.
func (f *inFlight) removeUnheard(heard int64) (unheard [][]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending = slices.DeleteFunc(f.pending, func(m clientMessage) bool {
		if m.line > heard {
			unheard = append(unheard, m.text)
		}
		return m.line > heard
	})
	return unheard
}

// removePending removes and returns the pending requests, which no relay will answer.
func (f *inFlight) removePending() []clientMessage {
	f.mu.Lock()
	defer f.mu.Unlock()
	lost := f.pending
	f.pending = nil
	return lost
}

// initialized reports whether the client sent initialize, as those of the legacy era do.
func (f *inFlight) initialized() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hasInitialize()
}

// hasInitialize is initialized, with mu held. An initialize without a reply counts.
func (f *inFlight) hasInitialize() bool {
	is := func(m clientMessage) bool { return m.method == "initialize" }
	return slices.ContainsFunc(f.accepted, is) || slices.ContainsFunc(f.pending, is)
}

// replyID returns the id of a message that answers a request, and whether it is a result. The relay's own replies begin
// with the id, so that a result of megabytes need not be parsed.
func replyID(text []byte) (id string, accepted, ok bool) {
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
