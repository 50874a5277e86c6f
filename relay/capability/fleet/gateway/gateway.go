// Package gateway is the fleet's implementation of what a front needs (front.Caller, front.Tools, front.Views): the
// tools of the nodes that can be reached, and calls that run wherever the browser is. It keeps no state that another
// gateway would miss: which node a call goes to is said by the call, and what became of it is known by the node.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"tabrelay/relay/capability/fleet/node"
	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/registry"
)

// Options is what a gateway needs.
type Options struct {
	Name    string // by which nodes know it; its credentials let it use no other
	Peer    wire.Peer
	Machine string // of callers whose machine is not known
	// Caller says whose agent a client is, and what that agent is called, by the client's name.
	Caller func(client string) (person, agent string)
	// Recover is how long a call whose node is lost may wait for the node to say what became of it.
	Recover time.Duration
	// Queue is how long a call may wait for its turn in a browser profile that another session uses.
	Queue time.Duration
	Log   zerolog.Logger
}

// Gateway knows the nodes of a fleet until Close.
type Gateway struct {
	Options
	conn     *nats.Conn
	registry *registry.Registry
	base     context.Context
	stop     context.CancelFunc
	ended    sync.WaitGroup
	wake     chan struct{} // the connection is another one
	inboxes  inboxes

	mu      lock.Mutex // guards the rest; nothing nests in it
	nodes   map[string]*known
	visits  map[string]*visits // by session
	trouble string             // why the directory cannot be read; empty: it can
}

// known is a node as the directory has it. It never changes.
type known struct {
	wire.Entry
	tools []wire.Tool
	fault string // why its tools are not there; empty: they are
}

// Open makes a gateway. Its server need not be there yet.
func Open(o Options) (g *Gateway, err error) {
	g = &Gateway{Options: o, registry: registry.New(nil), nodes: map[string]*known{}, wake: make(chan struct{}, 1),
		visits: map[string]*visits{}, trouble: "the gateway has not connected yet"}
	g.base, g.stop = context.WithCancel(context.Background())
	g.Peer.Name, g.Peer.Inbox = "tabrelay gateway "+o.Name, wire.Inbox(o.Name)
	g.Peer.Changed = func(conn *nats.Conn, err error) {
		if err != nil && !conn.IsConnected() {
			g.note(err)
		}
		select {
		case g.wake <- struct{}{}:
		default:
		}
	}
	if g.conn, err = g.Peer.Dial(); err != nil {
		return nil, err
	}
	if err := g.openInboxes(); err != nil {
		g.conn.Close()
		return nil, err
	}
	g.ended.Go(func() { g.follow(g.base) })
	return g, nil
}

// Close leaves the fleet. Calls end at their nodes; what became of them is kept there.
func (g *Gateway) Close() {
	g.stop()
	g.ended.Wait()
	g.conn.Close()
}

// note notes why the directory cannot be read; nil: it can.
func (g *Gateway) note(err error) {
	said := ""
	if err != nil {
		said = fault.Sanitize(err.Error())
	}
	g.mu.Lock()
	changed := g.trouble != said
	g.trouble = said
	g.mu.Unlock()
	if changed {
		g.Log.Info().AnErr("reason", err).Bool("directory", err == nil).Msg("the fleet's server")
	}
}

// follow follows the directory, and begins anew whenever that ends.
func (g *Gateway) follow(ctx context.Context) {
	for ctx.Err() == nil {
		if g.conn.IsConnected() {
			err := g.watch(ctx)
			if ctx.Err() != nil {
				return
			}
			g.note(err)
		}
		select {
		case <-ctx.Done():
		case <-g.wake:
		case <-time.After(time.Second):
		}
	}
}

const (
	askTime      = 5 * time.Second
	maxDirectory = 64 << 20 // bytes of the directory at the server
	lookEvery    = 2 * time.Second
)

