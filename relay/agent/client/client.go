// Package client knows the MCP clients of a relay: those that a person gave a token, those that are connected, and when
// each was last seen. Whoever's token is replaced or revoked is shut out at once.
package client

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/agent/front"
	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub"
	"tabrelay/relay/lib/async"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/metrics"
)

// Options is what the clients of a relay have to do with.
type Options struct {
	Version string
	Secrets *config.Secrets
	Seen    *LastSeen
	Front   *front.Front
	Calls   *dispatch.Dispatcher
	Policy  *policy.Policy
	Hub     *hub.Hub
	Meter   *metrics.Metrics
	Events  *event.Bus
	Log     zerolog.Logger

	Audit        func(call.Entry)
	Changed      func(topics ...string) // of the side panel
	SessionEnded func(sessionID string) // an attachment has ended, and its session with it

	Base     context.Context // of attachments; ends when the relay has
	Stopping <-chan struct{} // closed when the relay is to stop
	Stop     func()          // makes it stop
}

// Clients are the clients of a relay. Its methods may be called concurrently.
type Clients struct {
	options Options
	changes *async.Queue
	known   []config.Client // of changes alone: as they were at the last look
	looked  time.Time       // of changes alone: when that was
	expiry  *time.Timer     // of changes alone: looks again when the next token expires

	muted    atomic.Bool                   // attached clients are told nothing more: the next relay will
	farewell atomic.Pointer[join.Farewell] // the last line for stdio proxies; nil: they start the next relay

	remote sync.WaitGroup // attachments from elsewhere

	succeeded         atomic.Bool                   // a newer program that is attached takes this relay's place
	successorFarewell atomic.Pointer[join.Farewell] // the last line for them

	mu       lock.Mutex // guards the rest
	open     map[*connection]struct{}
	attached map[Attached]int
	lent     map[tokenHash]call.Session // for bounded sessions
}

// New looks who has a token.
func New(o Options) *Clients {
	c := &Clients{
		options: o, changes: async.NewQueue(), known: slices.Clone(*o.Secrets.Known().Load()),
		looked: time.Now(), open: map[*connection]struct{}{}, attached: map[Attached]int{},
		lent: map[tokenHash]call.Session{},
	}
	c.awaitExpiry()
	return c
}

// Close returns once no change is made any more. It may be called more than once.
func (c *Clients) Close() {
	_ = c.changes.Do(func() { // where it is closed already, nothing is awaited
		if c.expiry != nil {
			c.expiry.Stop()
		}
	})
	c.changes.Close()
}

// Dispersed returns once the relay's end has reached the attachments from elsewhere, which no listener counts.
func (c *Clients) Dispersed() { c.remote.Wait() }

// Mute tells attached clients nothing more: what the relay's own end cuts short, the next relay answers.
func (c *Clients) Mute() { c.muted.Store(true) }

// Dismiss tells stdio proxies not to start the next relay by themselves: a person stops this one.
func (c *Clients) Dismiss() { c.bid(join.ShutdownNotice) }

// MakeRoom tells stdio proxies to wait for the relay of another version, which whoever asks for it starts.
func (c *Clients) MakeRoom(version string) { c.bid(join.SuccessorNotice(version)) }

func (c *Clients) bid(farewell join.Farewell) {
	c.farewell.Store(&farewell)
	c.successorFarewell.Store(&farewell)
}

// Identify returns the session of whoever has a token, and notes that they are here.
func (c *Clients) Identify(token string) (call.Session, bool) {
	if s, ok := c.borrower(token); ok {
		return s, true
	}
	name, ok := c.options.Secrets.Verify(token)
	s := call.Session{ID: "http:" + name, Client: name, Via: "http"}
	if ok && name != config.LocalClient {
		c.options.Seen.Note(name)
		one := c.knownAs(name)
		s.Scope, s.Remote = one.Scope, one.Remote
	}
	return s, ok
}

// Expired says that a token has expired, and what to do; nil: it is of nobody, or good.
func (c *Clients) Expired(token string) error {
	if one, ok := c.options.Secrets.Expired(token); ok {
		return &config.ExpiredError{Client: one}
	}
	return nil
}

// knownAs is a client as the person added it; one without a token has the zero value.
func (c *Clients) knownAs(name string) config.Client {
	if known := c.options.Secrets.Known().Load(); known != nil {
		for _, one := range *known {
			if one.Name == name {
				return one
			}
		}
	}
	return config.Client{}
}

// nameTaken is the client with a token whose name this one is, or reads like.
func (c *Clients) nameTaken(name string) (taken string, ok bool) {
	known := c.options.Secrets.Known().Load()
	if known == nil {
		return "", false
	}
	return config.Similar(name, *known)
}

