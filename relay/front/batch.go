package front

import (
	"encoding/json"
	"slices"
	"sync"

	"tabrelay/relay/fault"
	"tabrelay/relay/rawjson"
)

// batchVersion is the one version of MCP in which a message may be an array of messages (MCP 2025-03-26, "Base
// Protocol", "Batching"). The next one took that back.
const batchVersion = "2025-03-26"

// batch gathers the responses to an array of messages into one array (JSON-RPC 2.0, section 6), in the order of the
// messages. Notifications of its requests go out as they come.
type batch struct {
	outlet

	mu        sync.Mutex
	waiting   int               // messages that have not ended, and the reader of the array
	responses []json.RawMessage // one for each message; nil: it has none
}

// slot is the way back of one message of a batch.
type slot struct {
	*batch
	at int
}

func newBatch(out outlet) *batch { return &batch{outlet: out, waiting: 1} }

// batch cuts text into its messages if it is an array. A text that is none, or no JSON, is left to parse.
func (p *party) batch(text []byte) (messages []json.RawMessage, fail *fault.Error) {
	version := p.version.Load()
	if !rawjson.IsArray(text) || version == nil || readable(text) != nil {
		return nil, nil
	}
	if *version != batchVersion {
		return nil, fault.New(fault.InvalidRequest, "Batch arrays are not allowed for protocol "+*version)
	}
	messages, _ = rawjson.Items(text)
	if len(messages) == 0 {
		return nil, fault.New(fault.InvalidRequest, "The batch is empty")
	}
	return messages, nil
}

func (b *batch) send(note []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.outlet.send(note)
}

// slot makes the way back of the next message, which says end when it has ended.
func (b *batch) slot() *slot {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting++
	b.responses = append(b.responses, nil)
	return &slot{b, len(b.responses) - 1}
}

func (s *slot) finish(r response) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.responses[s.at] = r.body
	return nil
}

// end is called for every message, and once all were read. The last call answers; where there were only notifications
// and cancelled requests, there is no answer.
func (b *batch) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting--; b.waiting > 0 {
		return
	}
	responses := slices.DeleteFunc(b.responses, func(r json.RawMessage) bool { return r == nil })
	if len(responses) > 0 {
		_ = b.outlet.finish(response{body: rawjson.List(responses)})
	}
}
