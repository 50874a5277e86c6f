package relay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/extension"
	"tabrelay/relay/agent"
	"tabrelay/relay/audit"
	"tabrelay/relay/browser"
	"tabrelay/relay/builtin"
	"tabrelay/relay/call"
	"tabrelay/relay/catalog"
	"tabrelay/relay/client"
	"tabrelay/relay/config"
	"tabrelay/relay/dispatch"
	"tabrelay/relay/doctor"
	"tabrelay/relay/event"
	"tabrelay/relay/front"
	"tabrelay/relay/httpapi"
	"tabrelay/relay/hub"
	"tabrelay/relay/join"
	"tabrelay/relay/metrics"
	"tabrelay/relay/plugin"
	"tabrelay/relay/policy"
	"tabrelay/relay/prompt"
	"tabrelay/relay/registry"
	"tabrelay/relay/store"
)

// drainTime is how long calls in flight may go on after the relay was asked to stop. It is shorter than what a
// shim waits for the next relay.
const drainTime = 3 * time.Second

// stillInFlight is what the log says when that was not enough.
const stillInFlight = "calls are still in flight"

// calmTime after its start a relay gives back the memory that only the start needed, which Go would keep for long when
// nothing happens. It is not done at once: the first calls come first.
const calmTime = time.Second

// farewellTime is how long saying goodbye to the browsers may take.
const farewellTime = 200 * time.Millisecond

// Options is what a relay needs besides its configuration.
type Options struct {
	Home    config.Home
	Log     zerolog.Logger
	Plugins []plugin.Plugin  // offered in place of those shipped and installed; nil: those
	Ready   func(join.State) // called once it answers; may be nil

}

// Relay is one running relay. Its parts are made by New and live until Close, in the order of the fields.
type Relay struct {
	Options
	config  config.Config // of the start; the catalog has what may change meanwhile
	began   time.Time
	secrets *config.Secrets
	seat    *join.InstanceLock
	meter   *metrics.Metrics
	events  event.Bus
	trail   event.Bus // of calls; filled only while somebody follows
	store   *store.Store
	audit   *audit.Recorder
	hub     *hub.Hub
	tools   *registry.Registry
	own     *builtin.Sources // of the relay's own tools
	policy  *policy.Policy
	calls   *dispatch.Dispatcher
	visits  *agent.Visits // of programs to their tools
	front   *front.Front
	catalog *catalog.Catalog
	demo    *httpapi.Demo // nil when switched off

	listener net.Listener
	door     *join.Listener
	server   *http.Server

	base     context.Context // of every request; ends when the relay stops
	stopBase context.CancelFunc
	stop     chan struct{} // closed by Stop
	stopOnce sync.Once
	close    sync.Once
	closed   error

	seen     *client.LastSeen
	panels   *event.Broadcaster
	pairings httpapi.Pairings
	clients  *client.Clients
	limiter  *httpapi.Limiter // of connections
	api      *httpapi.API
	notices  event.Notices
}

// New makes a relay and takes its places: the home folder's seat, the port, the socket. It answers from then on, but
// only [Relay.Run] takes care that it goes on. When another relay runs already, the error is a [*join.RunningError].
func New(ctx context.Context, cfg config.Config, o Options) (r *Relay, err error) {
	r = &Relay{Options: o, config: cfg, began: time.Now(), stop: make(chan struct{}), limiter: httpapi.NewLimiter()}
	r.panels = event.NewBroadcaster(func(topics []string) { r.hub.TellPanels(topics, r.policy.Waiting) })
	r.base, r.stopBase = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	for _, step := range []func(context.Context) error{r.settle, r.assemble, r.listen, r.load, r.startPolicy, r.face,
		r.answer, r.publish} {
		if err := step(ctx); err != nil {
			return r, err
		}
	}
	return r, nil
}