// Directory opens the directory of the fleet, and makes it where there is none yet.
func Directory(ctx context.Context, conn *nats.Conn) (jetstream.KeyValue, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	kv, err := js.KeyValue(ctx, wire.Bucket)
	if !errors.Is(err, jetstream.ErrBucketNotFound) {
		return kv, err
	}
	return js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: wire.Bucket, Description: "nodes of tabrelay", TTL: node.DirectoryTTL, MaxValueSize: wire.MaxEntry,
		MaxBytes: maxDirectory, Storage: jetstream.FileStorage,
	})
}

// watch reads the directory until ctx ends, or the server cannot be reached.
func (g *Gateway) watch(ctx context.Context) error {
	open, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	kv, err := Directory(open, g.conn)
	if err != nil {
		return err
	}
	watcher, err := kv.WatchAll(ctx)
	if err != nil {
		return err
	}
	defer watcher.Stop() //nolint:errcheck // nobody reads it any more
	g.note(nil)
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	heard := map[string]time.Time{}
	for _, name := range g.names() { // those of before, which may have left meanwhile
		heard[name] = time.Now()
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, ok := <-watcher.Updates():
			switch {
			case !ok:
				return errors.New("the directory is not there any more")
			case e == nil: // that was all there is now
			case e.Operation() == jetstream.KeyValuePut:
				heard[e.Key()] = time.Now()
				g.meet(ctx, e.Key(), e.Value())
			default:
				g.forget(e.Key())
			}
		case <-look.C: // the server says nothing of entries that have ended
			g.lookAfter(ctx, heard)
		}
	}
}

// names are the nodes that are there.
func (g *Gateway) names() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Collect(maps.Keys(g.nodes))
}

// lookAfter asks the nodes that the directory has not told of for a while. One that answers is there, whatever became
// of the directory. One that nobody hears has left, and so has one whose entry has ended and that does not answer.
func (g *Gateway) lookAfter(ctx context.Context, heard map[string]time.Time) {
	var silent []string
	for name, at := range heard {
		if time.Since(at) > silentAfter {
			silent = append(silent, name)
		}
	}
	errs := make([]error, len(silent))
	var asked sync.WaitGroup
	for i, name := range silent {
		asked.Go(func() { errs[i] = g.greet(ctx, name) })
	}
	asked.Wait()
	for i, name := range silent {
		switch {
		case errs[i] == nil:
			heard[name] = time.Now()
		case errors.Is(errs[i], errNobody), time.Since(heard[name]) > node.DirectoryTTL:
			delete(heard, name)
			g.forget(name)
		}
	}
}

// silentAfter is after how long a node is asked that the directory has not told of: every node tells it more often.
const silentAfter = node.DirectoryTTL / 2

// greet asks a node whether it is there.
func (g *Gateway) greet(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, wire.LostAfter)
	defer cancel()
	in := g.listen()
	defer in.close()
	g.mu.Lock()
	known := ""
	if n := g.nodes[name]; n != nil {
		known = n.Tools
	}
	g.mu.Unlock()
	if err := g.send(name, wire.OpTools, wire.Request{V: wire.Version, Known: known}, nil, in.subject); err != nil {
		return err
	}
	_, _, err := in.next(ctx)
	return err
}

// meet takes the entry of a node, and has it say its tools where they are others than before.
func (g *Gateway) meet(ctx context.Context, name string, text []byte) {
	entry, err := wire.DecodeEntry(name, text)
	if err != nil {
		g.Log.Warn().Str("node", fault.Excerpt(name)).Err(err).Msg("an entry of the directory is refused")
		g.forget(name)
		return
	}
	now := &known{Entry: entry}
	g.mu.Lock()
	before := g.nodes[name]
	g.mu.Unlock()
	switch {
	case before != nil && before.Tools == entry.Tools && before.fault == "":
		now.tools = before.tools
	default:
		if now.tools, err = g.fetch(ctx, name); err != nil {
			now.fault = fault.Sanitize(err.Error())
			g.Log.Warn().Str("node", name).Err(err).Msg("the tools of a node are not there")
		}
	}
	g.mu.Lock()
	g.nodes[name] = now
	g.mu.Unlock()
	if before == nil {
		g.Log.Info().Str("node", name).Int("tools", len(now.tools)).Msg("a node is there")
	}
	if before == nil || before.Tools != now.Tools || before.fault != now.fault ||
		!slices.Equal(before.Profiles, now.Profiles) {
		g.list()
	}
}

