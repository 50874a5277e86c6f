// Package hub manages the connections to browsers. It authenticates extensions (guard.go, handshake.go), runs a read
// loop and a send loop for each connection (conn.go), knows every tab (tabs.go), chooses the tab of a call (resolve.go)
// and its owner (lease.go), and tracks each call in flight to its end (send.go, inflight.go), also when its connection,
// its worker or the relay itself ends in between (recover.go).
//
// Lock order: Hub.mu, then groups.mu, then leases.mu, then browser.mu, then queue.mu; lastTabs.mu is taken alone. No
// lock is held while a journal, a meter or a callback runs.
package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/time/rate"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/lib/access"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
)

// Config is what a hub needs. Zero durations and sizes mean the protocol's own.
type Config struct {
	Secret        func() string // 64 hexadecimal digits; empty: every handshake is refused
	Pairings      Pairings      // may be nil: then no extension can be paired
	ExtensionIDs  []string      // exactly these may connect
	RelayVersion  string
	BundleHash    string         // of the extension files this relay holds
	StoreHash     string         // of the store edition of the same sources
	InstallHint   string         // the next step where no browser has the extension; empty: that of its code
	Known         []call.Profile // the profiles that were connected to an earlier relay of this home
	ReconnectWait time.Duration  // how long calls and commands wait for a browser that is on its way
	// BrowserEnded reports whether the browser of a profile is known to have ended; nil: none is.
	BrowserEnded func(profile string) bool
	// StartCommand is what starts the browser of a profile; empty, or nil: there is none.
	StartCommand func(profile string) string
	PingEvery    time.Duration
	StartTime    time.Duration // how long a document may take to start a call
	FrameBytes   int
	Handshakes   int // under way; zero: maxHandshakes
	Log          zerolog.Logger
	Journal      Journal // nil: writes are not journalled, and nothing survives a restart
	Meter        Meter   // may be nil

	// what makes a session the owner of a tab: OwnNothing (also when empty), OwnWrites or OwnAll
	Ownership     string
	OwnedBy       string         // who may share a tab that is owned: OwnedBySession (also when empty) or OwnedByClient
	OwnershipIdle time.Duration  // how long it stays so without a call
	LastTabs      []call.LastTab // where sessions have worked under an earlier relay
	// called when a session works in another place than before; must not block; may be nil
	LastTabChanged func(call.LastTab)
	Followed       func(*wire.Followed) // what followed calls bring besides outcomes; must not block; may be nil
	PageTools      PageTools            // may be nil: tools that pages register are not known
	Groups         bool                 // browsers are told to show owners as tab groups
	OwnersChanged  func()               // called when a tab got or lost its owner; must not block; may be nil
}

// Journal records writing calls, so that their outcome can be found out after a restart of the relay.
type Journal interface {
	// RecordSent records a call whose frame is about to leave, and returns when that is safe on disk.
	RecordSent(ctx context.Context, r call.Record) error
	// RecordEnd notes a call's end. It does not wait for the disk. A later, better answer replaces Unknown.
	RecordEnd(id call.ID, st call.State, output, failure json.RawMessage)
	// OpenCalls lists the calls that have no end.
	OpenCalls(ctx context.Context) ([]call.Record, error)
	// Find looks a call up.
	Find(ctx context.Context, id call.ID) (r call.Record, found bool, err error)
}

// Meter counts events of the hub.
type Meter interface {
	Browsers(connected int)
	Corruption(peer string)             // a malformed or oversized frame
	LateAnswer()                        // an outcome nobody waited for
	Repaired(plugin string, fields int) // of an error that a page threw
}

// Hub holds the connections to browsers. Its methods may be called concurrently.
type Hub struct {
	cfg     Config
	started time.Time

	// Each has a lock of its own.
	failures      *access.Failures // of proofs
	rejectionLog  rate.Sometimes   // limits how often failed handshakes are logged
	handshakes    handshakes
	news          news
	lastTabs      lastTabs
	leases        *leases
	groups        groups
	sites         sites
	waking        sync.Map // tabRef: a tab that is loaded again
	awaited       sync.Map // call.ID: since when an attempt waits for a tab or a tool that browsers are going to tell
	repairsLogged sync.Map // plugin versions whose errors had to be repaired

	// Written under mu, read anywhere. The slice is never changed, only replaced.
	browsers atomic.Pointer[[]*browser]
	plugins  atomic.Pointer[[]byte] // the encoded plugins frame
	refusal  atomic.Pointer[refusal]
	panels   atomic.Pointer[PanelAnswer] // nil: nobody answers panels

	mu           lock.Mutex // guards the next three
	closed       bool
	listeners    []func(Event)    // replaced, never changed
	tabListeners []*func(TabNews) // the same

	late chan lateOutcome   // to the goroutine that looks them up in the journal
	stop context.CancelFunc // ends that goroutine
	done sync.WaitGroup     // connections, and that goroutine
}

