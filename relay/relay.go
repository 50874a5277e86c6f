package relay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"tabrelay/extension"
	"tabrelay/relay/capability"

	"github.com/rs/zerolog"

	"tabrelay/relay/agent/client"
	"tabrelay/relay/agent/front"
	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/program/builtin"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/program/nativehost"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/audit"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/metrics"
	"tabrelay/relay/state/store"
)

// drainTime is how long calls in flight may go on after the relay was asked to stop. It is shorter than a stdio proxy
// waits for the next relay.
const drainTime = 3 * time.Second

// stillInFlight is in the log when that was not enough.
const stillInFlight = "calls are still in flight"

// freeMemoryAfter is how long after its start a relay returns the memory that only the start needed to the system. An
// idle Go process would keep it for long. It waits so that the first calls are not slowed down.
const freeMemoryAfter = time.Second

// closeTime is how long telling the browsers that the relay ends may take.
const closeTime = 200 * time.Millisecond

// Version of the binary, the extension and everything in between. The linker sets another one: make build VERSION=…
var Version = "0.1.0"

// Options is what a relay needs besides its configuration.
type Options struct {
	Home    config.Home
	Log     zerolog.Logger
	Plugins []plugin.Plugin  // offered in place of those shipped and installed; nil: those
	Ready   func(join.State) // called once it answers; may be nil
	// Repair fixes one of the doctor's findings; nil: side panels offer no fixes.
	Repair func(finding string) error
	// Temporary is set for a relay that was started for a command, and ends soon after the last one: its
	// [join.Circumstances].
	Temporary string
}

// Relay is one running relay. Its parts are made by New and live until Close, in the order of the fields.
type Relay struct {
	Options
	config   config.Config // of the start; the catalog has what may change meanwhile
	began    time.Time
	build    string // of the running program: its file may be replaced while it runs
	secrets  *config.Secrets
	instance *join.InstanceLock
	meter    *metrics.Metrics
	events   event.Bus
	trail    event.Bus // ends of calls and their logs; filled only while somebody follows
	store    *store.Store
	audit    *audit.Recorder
	recorded listeners // of what was written into it
	hub      *hub.Hub
	tools    *registry.Registry
	ownTools *builtin.Sources // what the relay's own tools read
	policy   *policy.Policy
	calls    *dispatch.Dispatcher
	front    *front.Front
	catalog  *catalog.Catalog
	attached attachments
	// attachedAs has the capability of each attachment, in the same order.
	attachedAs  []capability.Capability
	toolsListed atomic.Bool   // listOwnTools has run
	demo        *httpapi.Demo // nil when switched off

	listener    net.Listener
	remote      net.Listener // for other machines; nil when switched off
	certificate *httpapi.Certificate
	socket      *join.Listener
	server      *http.Server

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
	lifetime *join.Lifetime   // nil: the relay runs until it is stopped
	api      *httpapi.API
	notices  event.Notices
}

// New makes a relay and acquires the instance lock of the home folder, the port and the socket. It answers requests
// when New returns; [Relay.Run] watches plugins and settings, and stops it. When another relay runs already, the error
// is a [*join.RunningError].
func New(ctx context.Context, cfg config.Config, o Options) (r *Relay, err error) {
	r = &Relay{Options: o, config: cfg, began: time.Now(), build: join.Build(), stop: make(chan struct{}),
		limiter: httpapi.NewLimiter()}
	if o.Temporary != "" {
		r.lifetime = join.NewLifetime(r.Stop)
	}
	r.panels = event.NewBroadcaster(func(topics []string) {
		r.hub.TellPanels(topics, func(profileID string) int {
			return r.policy.Waiting(profileID) + r.attached.waiting(profileID)
		})
	})
	r.base, r.stopBase = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	for _, step := range []func(context.Context) error{r.openHome, r.makeParts, r.listen, r.load, r.startPolicy,
		r.makeFront, r.serveAll, r.publish} {
		if err := step(ctx); err != nil {
			return r, err
		}
	}
	return r, nil
}

