package node

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

const (
	// tellEvery is how often a node says that it is there; the directory forgets it after [DirectoryTTL].
	tellEvery = 10 * time.Second
	// tellAgain is how soon it does so again where that failed.
	tellAgain = time.Second
	// tellTime is how long the directory may take.
	tellTime = 5 * time.Second
	// gather is how long changes are gathered before the directory is told.
	gather = 100 * time.Millisecond
)

// DirectoryTTL is after how long the directory forgets a node that says nothing.
const DirectoryTTL = 3 * tellEvery

// errLeft is the cause of the end of calls when the relay leaves the fleet.
var errLeft = errors.New("the relay has left the fleet")

func words(err error) string { return fault.Sanitize(err.Error()) }

// directory is where the nodes of the fleet are listed.
func (n *Node) directory(ctx context.Context) (jetstream.KeyValue, error) {
	js, err := jetstream.New(n.conn)
	if err != nil {
		return nil, err
	}
	return js.KeyValue(ctx, wire.Bucket)
}

// tellDirectory keeps the entry of this node as it is, until ctx ends.
func (n *Node) tellDirectory(ctx context.Context) {
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
			next.Reset(gather)
			continue
		case <-next.C:
		}
		if !n.conn.IsConnected() {
			next.Reset(tellEvery) // the connection wakes it
			continue
		}
		err := n.put(ctx)
		n.mu.Lock()
		n.failing = ""
		if err != nil {
			n.failing = "it is not in the directory: " + words(err)
		}
		n.mu.Unlock()
		if err != nil {
			n.Log.Debug().Err(err).Msg("the directory of the fleet was not told")
			next.Reset(tellAgain)
		} else {
			next.Reset(tellEvery)
		}
		n.dropCallers()
		n.calls.dropComing()
	}
}

func (n *Node) put(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	kv, err := n.directory(ctx)
	if err != nil {
		return err
	}
	_, err = kv.Put(ctx, n.Name, rawjson.MustEncode(n.entry()))
	return err
}

// entry is what the node says of itself.
func (n *Node) entry() wire.Entry {
	list, _, hash := n.tools()
	e := wire.Entry{V: wire.Version, Node: n.Name, Life: n.life, Version: n.Version, Tools: hash,
		Plugins: []wire.Plugin{}, Profiles: []string{}, Running: n.calls.running()}
	offered := map[string]bool{}
	for _, t := range list {
		offered[t.Plugin] = true
	}
	for _, t := range n.Relay.List(call.Session{ID: "fleet:", Client: "@", Via: Via, Remote: true, Guest: true}) {
		if t.Plugin != nil && offered[t.Group] {
			delete(offered, t.Group)
			e.Plugins = append(e.Plugins, wire.Plugin{Name: t.Group, Hash: t.Plugin.Hash,
				Sites: append([]string{}, t.Site.Matches...)})
		}
	}
	for _, tab := range n.Relay.Tabs() {
		if !slices.Contains(e.Profiles, tab.Profile) {
			e.Profiles = append(e.Profiles, tab.Profile)
		}
	}
	slices.Sort(e.Profiles)
	e.Leases = n.leaseEntries()
	return e
}

const (
	// callerIdle is after how long a caller that makes no calls has left; its grants have ended by then.
	callerIdle = 2 * time.Hour
	// maxCallers bounds the callers that are known; the one that called longest ago goes first.
	maxCallers = 4096
)

// noteCaller notes that a session of the fleet is here.
func (n *Node) noteCaller(s call.Session) {
	n.mu.Lock()
	_, known := n.callers[s.ID]
	n.callers[s.ID] = time.Now()
	gone := ""
	if len(n.callers) > maxCallers {
		for id, at := range n.callers {
			if gone == "" || at.Before(n.callers[gone]) {
				gone = id
			}
		}
		delete(n.callers, gone)
	}
	n.mu.Unlock()
	if gone != "" {
		n.Relay.Left(gone)
	}
	if !known {
		n.Log.Info().Str("client", s.Client).Str("machine", fault.Excerpt(s.Machine)).Msg("a caller of the fleet")
	}
}

// leave ends a session because its gateway says that it has ended.
func (n *Node) leave(gateway, reply string, r *wire.Request) {
	s := n.sessionOf(gateway, r.Caller)
	n.mu.Lock()
	delete(n.callers, s.ID)
	n.mu.Unlock()
	if n.leases != nil {
		n.leases.EndSession(s.ID)
	}
	n.Relay.Left(s.ID) // also of one that called at the relay before this one
	n.reply(reply, wire.Reply{Kind: wire.Left}, nil)
}

// dropCallers ends the sessions of callers that make no calls any more.
func (n *Node) dropCallers() {
	var left []string
	n.mu.Lock()
	for s, at := range n.callers {
		if time.Since(at) > callerIdle {
			delete(n.callers, s)
			left = append(left, s)
		}
	}
	n.mu.Unlock()
	for _, s := range left {
		n.Relay.Left(s)
	}
}
