package front

import (
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"tabrelay/relay/call"
)

// client is one listener as mcp-go knows it: a client of the legacy era, or one subscription of a modern one. Each has
// a channel of its own, so nothing comes out of another's stream.
type client struct {
	id         string
	session    call.Session // whose it is
	notes      chan mcp.JSONRPCNotification
	ready      atomic.Bool
	unchanging atomic.Bool  // it is not told that lists change
	level      atomic.Value // mcp.LoggingLevel

	box mailbox // what mcp-go does not tell

	subscription bool // only what filter names is sent
	mu           sync.Mutex
	filter       mcp.SubscriptionFilter
	watches      map[string]*watch // by URI; nil after the end
}

var (
	_ server.SessionWithLogging            = (*client)(nil)
	_ server.SessionWithSubscriptionFilter = (*client)(nil)
)

// newClient makes a client; its channel holds one change of each kind, which is all that a list_changed can say.
func newClient(id string, session call.Session) *client {
	c := &client{id: id, session: session, notes: make(chan mcp.JSONRPCNotification, 8), box: newMailbox(), watches: map[string]*watch{}}
	c.level.Store(mcp.LoggingLevel(defaultLevel))
	return c
}

func (c *client) SessionID() string                  { return c.id }
func (c *client) Initialize()                        { c.ready.Store(true) }
func (c *client) Initialized() bool                  { return c.ready.Load() }
func (c *client) SetLogLevel(level mcp.LoggingLevel) { c.level.Store(level) }
func (c *client) GetLogLevel() mcp.LoggingLevel      { return c.level.Load().(mcp.LoggingLevel) }

// NotificationChannel is nil, into which nothing goes, for a client that is not told about changes.
func (c *client) NotificationChannel() chan<- mcp.JSONRPCNotification {
	if c.unchanging.Load() {
		return nil
	}
	return c.notes
}

func (c *client) SetSubscriptionFilter(filter mcp.SubscriptionFilter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.filter = filter
}

func (c *client) SubscriptionFilter() (filter mcp.SubscriptionFilter, active bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.filter, c.subscription
}