// forget takes a node out.
func (g *Gateway) forget(name string) {
	g.mu.Lock()
	_, there := g.nodes[name]
	delete(g.nodes, name)
	g.mu.Unlock()
	if there {
		g.Log.Info().Str("node", name).Msg("a node has left")
		g.list()
	}
}

// fetch asks a node for its tools.
func (g *Gateway) fetch(ctx context.Context, name string) ([]wire.Tool, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	in := g.listen()
	defer in.close()
	if err := g.send(name, wire.OpTools, wire.Request{V: wire.Version}, nil, in.subject); err != nil {
		return nil, err
	}
	for {
		r, payload, err := in.next(ctx)
		switch {
		case err != nil:
			return nil, err
		case r.Kind == wire.Tools:
			return wire.DecodeTools(payload)
		case r.Kind == wire.Refused:
			return nil, errors.New(r.Why)
		}
	}
}

// Snapshot implements front.Tools.
func (g *Gateway) Snapshot() *registry.Snapshot { return g.registry.Snapshot() }

// OnChange implements front.Tools.
func (g *Gateway) OnChange(f func(*registry.Snapshot)) (stop func()) { return g.registry.OnChange(f) }

// NodeState is a node as a person sees it.
type NodeState struct {
	wire.Entry
	Offers int    `json:"offers"` // tools
	Fault  string `json:"fault,omitempty"`
}

// Nodes are the nodes that are there, by name, and why the directory cannot be read; empty: it can.
func (g *Gateway) Nodes() (list []NodeState, trouble string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	list = []NodeState{}
	for _, name := range slices.Sorted(maps.Keys(g.nodes)) {
		n := g.nodes[name]
		list = append(list, NodeState{n.Entry, len(n.tools), n.fault})
	}
	return list, g.trouble
}

// Views implements front.Views: what the scope of a client covers.
type Views struct{}

// OnChange implements front.Views: what a session covers does not change. A client whose token covers something else
// begins another one.
func (Views) OnChange(func()) (stop func()) { return func() {} }

// View implements front.Views.
func (Views) View(s call.Session) registry.View {
	scope := scopeOf(s)
	view := registry.View{Key: s.Client}
	if scope == nil {
		return view
	}
	view.Key += "\x00" + scope.Key
	view.Toolset = scope.Toolset.Key
	view.Shows = scope.Covers
	view.Why = func(t *registry.Tool) *fault.Error { return scope.Refuse(s.Client, t) }
	return view
}

// scopeOf is the scope of a session; nil: nothing is bounded. One that cannot be read lets nothing through.
func scopeOf(s call.Session) *policy.Scope {
	scope, err := policy.ReadScope(s.Scope)
	if err != nil {
		scope, _ = policy.ReadScope(call.Scope{Plugins: "none", ReadOnly: true}) // which can be read
	}
	return scope
}

// names are the names of nodes, in words.
func names(list []string) string { return strings.Join(list, ", ") }

// choice is one way to say where a call is to run.
func choice(node, profile string) string {
	if profile == "" {
		return node
	}
	return node + "/" + profile
}

// failed is a failure before anything was sent.
func failed(code fault.Code, next, format string, args ...any) *fault.Error {
	return fault.New(code, fmt.Sprintf(format, args...), fault.WithOutcome(fault.NotExecuted), fault.WithHint(next))
}

// Look reads the directory once.
func Look(ctx context.Context, o Options) (list []NodeState, err error) {
	o.Peer.Name, o.Peer.Inbox = "tabrelay status", wire.Inbox(o.Name)
	conn, err := o.Peer.Dial()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	kv, err := js.KeyValue(ctx, wire.Bucket)
	if err != nil {
		return nil, err
	}
	watcher, err := kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, err
	}
	defer watcher.Stop() //nolint:errcheck // nobody reads it any more
	for {
		select {
		case e := <-watcher.Updates():
			if e == nil {
				return list, nil
			}
			if entry, err := wire.DecodeEntry(e.Key(), e.Value()); err == nil {
				list = append(list, NodeState{Entry: entry})
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
