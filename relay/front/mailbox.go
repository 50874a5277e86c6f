package front

import (
	"slices"
	"sync"
)

// maxLetters bounds what waits for a client that does not listen. Changes are kept once each, so that this many
// resources must have changed, or log messages come, before anything is lost.
const maxLetters = 256

// mailbox keeps what a client is still to be told besides what mcp-go tells it.
type mailbox struct {
	mu      sync.Mutex
	waiting []letter
	wake    chan struct{} // holds a token while something waits
}

// letter is one notification, without the envelope that depends on who gets it.
type letter struct {
	key     string // a second letter with the key of one that still waits says nothing new; empty: every one counts
	method  string
	members []byte // of params, without braces
}

func newMailbox() mailbox { return mailbox{wake: make(chan struct{}, 1)} }

// post adds a letter. The oldest gives way when there are too many.
func (b *mailbox) post(l letter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.key != "" && slices.ContainsFunc(b.waiting, func(w letter) bool { return w.key == l.key }) {
		return
	}
	if len(b.waiting) == maxLetters {
		b.waiting = slices.Delete(b.waiting, 0, 1)
	}
	b.waiting = append(b.waiting, l)
	b.ring()
}

// ring wakes whoever reads the mailbox.
func (b *mailbox) ring() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take empties the mailbox.
func (b *mailbox) take() []letter {
	b.mu.Lock()
	defer b.mu.Unlock()
	letters := b.waiting
	b.waiting = nil
	return letters
}

// encode writes the letter for the subscription with this id, or for a client of the legacy era when it is nil.
func (l letter) encode(subscription []byte) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","method":"`), l.method...)
	b = append(b, `","params":{`...)
	if subscription != nil {
		b = append(append(b, `"_meta":{"io.modelcontextprotocol/subscriptionId":`...), subscription...)
		b = append(b, `},`...)
	}
	return append(append(b, l.members...), "}}"...)
}
