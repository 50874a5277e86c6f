// Package event is what the relay tells about itself while it runs: the source of the event stream, of
// events://recent and of `tabrelay events`. Events are news, not history: the audit log is kept elsewhere.
package event

import (
	"maps"
	"strings"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
)

// Kind is what happened.
type Kind string

// The kinds.
const (
	Connected    Kind = "connected"    // a browser profile
	Disconnected Kind = "disconnected" // a browser profile
	Reconnecting Kind = "reconnecting" // a profile that was here a moment ago is waited for
	Error        Kind = "error"        // a call failed, or the relay found something wrong with itself
	Retry        Kind = "retry"        // a call is tried again
	Breaker      Kind = "breaker"      // a circuit breaker changed its state
	Fatal        Kind = "fatal"        // a link is given up until something changes
	Approval     Kind = "approval"     // a person is asked, or has decided
	Session      Kind = "session"      // a client, or an agent that acts for one, came or went
	Call         Kind = "call"         // a call ended; only told to those who follow calls
	Line         Kind = "line"         // a plugin logged something in a call; only told to those who follow calls
	Console      Kind = "console"      // the page wrote to its console in a call; only told to those who follow calls
	Uncaught     Kind = "uncaught"     // a plugin threw outside of its handlers; only told to those who follow calls
)

// Owner is whom an event is about. The person hears of every event, and of those with an owner that client, too.
type Owner struct{ client, session, agent string }

// Of makes a session the owner: the event is about its call, or about the session itself.
func Of(s call.Session) Owner {
	o := Owner{client: s.Client, session: s.ID}
	if s.Bounds != nil {
		o.agent = s.Bounds.Agent
	}
	return o
}

// OfPerson is for events that are no client's: they are about the relay, a browser, or several clients at once.
func OfPerson() Owner { return Owner{} }

// Event is one thing that happened.
type Event struct {
	Seq     uint64         `json:"seq"` // grows by one with every event of one relay
	Time    time.Time      `json:"time"`
	Kind    Kind           `json:"kind"`
	Message string         `json:"message"`        // one sentence
	Data    map[string]any `json:"data,omitempty"` // client, session and agent are its owner's

	owner Owner
}

// Concerns reports whether an agent's session may hear of it: it is about the same client. Clients without a name share
// one, so of these it has to be the same attachment.
func (e Event) Concerns(s call.Session) bool {
	o := e.owner
	return o.client != "" && o.client == s.Client &&
		(o.client != call.Unnamed || attachment(o.session) == attachment(s.ID))
}

// attachment is the part of a session that all sessions of one attachment have in common.
func attachment(session string) string {
	base, _, _ := strings.Cut(session, "/")
	return base
}

const (
	kept    = 500 // events Recent can tell
	backlog = 256 // events that wait for a subscriber that is slow
)

// Bus passes events on. The zero value is ready to use.
type Bus struct {
	mu     lock.Mutex
	seq    uint64
	recent []Event // a ring once it is full; the oldest is at seq%kept
	out    map[chan Event]struct{}
}

// Publish tells every subscriber, of whom each passes on only what its listener may hear. It never blocks: a subscriber
// that does not keep up misses events, and sees that by Seq.
func (b *Bus) Publish(owner Owner, kind Kind, message string, data map[string]any) {
	if owner.client != "" {
		owned := map[string]any{}
		maps.Copy(owned, data)
		owned["client"], owned["session"] = owner.client, owner.session
		if owner.agent != "" {
			owned["agent"] = owner.agent
		}
		data = owned
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e := Event{Seq: b.seq, Time: time.Now().UTC(), Kind: kind, Message: message, Data: data, owner: owner}
	if len(b.recent) < kept {
		b.recent = append(b.recent, e)
	} else {
		b.recent[b.seq%kept] = e
	}
	b.seq++
	for c := range b.out {
		select {
		case c <- e:
		default:
		}
	}
}

// Heard reports whether somebody has subscribed. A nil Bus is one that nobody hears.
func (b *Bus) Heard() bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.out) > 0
}

// Recent returns the last n events, oldest first.
func (b *Bus) Recent(n int) []Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	n = max(0, min(n, len(b.recent)))
	list := make([]Event, 0, n)
	for i := b.seq - uint64(n); i < b.seq; i++ {
		list = append(list, b.recent[i%kept])
	}
	return list
}

// Subscribe returns the events from now on. stop ends that; the channel is not closed.
func (b *Bus) Subscribe() (events <-chan Event, stop func()) {
	c := make(chan Event, backlog)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.out == nil {
		b.out = map[chan Event]struct{}{}
	}
	b.out[c] = struct{}{}
	return c, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.out, c)
	}
}