// settle takes the home folder.
func (r *Relay) settle(ctx context.Context) (err error) {
	if r.seat, err = join.AcquireLock(ctx, r.Home); err != nil {
		return err
	}
	if r.secrets, err = config.OpenSecrets(r.Home); err != nil {
		return err
	}
	r.store, err = store.Open(ctx, r.Home.Database(), keeping(r.config), r.part("store"))
	if err != nil {
		return &config.FileError{Err: err, Next: "free some disk space if it is full; else put tabrelay.db back from " +
			"a copy, or move tabrelay.db, tabrelay.db-wal and tabrelay.db-shm away: new ones are made, without the " +
			"rules, reviews, audit log and results of the past"}
	}
	if err := r.store.Import(ctx, r.Home); err != nil {
		return err
	}
	if r.seen, err = client.OpenLastSeen(ctx, r.store); err != nil {
		return err
	}
	wrote := func() { r.panels.Changed(event.TopicAudit) }
	r.audit, err = audit.NewRecorder(ctx, r.store, r.Home.AuditPosition(), r.part("audit"), wrote)
	if err != nil {
		return err
	}
	if err := r.openPolicy(ctx); err != nil {
		return err
	}
	return nil
}

// part is the log of one part of the relay.
func (r *Relay) part(name string) zerolog.Logger { return r.Log.With().Str("part", name).Logger() }

// assemble makes the parts and joins them.
func (r *Relay) assemble(ctx context.Context) error {
	c := r.config
	r.meter = metrics.New()
	known, err := r.store.Profiles(ctx)
	if err != nil {
		return err
	}
	tabs, err := r.store.LastTabs(ctx)
	if err != nil {
		return err
	}
	r.hub = hub.New(hub.Config{
		Secret: r.secrets.Pairing, Pairings: &r.pairings, ExtensionIDs: append([]string{extension.ID},
			c.ExtensionIDs...), RelayVersion: Version, BundleHash: extension.BundleHash(),
		Known: known, Ended: func(profile string) bool { return browser.Ended(r.Home.Browser(), profile) },
		ReconnectWait: c.ReconnectWait, PingEvery: c.PingEvery, StartTime: c.StartTimeout, FrameBytes: c.FrameBytes,
		Handshakes: min(r.limiter.Most()/4, 64),
		Log:        r.part("hub"), Journal: r.store, Meter: r.meter,
		Ownership: c.Tabs.Ownership, OwnedBy: c.Tabs.OwnedBy, OwnershipIdle: c.Tabs.OwnershipIdle,
		Groups: c.Tabs.Groups, Owned: func() { r.panels.Changed(event.TopicTabs) },
		LastTabs: tabs, Moved: r.store.KeepLastTab,
	})
	r.hub.Events(r.linkChanged)
	r.hub.OnTabs(r.tabsChanged)
	letters := &builtin.DeadLetters{Store: r.store, Meter: r.meter, Events: &r.events, Audit: r.audit, Log: r.Log}
	r.store.OnLateOutcome(letters.Settled)
	r.store.OnRecovered(letters.Recovered)
	r.own = &builtin.Sources{
		Version: Version, Began: r.began, Hub: r.hub, Store: r.store, Meter: r.meter, Notices: &r.notices,
		Letters:  letters,
		Findings: func(ctx context.Context) []doctor.Finding { return Diagnose(ctx, r.Home, r.api.Status(ctx), nil) },
		MaxBytes: c.MaxBytes, ResultBytes: c.ResultBytes,
	}
	r.tools = registry.New(r.own.List())
	if err := r.newCatalog(ctx); err != nil {
		return err
	}
	r.calls, r.visits = r.dispatcher(), agent.NewVisits()
	r.own.Tools, r.own.Calls, r.own.Catalog = r.tools, r.calls, r.catalog
	letters.Tools, letters.Calls = r.tools, r.calls
	return nil
}

// face makes the side that agents see. The tools are there by then, so that no agent hears of a change at the start.
func (r *Relay) face(context.Context) error {
	c := r.config
	prompts, resources := prompt.New(r.tools), r.newResources()
	completer := &prompt.Completer{
		Prompts: prompts, Templates: resources.Templates, Tools: r.tools, Tabs: r.hub.Tabs, Browsers: r.hub.Browsers,
		Views: r.policy, Letters: func(ctx context.Context, most int) ([]call.DeadLetter, error) {
			return r.store.DeadLetters(ctx, "", "", most)
		},
	}
	r.front = front.New(front.Options{
		Prompts: prompts, Resources: resources, Views: r.policy, Audit: r.audit, Completer: completer,
		Missing: r.catalog.Missing,
		Name:    "tabrelay", Version: Version, Caller: caller{r.calls, r.visits}, Tools: r.tools,
		MaxBody:          int64(c.BodyBytes),
		AllowedOrigins:   c.AllowedOrigins,
		ListChangedDelay: c.MCP.ListChangedDelay, PageSize: c.MCP.ToolsPageSize, SessionEnded: r.sessionEnded,
		Log: r.part("front"),
	})
	r.clients = client.New(client.Options{
		Version: Version, Secrets: r.secrets, Seen: r.seen, Front: r.front, Calls: r.calls, Policy: r.policy,
		Hub:   r.hub,
		Meter: r.meter, Events: &r.events, Log: r.Log, Audit: r.audit.Record, Changed: r.panels.Changed,
		SessionEnded: r.sessionEnded, Base: r.base, Stopping: r.stop, Stop: r.Stop,
	})
	return nil
}