// View is one client as a person sees it.
type View struct {
	Name string `json:"name"`
	// it has a token of its own; false: it is here over the socket, without one
	Registered bool       `json:"registered"`
	Created    *time.Time `json:"created"`  // null for one without a token
	LastSeen   *time.Time `json:"lastSeen"` // null: never
	Scope      call.Scope `json:"scope"`
	Attached   int        `json:"attached"`        // attachments and HTTP sessions that are open now
	Via        []string   `json:"via"`             // how: stdio, http
	Remote     bool       `json:"remote"`          // it was added for another machine
	Expires    *time.Time `json:"expires"`         // its token, and nobody is let in with it from then on; null: never
	From       []string   `json:"from"`            // the machines it is attached from, as they call themselves
	Color      string     `json:"color,omitempty"` // of its tab groups; none while no relay runs
}

// List lists who may use the relay, and who is here without a token, by name.
func (c *Clients) List() []View {
	by := registered(c.options.Secrets.Clients(), c.options.Seen.At)
	now := time.Now().UTC().Truncate(time.Second)
	count := func(name, via string, n int) {
		v := by[name]
		if v == nil {
			v = &View{Name: name, Via: []string{}, From: []string{}}
			by[name] = v
		}
		if v.Attached += n; !slices.Contains(v.Via, via) {
			v.Via = append(v.Via, via)
		}
		v.LastSeen = &now
	}
	for _, a := range c.Attached() {
		count(a.Client, a.Via, 1)
		if v := by[a.Client]; a.from != "" && !slices.Contains(v.From, a.from) {
			v.From = append(v.From, a.from)
		}
	}
	for name, n := range c.options.Front.Sessions() {
		if name != config.LocalClient {
			count(name, "http", n)
		}
	}
	return sorted(by)
}

// registered are the clients that have a token.
func registered(clients []config.Client, lastSeen func(name string) time.Time) map[string]*View {
	by := map[string]*View{}
	for _, one := range clients {
		v := &View{Name: one.Name, Registered: true, Created: &one.Created, Scope: one.Scope, Via: []string{},
			Remote: one.Remote, From: []string{}}
		if !one.Expires.IsZero() {
			v.Expires = &one.Expires
		}
		if at := lastSeen(one.Name); !at.IsZero() {
			at = at.UTC().Truncate(time.Second)
			v.LastSeen = &at
		}
		by[one.Name] = v
	}
	return by
}

func sorted(by map[string]*View) []View {
	list := []View{}
	for _, v := range by {
		list = append(list, *v)
	}
	slices.SortFunc(list, func(a, b View) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Attached is a client with an open attachment.
type Attached struct {
	Client  string    `json:"client"`
	Via     string    `json:"via"`
	Since   time.Time `json:"since"` // tells apart those of one name
	session string
	from    string // the other machine; empty: it is on this one
}

// Apart is since when the attachment is there that a session is of, where its client has several: it tells them apart.
// Elsewhere it is zero.
func (c *Clients) Apart(s call.Session) (since time.Time) {
	id, _, _ := strings.Cut(s.ID, "/") // one that the client named is within
	several := 0
	for _, a := range c.Attached() {
		if a.Client != s.Client {
			continue
		}
		if several++; a.session == id {
			since = a.Since
		}
	}
	if several < 2 {
		return time.Time{}
	}
	return since
}

// Attached has an entry for every attachment, sorted by name, the oldest first.
func (c *Clients) Attached() []Attached {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := []Attached{}
	for who, n := range c.attached {
		all = append(all, slices.Repeat([]Attached{who}, n)...)
	}
	slices.SortFunc(all, func(a, b Attached) int {
		return cmp.Or(cmp.Compare(a.Client, b.Client), a.Since.Compare(b.Since))
	})
	return all
}

// count counts an attachment that begins, or ends.
func (c *Clients) count(who Attached, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.attached[who] += by; c.attached[who] == 0 {
		delete(c.attached, who)
	}
}

// connection is an attachment, or a request under way.
type connection struct {
	token string // with which it was made; empty: there is none, only a name
	name  string
	end   func()
	key   string        // of an attachment from elsewhere
	left  chan struct{} // of such a one: closed when it has ended
}

// Enter has end called when a token does not hold any more. leave must be called when the request, or the attachment,
// has ended.
func (c *Clients) Enter(token string, end func()) (leave func()) {
	return c.add(&connection{token: token, end: end})
}

func (c *Clients) add(one *connection) (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[one] = struct{}{}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.open, one)
	}
}

// endStale ends the connections whose token does not hold any more, or whose name is that of a client with a token by
// now.
func (c *Clients) endStale() {
	c.mu.Lock()
	open := make([]*connection, 0, len(c.open))
	for one := range c.open {
		open = append(open, one)
	}
	c.mu.Unlock()
	ended := 0
	for _, one := range open {
		_, stale := c.nameTaken(one.name)
		if one.token != "" {
			stale = !c.holds(one.token)
		}
		if stale {
			one.end()
			ended++
		}
	}
	if ended > 0 {
		c.options.Log.Info().Int("connections", ended).Msg("disconnected clients whose tokens are no longer valid")
	}
}
