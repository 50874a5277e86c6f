package hub_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/schedule"
)

const (
	address   = "127.0.0.1:7717"
	secret    = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	extension = "abcdefghijklmnopabcdefghijklmnop"
)

// lab is a hub behind an HTTP server on a network in memory.
type lab struct {
	t        *testing.T
	hub      *hub.Hub
	schedule *schedule.Scheduler
	net      *memoryNet
	server   *http.Server
	journal  *memoryJournal
	meter    *meter
}

// inLab runs a test where time passes only when everybody waits.
func inLab(t *testing.T, test func(t *testing.T, l *lab)) {
	t.Helper()
	inLabWith(t, nil, test)
}

func inLabWith(t *testing.T, change func(*hub.Config), test func(t *testing.T, l *lab)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := openLab(t, &memoryJournal{records: map[call.ID]call.Record{}}, change)
		defer l.close()
		test(t, l)
	})
}

func openLab(t *testing.T, journal *memoryJournal, change func(*hub.Config)) *lab {
	l := &lab{t: t, schedule: schedule.New(schedule.Limits{WaitingPerTab: 32}), net: newMemoryNet(), journal: journal,
		meter: &meter{}}
	cfg := hub.Config{
		Secret: func() string { return secret }, ExtensionIDs: []string{extension}, RelayVersion: "0.0.0-test",
		BundleHash: "b0", Journal: l.journal, Meter: l.meter, Log: zerolog.Nop(),
	}
	if change != nil {
		change(&cfg)
	}
	l.hub = hub.New(cfg)
	l.server = &http.Server{Handler: l.hub.Handler()}
	go func() { _ = l.server.Serve(l.net) }()
	return l
}

func (l *lab) close() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	l.hub.Close(ctx)
	_ = l.server.Close()
	l.net.client.CloseIdleConnections()
}

// connect brings a browser with one tab of the demo site.
func (l *lab) connect(change ...func(*hubtest.Options)) *hubtest.Browser {
	l.t.Helper()
	b := hubtest.New(l.options(change...))
	if err := b.Dial(l.t.Context()); err != nil {
		l.t.Fatalf("connect: %v", err)
	}
	synctest.Wait()
	return b
}

func (l *lab) options(change ...func(*hubtest.Options)) hubtest.Options {
	o := hubtest.Options{
		Address: address, Secret: secret, ExtensionID: extension, Client: l.net.client, Tabs: []wire.Tab{demoTab(1)},
	}
	for _, c := range change {
		c(&o)
	}
	return o
}

func answer(f func(*hubtest.Call)) func(*hubtest.Options) {
	return func(o *hubtest.Options) { o.Answer = f }
}

// hold answers nothing.
func hold(*hubtest.Call) {}

func demoTab(id int) wire.Tab {
	return wire.Tab{ID: id, WindowID: 1, URL: "http://demo.test/page", Title: "Demo", Status: "complete"}
}

// request is a call of the demo plugin.
func request(change ...func(*call.Invocation)) call.Invocation {
	r := call.Invocation{
		Selector: call.Selector{
			ID: call.ID(wire.NewID()), Session: call.Session{ID: "session"}, Plugin: "demo",
			Matches: []string{"http://demo.test/*"},
		},
		Order: call.Order{Hash: strings.Repeat("a", 64), ProgressExtends: true},
		Tool:  "echo", Arguments: json.RawMessage(`{"x":1}`), Timeout: 30 * time.Second, MaxTimeout: 5 * time.Minute,
	}
	for _, c := range change {
		c(&r)
	}
	return r
}

func write(r *call.Invocation) { r.Write = true }

// result is how an attempt ended.
type result struct {
	reply   *call.Reply
	failure *fault.Error
	after   time.Duration
}

// enter lets a call run at a target, or returns how it waits until it may. It is asked again after that.
type enter func(at call.Target) (wait func(context.Context) *fault.Error, failure *fault.Error)

// begin runs an attempt in the background.
func (l *lab) begin(ctx context.Context, r call.Invocation) <-chan result {
	return l.beginWith(ctx, r, nil)
}

func (l *lab) beginWith(ctx context.Context, r call.Invocation, enter enter) <-chan result {
	done := make(chan result, 1)
	start := time.Now()
	go func() {
		reply, failure := attempt(ctx, l.hub, l.schedule, r, enter)
		done <- result{reply, failure, time.Since(start)}
	}()
	return done
}