// bundle is the extension in this binary, nil when it was built without.
func bundle() fs.FS {
	files, err := extension.Files()
	if err != nil {
		return nil
	}
	return files
}

// listen takes the port, and opens the demo site.
func (r *Relay) listen(ctx context.Context) (err error) {
	if r.listener, err = httpapi.Listen(ctx, r.config.Listen, r.limiter); err != nil {
		return err
	}
	if r.config.Demo.Listen == "" {
		return nil
	}
	if r.demo, err = httpapi.OpenDemo(r.config.Demo.Listen, r.limiter, r.part("demo")); err != nil {
		r.demo = nil
		r.Log.Warn().Err(err).Msg("the demo site is off")
	}
	return nil
}

// load reads the plugins.
func (r *Relay) load(context.Context) error { return r.catalog.Load() }

// answer begins to serve the port and the socket.
func (r *Relay) answer(context.Context) (err error) {
	if r.door, err = r.seat.Listen(r.clients.Attach); err != nil {
		return err
	}
	r.api = httpapi.New(httpapi.Options{
		Config: r.config, Home: r.Home, Version: Version, Began: r.began, Address: r.Address(), Tokens: r.clients,
		Limiter: r.limiter, Log: r.part("http"), Secrets: r.secrets, Clients: r.clients, Policy: r.policy,
		Catalog: r.catalog,
		Tools:   r.tools, Calls: r.calls, Letters: r.own.Letters, Hub: r.hub, Front: r.front, Store: r.store,
		Audit: r.audit,
		Meter: r.meter, Events: &r.events, Trail: &r.trail, Notices: &r.notices, Pairings: &r.pairings, Demo: r.demo,
		Findings: r.own.Findings, Base: r.base, Stopping: r.stop, Stop: r.Stop,
	})
	r.hub.ServePanels(r.api.Panel())
	r.server = httpapi.NewServer(r.api.Handler(), r.limiter, r.baseFor, r.part("http"))
	go r.serve(r.listener)
	go r.serve(r.door.HTTP())
	return nil
}

// baseFor is the context of the requests that come over a listener.
func (r *Relay) baseFor(l net.Listener) context.Context {
	if l == r.listener {
		return r.base
	}
	return httpapi.OverSocket(r.base)
}

func (r *Relay) serve(l net.Listener) {
	if err := r.server.Serve(l); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		r.Log.Error().Err(err).Msg("the HTTP server failed; the relay stops")
		r.Stop()
	}
}

// publish tells the world where the relay is: the extension, then everybody else.
func (r *Relay) publish(ctx context.Context) error {
	if err := r.catalog.Pair(r.Address(), r.secrets.Pairing()); err != nil {
		return err
	}
	if err := r.seat.WriteState(r.state()); err != nil {
		return err
	}
	r.Log.Info().Str("address", r.Address()).Str("home", string(r.Home)).Str("version", Version).Msg("listening")
	return nil
}

func (r *Relay) state() join.State {
	return join.State{Address: r.Address(), PID: os.Getpid(), Version: Version}
}

// Address is the host and port of the relay.
func (r *Relay) Address() string { return r.listener.Addr().String() }

// Run keeps the relay going until ctx is done or somebody stops it, then closes it.
func (r *Relay) Run(ctx context.Context) error {
	if r.Ready != nil {
		r.Ready(r.state())
	}
	watch, stopWatching := context.WithCancel(r.base)
	var watching sync.WaitGroup
	watching.Go(func() { r.catalog.Watch(watch, r.clients.Review) })
	calm := time.AfterFunc(calmTime, debug.FreeOSMemory)
	defer calm.Stop()
	select {
	case <-ctx.Done():
	case <-r.stop:
	}
	stopWatching()
	watching.Wait()
	return r.Close()
}

