package front

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// askEngine has mcp-go answer a request. The message is encoded again from what our parser read, so that the two cannot
// read it differently; it has an id of ours that is unique among all clients, and no arguments, which mcp-go would
// decode eight times.
func (f *Front) askEngine(ctx context.Context, c *listener, x *exchange, m *message, name string) response {
	if c != nil {
		ctx = f.engine.WithContext(ctx, c)
	}
	switch r := f.engine.HandleMessage(ctx, m.forEngine(name)).(type) {
	case mcp.JSONRPCResponse:
		result, err := json.Marshal(r.Result)
		if err != nil {
			panic(err)
		}
		return resultResponse(x.id, result)
	case mcp.JSONRPCError:
		return f.translate(x, m, r.Error)
	default:
		panic(fmt.Sprintf("mcp-go answered %s with %T", m.method, r))
	}
}

// nextName makes a name that no request and no session had before.
func (f *Front) nextName() string { return "tabrelay:" + strconv.FormatUint(f.serial.Add(1), 10) }

// forEngine writes the message as mcp-go gets it.
func (m *message) forEngine(id string) json.RawMessage {
	b := append([]byte(`{"jsonrpc":"2.0"`), `,"id":`...)
	b = rawjson.AppendText(b, id)
	b = rawjson.AppendText(append(b, `,"method":`...), m.method)
	if m.params != nil {
		b = append(append(b, `,"params":`...), m.withoutArguments()...)
	}
	return append(b, '}')
}

// withoutArguments returns the params without the member that can be large.
func (m *message) withoutArguments() []byte {
	if m.method != string(mcp.MethodToolsCall) {
		return m.params
	}
	return rawjson.Join(without(slices.Clone(m.members), "arguments"))
}

// translate gives an error of mcp-go the number that MCP has for it, and our data. Data it has itself is the protocol's
// own, such as the versions that are supported.
func (f *Front) translate(x *exchange, m *message, e mcp.JSONRPCErrorDetails) response {
	var code fault.Code
	switch e.Code {
	case mcp.METHOD_NOT_FOUND:
		code = fault.MethodNotFound
	case mcp.INVALID_PARAMS:
		code = fault.InvalidParams
	case mcp.INVALID_REQUEST: // the request itself is in order, so it is the params that do not decode
		return x.errorResponse(fault.New(fault.InvalidParams, "The params of "+clip.Runes(m.method, 60)+
			" do not have the form that the method asks for"))
	case mcp.INTERNAL_ERROR:
		f.options.Log.Error().Str("method", m.method).Str("error", e.Message).Msg("mcp-go failed")
		return x.errorResponse(fault.New(fault.InternalError, "internal error"))
	}
	if code != "" && e.Data == nil {
		return x.errorResponse(fault.New(code, e.Message))
	}
	var data []byte
	if e.Data != nil {
		data = rawjson.MustEncode(e.Data)
	}
	return errorResponseWith(x.id, e.Code, e.Message, data)
}

// listener receives notifications from mcp-go: a client of the legacy era, or one subscription of a modern one.
// Each has a channel of its own, so nothing comes out of another's stream.
type listener struct {
	id         string
	session    call.Session // whose it is
	tools      registry.Toolset
	offered    *offered
	notes      chan mcp.JSONRPCNotification
	ready      atomic.Bool
	unchanging atomic.Bool  // it is not told that lists change
	level      atomic.Value // mcp.LoggingLevel

	outbox outbox // notifications that mcp-go does not send

	subscription bool // only what filter names is sent
	mu           lock.Mutex
	filter       mcp.SubscriptionFilter
	list         string            // digest of the list of tools that the client knows; empty: of none
	watches      map[string]*watch // by URI; nil after the end
}

var (
	_ server.SessionWithLogging            = (*listener)(nil)
	_ server.SessionWithSubscriptionFilter = (*listener)(nil)
)

// newListener makes one; its channel holds one change of each kind, which is all that a list_changed can say.
func newListener(id string, session call.Session, tools registry.Toolset, o *offered) *listener {
	c := &listener{id: id, session: session, tools: tools, offered: o, notes: make(chan mcp.JSONRPCNotification, 8),
		outbox: newOutbox(), watches: map[string]*watch{}}
	c.level.Store(mcp.LoggingLevel(defaultLevel))
	return c
}

func (c *listener) SessionID() string                  { return c.id }
func (c *listener) Initialize()                        { c.ready.Store(true) }
func (c *listener) Initialized() bool                  { return c.ready.Load() }
func (c *listener) SetLogLevel(level mcp.LoggingLevel) { c.level.Store(level) }
func (c *listener) GetLogLevel() mcp.LoggingLevel      { return c.level.Load().(mcp.LoggingLevel) }

// NotificationChannel is nil, so that sending to it never succeeds, for a client that is not told about changes.
func (c *listener) NotificationChannel() chan<- mcp.JSONRPCNotification {
	if c.unchanging.Load() {
		return nil
	}
	return c.notes
}

func (c *listener) SetSubscriptionFilter(filter mcp.SubscriptionFilter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.filter = filter
}

func (c *listener) SubscriptionFilter() (filter mcp.SubscriptionFilter, active bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.filter, c.subscription
}