// openHome acquires the instance lock, and opens secrets, database and policy.
func (r *Relay) openHome(ctx context.Context) (err error) {
	if r.instance, err = join.AcquireLock(ctx, r.Home); err != nil {
		return err
	}
	if r.secrets, err = config.OpenSecrets(r.Home); err != nil {
		return err
	}
	if r.store, err = store.Open(ctx, r.Home.Database(), store.LimitsOf(r.config), r.logFor("store"),
		tables()...); err != nil {
		return err
	}
	if err := r.store.Import(ctx, r.Home); err != nil {
		return err
	}
	if r.seen, err = client.OpenLastSeen(ctx, r.store); err != nil {
		return err
	}
	wrote := func() {
		r.panels.Changed(event.TopicAudit)
		r.recorded.tell()
	}
	r.audit, err = audit.NewRecorder(ctx, r.store, r.Home.AuditPosition(), r.logFor("audit"), wrote)
	if err != nil {
		return err
	}
	if err := r.openPolicy(ctx); err != nil {
		return err
	}
	return nil
}

// logFor is the log of one logFor of the relay.
func (r *Relay) logFor(name string) zerolog.Logger { return r.Log.With().Str("part", name).Logger() }

// listen opens the ports, and serves the demo site. A demo site that fails is only logged.
func (r *Relay) listen(ctx context.Context) (err error) {
	if r.listener, err = httpapi.Listen(ctx, r.config.Listen, r.limiter); err != nil {
		return err
	}
	if r.config.Remote.Listen != "" {
		if r.certificate, err = httpapi.OpenCertificate(r.config.Remote, r.logFor("http")); err != nil {
			return err
		}
		r.remote, err = httpapi.ListenRemote(ctx, r.config.Remote.Listen, r.certificate, r.limiter)
		if err != nil {
			r.remote = nil
			return err
		}
	}
	if r.config.Demo.Listen == "" {
		return nil
	}
	if r.demo, err = httpapi.OpenDemo(r.config.Demo.Listen, r.limiter, r.logFor("demo")); err != nil {
		r.demo = nil
		r.Log.Warn().Err(err).Msg("the demo site is off")
	}
	return nil
}

// load reads the plugins.
func (r *Relay) load(context.Context) error { return r.catalog.Load() }

// startPolicy compares this start with the last one.
func (r *Relay) startPolicy(ctx context.Context) error { return r.policy.Start(ctx) }

// serveAll begins to serve the port and the socket.
func (r *Relay) serveAll(context.Context) (err error) {
	if r.socket, err = r.instance.Listen(r.attachClient, r.lifetime); err != nil {
		return err
	}
	r.api = httpapi.New(httpapi.Options{
		Config: r.config, Home: r.Home, Version: Version, Began: r.began, Address: r.Address(), Tokens: r.clients,
		Limiter: r.limiter, Log: r.logFor("http"), Secrets: r.secrets, Clients: r.clients, Policy: r.policy,
		Shells:  client.NewShells(r.sessionEnded),
		Catalog: r.catalog, Routes: r.attached.routes(), Lacks: r.attached.lacks, Paused: r.attached.paused,
		Tools: r.tools, Calls: r.calls, Letters: r.ownTools.Letters, Hub: r.hub, Front: r.front, Store: r.store,
		Audit: r.audit,
		Meter: r.meter, Events: &r.events, Trail: &r.trail, Notices: &r.notices, Pairings: &r.pairings, Demo: r.demo,
		Changed: r.panels.Changed, Repair: r.Repair,
		Base: r.base, Stopping: r.stop, Stop: r.Stop, Keep: r.keep,
	})
	r.hub.ServePanels(r.api.Panel())
	r.server = httpapi.NewServer(r.api.Handler(), r.limiter, r.baseContext, r.logFor("http"))
	go r.serve(r.listener)
	go r.serve(r.socket.HTTP())
	if r.remote != nil {
		go r.serve(r.remote)
		r.Log.Info().Str("address", r.remote.Addr().String()).Msg("listening for other machines")
	}
	return nil
}

// attachClient serves a client on the socket. A temporary relay stays from then on.
func (r *Relay) attachClient(conn net.Conn, in *bufio.Reader) {
	r.keep()
	r.clients.Attach(conn, in, nil)
}

// keep makes a temporary relay stay until it is stopped.
func (r *Relay) keep() {
	if !r.lifetime.Keep() {
		return
	}
	r.Log.Info().Msg("a client uses the relay, which was started for a command and stays for it")
	if err := r.instance.WriteState(r.state()); err != nil {
		r.Log.Warn().Err(err).Msg("relay.json is not up to date")
	}
}

// baseContext returns the context of the requests on a listener: it marks those from other machines and those over the
// socket.
func (r *Relay) baseContext(l net.Listener) context.Context {
	switch l {
	case r.listener:
		return r.base
	case r.remote:
		return httpapi.FromRemote(r.base, r.certificate)
	}
	return httpapi.OverSocket(r.base)
}

