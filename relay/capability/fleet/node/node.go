// Package node lends the tools of this relay to the gateways of a fleet. It connects outwards to NATS and serves their
// requests: the list of tools, calls, and their end.
//
// A caller is a client of its own here, named by person, agent and gateway, with no rights: the owner of the browser is
// asked about whatever no rule lets this very client do (call.Session.Guest). Every message is checked again, because a
// gateway may be anybody's. What a call did is known here alone: its end is kept under its id, in memory for gateways
// that ask again and in the relay's journal for the next relay.
package node

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/capability/fleet/lease"
	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/random"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/registry"
)

// Relay is what a node needs of the relay that it lends.
type Relay interface {
	// List returns the tools that a session may see.
	List(s call.Session) []*registry.Tool
	// Find returns a tool by name, without regard to who may see it.
	Find(name string) (*registry.Tool, bool)
	// Do carries out a call, and Reserve takes its place in the order of its session's calls.
	Caller
	// Tabs returns the tabs of all profiles.
	Tabs() []hub.Tab
	// OnTabs calls listener, which must not block, for each change of tabs until stop is called.
	OnTabs(listener func(hub.TabNews)) (stop func())
	// Left ends what a session holds: its tabs and its grants.
	Left(session string)
	// Corrupt counts an invalid message of a peer.
	Corrupt(peer string)
}

// Options is what a node needs.
type Options struct {
	Name    string
	Peer    wire.Peer
	Relay   Relay
	Version string
	// MaxCalls is how many calls of the fleet may be open here at once, those that wait for the person included.
	MaxCalls int
	// Exclusive: each browser profile is leased to one session at a time, within the bounds of Lease. Kept are the
	// leases of the node's earlier life, and Keep keeps those of this one.
	Exclusive bool
	Lease     lease.Options
	Kept      []lease.Kept
	Keep      func([]lease.Kept)
	Log       zerolog.Logger
}

// Node is a node that is part of a fleet until Close.
type Node struct {
	Options
	life  string
	conn  *nats.Conn
	calls calls
	ended sync.WaitGroup

	leases *lease.Table  // nil: profiles are shared
	leased chan struct{} // the leases are others

	base context.Context // of every call; ends with Close
	stop context.CancelFunc

	mu      lock.Mutex // guards the rest; nothing nests in it
	trouble string     // why it is not connected; empty: it is
	failing string     // why that fails; empty: it does not
	callers map[string]time.Time
	wake    chan struct{} // the entry is another one
}

// Open makes a node. Its server need not be there yet.
func Open(o Options) (n *Node, err error) {
	n = &Node{Options: o, life: random.Hex(16), wake: make(chan struct{}, 1), callers: map[string]time.Time{},
		trouble: "it has not connected yet"}
	n.base, n.stop = context.WithCancel(context.Background())
	n.calls.node = n
	n.calls.byID, n.calls.coming = map[call.ID]*running{}, map[call.ID]*coming{}
	n.openLeases()
	n.Peer.Name, n.Peer.Inbox, n.Peer.Changed = "tabrelay node "+o.Name, wire.NodeInbox(o.Name), n.connection
	if n.conn, err = n.Peer.Dial(); err != nil {
		return nil, err
	}
	sub, err := n.conn.Subscribe(wire.NodeSubject(o.Name), n.hear)
	if err == nil {
		err = sub.SetPendingLimits(4*o.MaxCalls, 64*wire.MaxMessage)
	}
	if err != nil {
		n.conn.Close()
		return nil, err
	}
	stopTabs := n.Relay.OnTabs(func(hub.TabNews) { n.Changed() })
	n.ended.Go(func() {
		defer stopTabs()
		n.tellDirectory(n.base)
	})
	if n.leases != nil {
		n.ended.Go(n.keepLeases)
	}
	return n, nil
}

// Close ends its calls, and leaves the fleet. What callers hold here is released.
func (n *Node) Close() {
	n.stop()
	n.calls.end(func(*running) bool { return true }, errLeft)
	n.ended.Wait()
	n.closeLeases()
	n.forget()
	n.conn.Close()
}

// forget takes its entry out of the directory. One that cannot be taken out ends by itself.
func (n *Node) forget() {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	if n.conn.IsConnected() {
		if kv, err := n.directory(ctx); err == nil {
			_ = kv.Purge(ctx, n.Name)
		}
	}
	n.mu.Lock()
	sessions := slices.Collect(func(yield func(string) bool) {
		for s := range n.callers {
			if !yield(s) {
				return
			}
		}
	})
	n.mu.Unlock()
	for _, s := range sessions {
		n.Relay.Left(s)
	}
}

const leaveTime = 500 * time.Millisecond

// State is how a node is, for the person.
type State struct {
	Node      string `json:"node"`
	URL       string `json:"url"`
	Connected bool   `json:"connected"`
	Trouble   string `json:"trouble,omitempty"` // why it is not connected, or not in the directory
	Running   int    `json:"running"`           // calls of the fleet

	Exclusive bool          `json:"exclusive"` // its profiles are leased
	Leases    []lease.State `json:"leases,omitempty"`
}

// State is how the node is now.
func (n *Node) State() State {
	s := State{Node: n.Name, URL: n.Peer.URL, Running: n.calls.running()}
	n.mu.Lock()
	s.Connected, s.Trouble = n.trouble == "", cmp.Or(n.trouble, n.failing)
	n.mu.Unlock()
	if n.leases != nil {
		s.Exclusive, s.Leases = true, n.leases.List()
	}
	return s
}