// Stop ends Run. It may be called more than once.
func (r *Relay) Stop() { r.stopOnce.Do(func() { close(r.stop) }) }

// Close stops the relay: no new work, then the calls in flight, the browsers, the store, whoever is attached, and at
// last the seat, so that the next relay finds everything free. It may be called more than once.
func (r *Relay) Close() error {
	r.close.Do(func() { r.closed = r.shutdown() })
	return r.closed
}

func (r *Relay) shutdown() error {
	r.Stop()
	r.panels.Close()
	var end ending
	if r.door != nil {
		end.note("close the socket", r.door.StopAccepting())
	}
	if r.policy != nil {
		r.policy.Close() // nobody is to wait for a person any more
	}
	abandon := r.drain()
	if r.clients != nil {
		r.clients.Mute()
	}
	if r.hub != nil {
		late, cancel := context.WithTimeout(context.Background(), farewellTime)
		r.hub.Close(late)
		cancel()
	}
	if r.catalog != nil {
		r.catalog.Close()
	}
	if r.clients != nil {
		r.clients.Close()
	}
	if r.seen != nil {
		r.seen.Close()
	}
	late, cancel := context.WithTimeout(context.Background(), drainTime)
	r.closeAudit(late)
	cancel()
	if r.store != nil {
		end.note("close the store", r.store.Close())
	}
	r.stopBase()
	abandon()
	if r.server != nil {
		end.note("close the HTTP server", r.server.Close())
		end.note("close the socket", r.door.Close())
	}
	if r.listener != nil {
		end.note("close the port", r.listener.Close())
	}
	if r.demo != nil {
		end.note("close the demo site", r.demo.Close())
	}
	if r.seat != nil {
		end.note("leave the seat", r.seat.Release())
	}
	return errors.Join(end...)
}

// closeAudit writes down which calls the relay's end leaves open, and then everything that waits for the disk.
func (r *Relay) closeAudit(ctx context.Context) {
	if r.audit == nil {
		return
	}
	if r.calls != nil {
		for _, c := range r.calls.Running() {
			r.audit.Record(call.Entry{
				At: time.Now(), Kind: call.EntryCall, Session: c.Session, Tool: c.Tool, Plugin: c.Plugin,
				ProfileID: c.At.ProfileID,
				Profile:   c.At.Profile, TabID: c.At.TabID, Origin: c.At.Origin, Outcome: string(call.Unknown),
				Duration: time.Since(c.Began), CallID: c.ID,
				Detail: "The relay ended while the call ran; the next one asks the browser for its outcome",
			})
		}
	}
	r.audit.Close(ctx)
}

// keeping is how much the store keeps, and how long.
func keeping(c config.Config) store.Limits {
	const day = 24 * time.Hour
	return store.Limits{
		ResultBytes: c.Results.TotalBytes, ResultAge: time.Duration(c.Results.KeepHours) * time.Hour,
		DeadLetters: c.DeadLetters.Max, DeadLetterAge: time.Duration(c.DeadLetters.KeepDays) * day,
		AuditRows: c.Audit.MaxRows, AuditAge: time.Duration(c.Audit.KeepDays) * day,
	}
}

// drain lets the calls in flight come to their end, for a while. What is still in flight then is not cancelled: the
// page goes on, its outcome waits in the browser, and a shim asks the next relay for it. abandon ends what is left
// of such calls here, once nothing of it can reach a page, a journal or an agent.
func (r *Relay) drain() (abandon func()) {
	if r.front == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_ = r.front.Shutdown(ctx) // its error is that of ctx
		r.calls.Drain(ctx)
	}()
	patience := time.NewTimer(drainTime)
	defer patience.Stop()
	select {
	case <-drained:
	case <-patience.C:
		r.Log.Warn().Msg(stillInFlight + "; the next relay will ask the browsers for their outcomes")
	}
	return func() {
		cancel()
		<-drained
	}
}

// ending collects what goes wrong on the way out.
type ending []error

func (e *ending) note(what string, err error) {
	if err != nil && !errors.Is(err, net.ErrClosed) {
		*e = append(*e, fmt.Errorf("%s: %w", what, err))
	}
}