// attempt is what dispatch does with one attempt of a call.
func attempt(
	ctx context.Context, h *hub.Hub, s *schedule.Scheduler, r call.Invocation, enter enter,
) (_ *call.Reply, failure *fault.Error) {
	ticket := s.Ticket(0)
	ticket.Session, ticket.Write = r.Session.ID, r.Write
	defer func() { h.Leave(r.ID, failure != nil && failure.Outcome == fault.NotExecuted) }()
	defer ticket.Leave()
	gone := fault.New(fault.Cancelled, "given up", fault.WithOutcome(fault.NotExecuted))
	for {
		var at call.Target
		var failure *fault.Error
		look := func() (wait time.Duration) {
			at, failure, wait = h.Resolve(r.Selector)
			return wait
		}
		if r.Stay.TabID == 0 || look() > 0 || failure != nil {
			if err := ticket.AwaitTab(ctx, wire.ReconnectWait, look, h.Changed); err != nil {
				return nil, gone
			}
		}
		var wait func(context.Context) *fault.Error
		if enter != nil && failure == nil {
			wait, failure = enter(at)
		}
		if failure != nil {
			return nil, failure
		}
		if wait != nil {
			ticket.Leave()
			failure = wait(ctx)
		} else if ready, _, err := ticket.Join(schedule.Tab{ProfileID: at.ProfileID, TabID: at.TabID}); err == nil &&
			ready {
			return h.Send(ctx, at, r)
		} else if err != nil || ticket.Await(ctx, time.Minute) != nil {
			failure = gone
		}
		if failure != nil {
			return nil, failure
		}
		r.Stay = at
	}
}

func (l *lab) invoke(r call.Invocation) result { return <-l.begin(l.t.Context(), r) }

// want checks a failure.
func (r result) want(t *testing.T, code fault.Code, outcome fault.Outcome) {
	t.Helper()
	if r.failure == nil {
		t.Fatalf("got output %s instead of %s", r.reply.Output, code)
	}
	if r.failure.Code != code || r.failure.Outcome != outcome {
		t.Errorf("got %s with outcome %s instead of %s with %s", r.failure, r.failure.Outcome, code, outcome)
	}
}

func (r result) wantOutput(t *testing.T, output string) {
	t.Helper()
	if r.failure != nil {
		t.Fatalf("got %v instead of %s", r.failure, output)
	}
	if string(r.reply.Output) != output {
		t.Errorf("got %s instead of %s", r.reply.Output, output)
	}
}

// still checks that a call has not ended.
func still(t *testing.T, done <-chan result) {
	t.Helper()
	synctest.Wait()
	select {
	case r := <-done:
		t.Fatalf("the call has ended: %+v", r)
	default:
	}
}

// awaitCall waits until a call has arrived in a browser.
func awaitCall(t *testing.T, b *hubtest.Browser, id call.ID) *hubtest.Call {
	t.Helper()
	c, err := b.AwaitCall(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// memoryNet is a network in memory whose server believes to listen on address.
type memoryNet struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	client *http.Client
}

func newMemoryNet() *memoryNet {
	n := &memoryNet{conns: make(chan net.Conn), closed: make(chan struct{})}
	n.client = &http.Client{Transport: &http.Transport{DialContext: n.dial}}
	return n
}

func (n *memoryNet) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case n.conns <- tcpConn{there}:
		return here, nil
	case <-n.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (n *memoryNet) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *memoryNet) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

func (n *memoryNet) Addr() net.Addr { return localAddr }

var localAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7717}

type tcpConn struct{ net.Conn }

func (tcpConn) LocalAddr() net.Addr { return localAddr }

// memoryJournal keeps the journal's promises without a disk.
type memoryJournal struct {
	mu      sync.Mutex
	records map[call.ID]call.Record
	broken  error
}

// breaks has everything fail from now on; with nil nothing does.
func (j *memoryJournal) breaks(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.broken = err
}

func (j *memoryJournal) RecordSent(_ context.Context, r call.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return j.broken
	}
	j.records[r.ID] = r
	return nil
}

func (j *memoryJournal) RecordEnd(id call.ID, st call.State, output, failure json.RawMessage) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r, ok := j.records[id]
	if !ok || r.State == call.Executed || r.State == call.NotExecuted {
		return
	}
	r.State, r.Output, r.Failure = st, output, failure
	j.records[id] = r
}

func (j *memoryJournal) OpenCalls(context.Context) ([]call.Record, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var open []call.Record
	for _, r := range j.records {
		if r.State == call.Dispatched || r.State == call.Recovering {
			open = append(open, r)
		}
	}
	return open, j.broken
}

func (j *memoryJournal) Find(_ context.Context, id call.ID) (call.Record, bool, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r, ok := j.records[id]
	return r, ok, j.broken
}

// state is the journal's word on a call, after everything under way has come to rest.
func (j *memoryJournal) state(id call.ID) call.State {
	synctest.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.records[id].State
}

type meter struct {
	browsers      atomic.Int64
	corrupt, late atomic.Int64
}

func (m *meter) Browsers(n int)       { m.browsers.Store(int64(n)) }
func (m *meter) Corruption(string)    { m.corrupt.Add(1) }
func (m *meter) LateAnswer()          { m.late.Add(1) }
func (m *meter) Repaired(string, int) { m.corrupt.Add(1) }

// netSwitch is a client whose connections go to the network that is set at the moment.
type netSwitch struct {
	atomic.Pointer[memoryNet]
	client *http.Client
}

func newNetSwitch(n *memoryNet) *netSwitch {
	s := &netSwitch{}
	s.Store(n)
	s.client = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return s.Load().dial(ctx, network, address)
		},
	}}
	return s
}