// connection notes that the connection has changed.
func (n *Node) connection(conn *nats.Conn, err error) {
	trouble := ""
	if err != nil && !conn.IsConnected() {
		trouble = words(err)
	}
	n.mu.Lock()
	changed := trouble != n.trouble
	n.trouble = trouble
	n.mu.Unlock()
	if !changed {
		return
	}
	n.Log.Info().AnErr("reason", err).Bool("connected", trouble == "").Str("node", n.Name).Msg("the fleet's server")
	n.Changed()
}

// Changed has the directory told anew what there is.
func (n *Node) Changed() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// hear takes one request. Requests come one after the other; what takes time goes on in a goroutine of its own.
func (n *Node) hear(msg *nats.Msg) {
	_, gateway, op, ok := wire.ParseRequest(msg.Subject)
	if !ok || msg.Reply == "" {
		n.Relay.Corrupt("fleet")
		return
	}
	if !strings.HasPrefix(msg.Reply, wire.Inbox(gateway)+".") {
		n.Relay.Corrupt("fleet") // its answer would go to somebody else
		return
	}
	r, payload, err := wire.DecodeRequest(op, msg.Data)
	if err != nil {
		n.refuse(gateway, msg.Reply, err)
		return
	}
	switch op {
	case wire.OpTools:
		n.sendTools(msg.Reply, r.Known)
	case wire.OpCall:
		n.calls.take(gateway, msg.Reply, &r, payload)
	case wire.OpPart:
		n.calls.gather(gateway, &r, payload)
	case wire.OpCancel:
		n.calls.cancel(gateway, msg.Reply, &r)
	case wire.OpLeave:
		n.ended.Go(func() { n.leave(gateway, msg.Reply, &r) })
	}
}

// refuse refuses a message, and counts it.
func (n *Node) refuse(gateway, reply string, why error) {
	n.Relay.Corrupt("fleet")
	n.Log.Warn().Str("gateway", gateway).Err(why).Msg("a message of a gateway is refused")
	n.reply(reply, wire.Reply{Kind: wire.Refused, Why: "the message is refused: " + why.Error()}, nil)
}

// reply sends one message. That it does not arrive is noticed by who waits for it.
func (n *Node) reply(to string, r wire.Reply, payload []byte) {
	r.V, r.Life = wire.Version, n.life
	if err := n.conn.Publish(to, wire.Encode(r, payload)); err != nil {
		n.Log.Debug().Err(err).Str("kind", string(r.Kind)).Msg("a reply was not sent")
	}
}

// replyWhole sends a payload of any size, in parts where it does not fit one message.
func (n *Node) replyWhole(to string, r wire.Reply, payload []byte) {
	if len(payload) <= wire.PartBytes {
		n.reply(to, r, payload)
		return
	}
	r.Bytes = len(payload)
	for part := range slices.Chunk(payload, wire.PartBytes) {
		r.Parts++
		n.reply(to, wire.Reply{Kind: wire.Part, Part: r.Parts}, part)
	}
	n.reply(to, r, nil)
}

// Sessions of the fleet.

// clientOf is the name of a caller's client here. No client of this machine can have it: their names have no @.
func clientOf(gateway string, c *wire.Caller) string {
	return c.Person + "/" + c.Agent + "@" + gateway
}

// sessionOf is the session of a caller.
func (n *Node) sessionOf(gateway string, c *wire.Caller) call.Session {
	machine := c.Machine
	if machine == "" {
		machine = gateway
	}
	client := clientOf(gateway, c)
	return call.Session{ID: "fleet:" + digest(client, c.Session), Client: client, Via: Via, Remote: true,
		Machine: machine, Guest: true}
}

// Via is how calls of a fleet come.
const Via = "fleet"

// digest is a name of 32 hexadecimal digits for what is told apart by all of these.
func digest(of ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(of, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// localID is the id of a call in this relay: two gateways, or two callers of one, never have the same.
func localID(client string, id string) call.ID { return call.ID(digest(client, id)) }

// lends reports whether a tool is lent: what runs in a page, and what reads the rest of a long answer. The relay's own
// tools tell of the machine and of what else is open.
func lends(t *registry.Tool) bool {
	return t.Plugin != nil && t.Page == nil || t.Name == "relay__read_result"
}

// tools are those that are lent, as wire has them, and their hash.
func (n *Node) tools() (list []wire.Tool, text []byte, hash string) {
	list = []wire.Tool{}
	guest := call.Session{ID: "fleet:", Client: "@", Via: Via, Remote: true, Guest: true}
	for _, t := range n.Relay.List(guest) {
		if !lends(t) || len(list) == wire.MaxTools {
			continue
		}
		list = append(list, wire.Tool{Name: t.Name, Plugin: t.Group, Title: t.Spec.DisplayName,
			About: t.Spec.Description, Input: t.ListedInput, Output: t.Spec.OutputSchema, Hints: t.Spec.Annotations,
			OwnProfile: t.HasProperty("profile")})
	}
	text = rawjson.MustEncode(list)
	sum := sha256.Sum256(text)
	return list, text, hex.EncodeToString(sum[:])
}

func (n *Node) sendTools(to, known string) {
	_, text, hash := n.tools()
	switch {
	case known == hash:
		n.reply(to, wire.Reply{Kind: wire.Same, Hash: hash}, nil)
	case len(text) > wire.MaxToolsBytes:
		n.reply(to, wire.Reply{Kind: wire.Refused, Why: "its tools describe themselves at too great a length"}, nil)
	default:
		n.replyWhole(to, wire.Reply{Kind: wire.Tools, Hash: hash}, text)
	}
}