func (r *Relay) serve(l net.Listener) {
	if err := r.server.Serve(l); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		r.Log.Error().Err(err).Msg("the HTTP server failed; the relay stops")
		r.Stop()
	}
}

// publish writes the relay's address into the extension's folder, and then into relay.json.
func (r *Relay) publish(ctx context.Context) error {
	if err := r.catalog.Pair(r.Address(), r.secrets.Pairing()); err != nil {
		return err
	}
	if err := r.instance.WriteState(r.state()); err != nil {
		return err
	}
	r.tellBrowsers()
	r.Log.Info().Str("address", r.Address()).Str("home", string(r.Home)).Str("version", Version).Msg("listening")
	return nil
}

// tellBrowsers registers the relay with this person's browsers, where it is the one of their own home folder, or takes
// that back. A relay without that works as before.
func (r *Relay) tellBrowsers() {
	if !nativehost.Registers(r.Home) || r.Temporary != "" {
		return
	}
	places := nativehost.Places(r.Home)
	executable, err := join.Executable()
	host := nativehost.Host{Home: r.Home, Executable: executable, Extensions: r.config.Extensions(extension.ID)}
	switch {
	case !r.config.NativeHost:
		_, err = host.Unregister(places)
	case err == nil:
		var changed []nativehost.Place
		changed, err = host.Register(places, false)
		for _, place := range changed {
			r.Log.Info().Str("file", place.File).Msg(place.Browser + " can find the relay")
		}
	}
	if err != nil {
		r.Log.Warn().Err(err).Msg("browsers were not told how an extension from a store finds the relay")
	}
}

func (r *Relay) state() join.State {
	s := join.State{Address: r.Address(), PID: os.Getpid(), Version: Version, Build: r.build}
	if r.lifetime.Temporary() {
		s.Temporary = r.Temporary
	}
	return s
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
	watching.Go(func() {
		r.catalog.Watch(watch, r.clients.Review)
		if !r.Home.Exists() {
			r.Log.Warn().Msg("the home folder was removed, and the relay ends with it")
			r.Stop()
		}
	})
	freeing := time.AfterFunc(freeMemoryAfter, debug.FreeOSMemory)
	defer freeing.Stop()
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

// Close stops the relay: it refuses new work, waits for calls in flight, closes browsers, clients and the store, and
// releases the instance lock last, so that the next relay finds everything free. It may be called more than once.
func (r *Relay) Close() error {
	r.close.Do(func() { r.closed = r.shutdown() })
	return r.closed
}

func (r *Relay) shutdown() error {
	r.Stop()
	r.panels.Close()
	var end ending
	if r.socket != nil {
		end.note("close the socket", r.socket.StopAccepting())
	}
	if r.policy != nil {
		r.policy.Close() // ends the questions that are open
	}
	r.attached.close() // before drain: what capabilities do for clients are calls in flight, too
	abandon := r.drain()
	if r.clients != nil {
		r.clients.Mute()
	}
	if r.hub != nil {
		late, cancel := context.WithTimeout(context.Background(), closeTime)
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
		end.note("close the socket", r.socket.Close())
	}
	if r.clients != nil {
		r.clients.Dispersed()
	}
	if r.remote != nil {
		end.note("close the port for other machines", r.remote.Close())
	}
	if r.listener != nil {
		end.note("close the port", r.listener.Close())
	}
	if r.demo != nil {
		end.note("close the demo site", r.demo.Close())
	}
	if r.instance != nil {
		end.note("release the instance lock", r.instance.Release())
	}
	return errors.Join(end...)
}

// closeAudit records the calls that are still open, and then writes what is queued.
func (r *Relay) closeAudit(ctx context.Context) {
	if r.audit == nil {
		return
	}
	if r.calls != nil {
		for _, entry := range r.calls.Unfinished() {
			r.audit.Record(entry)
		}
	}
	r.audit.Close(ctx)
}

// drain waits up to drainTime for the calls in flight. Those that go on are not cancelled: the page carries on, the
// extension keeps the outcome, and a stdio proxy asks the next relay for it. abandon then ends their goroutines; it is
// called once hub, store and clients are closed, so that it has no effect on the calls.
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

// ending collects the errors of a shutdown.
type ending []error

func (e *ending) note(what string, err error) {
	if err != nil && !errors.Is(err, net.ErrClosed) {
		*e = append(*e, fmt.Errorf("%s: %w", what, err))
	}
}