// New makes a hub. Calls that an earlier relay left open are recovering: what their browsers report after they connect
// again resolves them; otherwise their outcome becomes unknown.
func New(cfg Config) *Hub {
	cfg.ReconnectWait = cmp.Or(cfg.ReconnectWait, wire.ReconnectWait)
	cfg.PingEvery = cmp.Or(cfg.PingEvery, wire.PingEvery)
	cfg.StartTime = cmp.Or(cfg.StartTime, wire.StartTime)
	cfg.Handshakes = cmp.Or(cfg.Handshakes, maxHandshakes)
	cfg.FrameBytes = cmp.Or(cfg.FrameBytes, wire.MaxFrameBytes)
	if cfg.Journal == nil {
		cfg.Journal = noJournal{}
	}
	if cfg.Meter == nil {
		cfg.Meter = noMeter{}
	}
	if cfg.LastTabChanged == nil {
		cfg.LastTabChanged = func(call.LastTab) {}
	}
	ctx, stop := context.WithCancel(context.Background())
	h := &Hub{
		cfg: cfg, started: time.Now(), stop: stop,
		rejectionLog: rate.Sometimes{First: complaints, Interval: complaintEvery},
		late:         make(chan lateOutcome, 256),
	}
	h.leases = newLeases(cfg.Ownership, cfg.OwnedBy, cfg.OwnershipIdle, h.ownersChanged)
	h.failures = access.NewFailures(wrongProofs, func(slowed int) {
		cfg.Log.Warn().Int("slowed", slowed).Msg("many wrong proofs of the pairing; their answers are held back")
	})
	h.lastTabs.adopt(cfg.LastTabs)
	h.browsers.Store(new([]*browser))
	h.SetPlugins(nil)
	h.adoptOpenCalls(ctx)
	h.done.Go(func() { h.settleLate(ctx) })
	return h
}

// SetPlugins tells every browser, now and later, which plugins there are.
func (h *Hub) SetPlugins(plugins []wire.Plugin) {
	list := make([]wire.Plugin, len(plugins))
	for i, p := range plugins {
		p.Matches = append([]string{}, p.Matches...) // an empty list, never null
		p.Excludes = append([]string{}, p.Excludes...)
		list[i] = p
	}
	frame := mustEncode(&wire.Plugins{Plugins: list})
	h.mu.Lock()
	h.plugins.Store(&frame)
	for _, b := range h.all() {
		b.tell(frame)
	}
	h.mu.Unlock()
}

// Close refuses new connections and calls, waits until the calls in flight have ended or ctx has, and ends every
// connection. Calls that are still open stay so in the journal, where the next relay finds them.
func (h *Hub) Close(ctx context.Context) {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	// leases are not kept for the next relay; dropping them ends the tab groups
	h.leases.dropAll(func(*lease) bool { return true })
	for _, b := range h.all() {
		b.update(func(s *calls) { s.closing = true })
	}
	for _, b := range h.all() {
		select {
		case <-b.idle:
		case <-ctx.Done():
		}
		b.shut()
	}
	h.stop()
	h.done.Wait()
}

// Redial ends every connection, so that each extension connects again, with the files that its folder has by then.
func (h *Hub) Redial() {
	for _, b := range h.all() {
		b.peek(func(s *calls) {
			if s.conn != nil {
				s.conn.stop(closeGoingAway, "connect again")
			}
		})
	}
}

// isClosed reports whether Close was called.
func (h *Hub) isClosed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

// EventKind is what happened.
type EventKind string

// The kinds of Event.
const (
	Connected    EventKind = "connected"
	Disconnected EventKind = "disconnected"
	Paired       EventKind = "paired"  // an extension without pairing.json was given the secret
	Refused      EventKind = "refused" // pairing or version; fatal for that extension until something changes
	Renamed      EventKind = "renamed" // Profile is the new name
	Noticed      EventKind = "notice"  // the extension has something to tell the person
	Corrupted    EventKind = "corrupt" // a connection is closed, because its frames cannot be understood
)

// Event is something that happened to a connection.
type Event struct {
	Kind      EventKind
	Time      time.Time
	ProfileID string
	Profile   string
	Code      string // Refused: a code of the error table
	Message   string
}

// Events makes the hub tell listener what happens, one event at a time for each connection. It must not block.
func (h *Hub) Events(listener func(Event)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listeners = append(slices.Clone(h.listeners), listener)
}

func (h *Hub) emit(e Event) {
	e.Time = time.Now()
	h.mu.Lock()
	listeners := h.listeners
	h.mu.Unlock()
	for _, listener := range listeners {
		listener(e)
	}
}

type noJournal struct{}

func (noJournal) RecordSent(context.Context, call.Record) error                        { return nil }
func (noJournal) RecordEnd(call.ID, call.State, json.RawMessage, json.RawMessage)      {}
func (noJournal) OpenCalls(context.Context) ([]call.Record, error)                     { return nil, nil }
func (noJournal) Find(context.Context, call.ID) (r call.Record, found bool, err error) { return }

type noMeter struct{}

func (noMeter) Browsers(int)         {}
func (noMeter) Corruption(string)    {}
func (noMeter) LateAnswer()          {}
func (noMeter) Repaired(string, int) {}
