package relay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/capability/fleet/gateway"
	"tabrelay/relay/capability/fleet/local"
	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/lib/random"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
)

// fleetWorld is a NATS server with the nodes and gateways of a fleet.
type fleetWorld struct {
	t      *testing.T
	folder string
	server *local.Server
}

func newFleet(t *testing.T) *fleetWorld {
	t.Helper()
	f := &fleetWorld{t: t, folder: t.TempDir()}
	f.startServer(0)
	t.Cleanup(func() { f.server.Stop() })
	return f
}

// startServer starts the server at a port; 0: a free one.
func (f *fleetWorld) startServer(port int) {
	f.t.Helper()
	var err error
	f.server, err = local.Start(f.folder, []string{"team", "other"}, []string{"ann", "bob"}, port)
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleetWorld) serverPort() int {
	var port int
	if _, err := fmt.Sscanf(f.server.URL, "nats://127.0.0.1:%d", &port); err != nil {
		f.t.Fatal(err)
	}
	return port
}

// lendingNode is a relay that is a node, in a home of its own. url is empty for the server itself.
func (f *fleetWorld) lendingNode(name, url string) (*world, *Relay) {
	f.t.Helper()
	w := newWorld(f.t)
	if url == "" {
		url = f.server.URL
	}
	r, _ := f.lendingNodeIn(w, name, url, "")
	return w, r
}

// lendingNodeIn starts a node in a home; address is empty for a free one.
func (f *fleetWorld) lendingNodeIn(w *world, name, url, address string) (r *Relay, end func()) {
	f.t.Helper()
	return w.nodeAs(name, address, wire.Peer{URL: url,
		Credentials: config.KeySource{File: f.server.NodeKey(name)}})
}

// nodeAs starts a relay in this home that is a node of the fleet at a server; address is empty for a free one.
func (w *world) nodeAs(name, address string, at wire.Peer) (r *Relay, end func()) {
	w.t.Helper()
	edit := func(key string, value any) config.Edit {
		return config.Edit{Path: []string{"fleet", key}, Value: rawjson.MustEncode(value)}
	}
	err := config.Apply(w.home, edit("url", at.URL), edit("node", name), edit("credentials", at.Credentials),
		edit("ca", at.CA))
	if err != nil {
		w.t.Fatal(err)
	}
	return w.relayAs(func(cfg *config.Config) {
		open := *cfg
		if *cfg, err = config.Load(w.home); err != nil {
			w.t.Fatal(err)
		}
		cfg.Permissions, cfg.Review, cfg.Demo = open.Permissions, open.Review, open.Demo
		cfg.Listen = cmp.Or(address, open.Listen)
	})
}

// meetingGateway is a gateway that has met nodes of these names.
func (f *fleetWorld) meetingGateway(name string, nodes ...string) *gateway.Gateway {
	f.t.Helper()
	return f.patientGateway(time.Minute, name, nodes...)
}

// patientGateway is one that waits so long for a node that has fallen silent.
func (f *fleetWorld) patientGateway(patience time.Duration, name string, nodes ...string) *gateway.Gateway {
	f.t.Helper()
	return gatewayAs(f.t, name, patience, wire.Peer{URL: f.server.URL,
		Credentials: config.KeySource{File: f.server.GatewayKey(name)}}, nodes...)
}

// gatewayAs is a gateway at a server that has met nodes of these names.
func gatewayAs(t *testing.T, name string, patience time.Duration, at wire.Peer, nodes ...string) *gateway.Gateway {
	t.Helper()
	return gatewayOf(t, gateway.Options{Name: name, Peer: at, Recover: patience}, nodes...)
}

// gatewayOf is a gateway with these options that has met nodes of these names.
func gatewayOf(t *testing.T, o gateway.Options, nodes ...string) *gateway.Gateway {
	t.Helper()
	o.Machine, o.Log = "box", zerolog.Nop()
	o.Caller = func(client string) (person, agent string) { return "carol", client }
	g, err := gateway.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sync.OnceFunc(g.Close))
	changed := make(chan bool, 1)
	defer g.OnChange(func(*registry.Snapshot) {
		select {
		case changed <- true:
		default:
		}
	})()
	met := func() (n int) {
		list, _ := g.Nodes()
		for _, one := range list {
			if one.Offers > 0 {
				n++
			}
		}
		return n
	}
	for met() < len(nodes) {
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatal("the gateway has not met its nodes")
		}
	}
	return g
}

// fleetCall is a call of an agent at a gateway.
func fleetCall(agent, tool, arguments string) call.Call {
	return call.Call{ID: call.ID(random.Hex(16)), Tool: tool, Arguments: json.RawMessage(arguments),
		Session: call.Session{ID: "http:" + agent, Client: agent, Via: call.ViaHTTP}}
}

type fleetEnd struct {
	result  *call.Result
	failure *fault.Error
}

func (e fleetEnd) String() string {
	if e.failure != nil {
		return fmt.Sprintf("%s %s: %s (%s)", e.failure.Code, e.failure.Outcome, e.failure.Message, e.failure.Hint)
	}
	return string(e.result.Output)
}

func does(t *testing.T, g *gateway.Gateway, c call.Call) <-chan fleetEnd {
	end := make(chan fleetEnd, 1)
	go func() {
		result, failure := g.Do(t.Context(), c)
		end <- fleetEnd{result, failure}
	}()
	return end
}

// held is a page whose writing tool waits until it is let go; ran counts its starts.
func held() (answer func(*hubtest.Call), ran chan string, letGo chan bool) {
	ran, letGo = make(chan string, 100), make(chan bool)
	return func(c *hubtest.Call) {
		go func() {
			c.Started()
			ran <- c.Tool
			if c.Tool == "pay" {
				<-letGo
			}
			c.Return(c.Arguments)
		}()
	}, ran, letGo
}

// trusts lets an agent elsewhere do everything at a node without a question, as a person can say in a rule.
func (w *world) trusts(t *testing.T, client string) {
	t.Helper()
	status, said := w.person(t, http.MethodPut, "/api/v1/permissions",
		`{"target":"shop","mode":"auto","client":"`+client+`"}`)
	if status != http.StatusOK {
		t.Fatal(said)
	}
}

// An agent elsewhere has no rights, whatever rules let everybody do: the owner is asked, by person, agent, gateway and
// machine; what they allow binds to these, and ends when it is revoked. Stop ends what runs, with no network, too.
func TestTheOwnerOfANodeIsAsked(t *testing.T) {
	f := newFleet(t)
	w, r := f.lendingNode("ann", "")
	answer, ran, letGo := held()
	w.browser(answer)
	g := f.meetingGateway("team", "ann")
	asked := questions(t, r)

	end := does(t, g, fleetCall("claude", "shop__read", `{"what":"tea"}`))
	q := asked()
	if q.Client != "carol/claude@team" || q.Machine != "another machine (“box”, as far as it says)" ||
		!strings.HasPrefix(q.Sentence, "May carol/claude@team on another machine (“box”, as far as it says),") ||
		q.Via != "fleet" {
		t.Errorf("the owner is asked %q; %+v", q.Sentence, q)
	}
	w.answers(t, q.ID, `{"answer":"allow","for":"session"}`, http.StatusOK)
	if e := <-end; e.failure != nil || e.String() != `{"what":"tea"}` || e.result.Meta.Profile != "ann/Chrome 1" {
		t.Fatalf("it ends with %v", e)
	}
	if e := <-does(t, g, fleetCall("claude", "shop__read", `{"what":"milk"}`)); e.failure != nil {
		t.Errorf("the second read ends with %v", e)
	}
	for _, one := range []struct{ agent, at string }{{"codex", "team"}, {"claude", "other"}} {
		end = does(t, f.meetingGateway(one.at, "ann"), fleetCall(one.agent, "shop__read", `{}`))
		if q = asked(); q.Client != "carol/"+one.agent+"@"+one.at {
			t.Errorf("the owner is asked about %s", q.Client)
		}
		w.answers(t, q.ID, `{"answer":"deny"}`, http.StatusOK)
		if e := <-end; e.failure == nil || e.failure.Code != fault.ApprovalDenied ||
			e.failure.Outcome != fault.NotExecuted {
			t.Errorf("a denied call ends with %v", e)
		}
	}
	for _, grant := range r.policy.Grants() {
		r.policy.Revoke(grant.ID, "terminal")
	}
	end = does(t, g, fleetCall("claude", "shop__read", `{"what":"tea"}`))
	w.answers(t, asked().ID, `{"answer":"deny"}`, http.StatusOK)
	if e := <-end; e.failure == nil || e.failure.Code != fault.ApprovalDenied {
		t.Errorf("after its grant was revoked a call ends with %v", e)
	}

	w.trusts(t, "carol/claude@team")
	for len(ran) > 0 {
		<-ran
	}
	end = does(t, g, fleetCall("claude", "shop__pay", `{}`))
	<-ran
	f.server.Stop() // Stop needs no network
	if status, said := w.person(t, http.MethodPut, "/api/v1/paused", `{"paused":true}`); status != http.StatusOK {
		t.Fatal(said)
	}
	for len(r.calls.Running()) > 0 {
		<-r.calls.Idle()
	}
	f.startServer(f.serverPort())
	if e := <-end; e.failure == nil || e.failure.Outcome != fault.Unknown {
		t.Errorf("the call that ran ends with %v", e)
	}
	close(letGo)
	for {
		e := <-does(t, g, fleetCall("claude", "shop__read", `{}`))
		if e.failure.Ours(fault.ProfileNotConnected) {
			continue // the node is on its way
		}
		if !e.failure.Ours(fault.PermissionDenied) || e.failure.Outcome != fault.NotExecuted {
			t.Errorf("after the stop a call ends with %v", e)
		}
		break
	}
}

// cut is a way to a server that breaks, as when a node is killed or its network is gone.
type cut struct {
	listener net.Listener
	to       string
	mu       sync.Mutex
	open     []net.Conn
	broken   bool
}

func newCut(t *testing.T, to string) *cut {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cut{listener: l, to: strings.TrimPrefix(to, "nats://")}
	t.Cleanup(func() { l.Close(); c.breakOff(true) })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", c.to)
			if err != nil {
				in.Close()
				continue
			}
			c.mu.Lock()
			if c.open = append(c.open, in, out); c.broken {
				in.Close()
				out.Close()
			}
			c.mu.Unlock()
			pass := func(to, from net.Conn) {
				buffer := make([]byte, 64<<10)
				for {
					n, err := from.Read(buffer)
					if err != nil {
						to.Close()
						return
					}
					if _, err := to.Write(buffer[:n]); err != nil {
						return
					}
				}
			}
			go pass(in, out)
			go pass(out, in)
		}
	}()
	return c
}

func (c *cut) addressOfCut() string { return "nats://" + c.listener.Addr().String() }

func (c *cut) breakOff(broken bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken = broken; broken {
		for _, conn := range c.open {
			conn.Close()
		}
		c.open = nil
	}
}

// A node that is gone amid a write: the call ends as unknown, the page has done it once, and whoever asks for the same
// call when the node is back learns how it ended. A call that is sent meanwhile is proven not to have been executed.
func TestANodeIsLostAmidAWrite(t *testing.T) {
	f := newFleet(t)
	way := newCut(t, f.server.URL)
	w, _ := f.lendingNode("ann", way.addressOfCut())
	answer, ran, letGo := held()
	w.browser(answer)
	g := f.patientGateway(2*time.Second, "team", "ann")
	w.trusts(t, "carol/claude@team")
	pay := fleetCall("claude", "shop__pay", `{"sum":3}`)
	end := does(t, g, pay)
	<-ran
	way.breakOff(true)
	e := <-end
	if !e.failure.Ours(fault.ExtensionLost) || e.failure.Outcome != fault.Unknown || e.failure.Retryable {
		t.Errorf("the write ends with %v", e)
	}
	if e := <-does(t, g, fleetCall("claude", "shop__pay", `{}`)); !e.failure.Ours(fault.ProfileNotConnected) ||
		e.failure.Outcome != fault.NotExecuted {
		t.Errorf("a call that reaches nobody ends with %v", e)
	}
	close(letGo)
	way.breakOff(false)
	g.Close()
	g = f.meetingGateway("team", "ann")
	pay.Resume = true
	if e := <-does(t, g, pay); e.failure != nil || e.String() != `{"sum":3}` {
		t.Errorf("asked again, the write ends with %v", e)
	}
	if len(ran) > 0 {
		t.Error("it ran again")
	}
}

// A node that ends and is started anew amid a write answers from its journal.
func TestANodeIsStartedAnewAmidAWrite(t *testing.T) {
	f := newFleet(t)
	w := newWorld(t)
	first, stop := f.lendingNodeIn(w, "ann", f.server.URL, "")
	answer, ran, letGo := held()
	b := w.browser(answer)
	g := f.meetingGateway("team", "ann")
	w.trusts(t, "carol/claude@team")
	pay := fleetCall("claude", "shop__pay", `{"sum":3}`)
	end := does(t, g, pay)
	<-ran
	stop() // calls that are open stay open in the page
	if e := <-end; e.failure == nil || e.failure.Outcome != fault.Unknown {
		t.Errorf("the write ends with %v", e)
	}
	close(letGo)
	f.lendingNodeIn(w, "ann", f.server.URL, first.Address())
	if err := b.Dial(t.Context()); err != nil {
		t.Fatal(err)
	}
	pay.Resume = true
	if e := <-does(t, g, pay); e.failure != nil && e.failure.Outcome == fault.NotExecuted {
		t.Errorf("asked again, the write ends with %v", e)
	}
	if len(ran) > 0 {
		t.Error("it ran again")
	}
}

// A server that is killed and started anew amid a write: the call has its result, and ran once.
func TestTheServerIsStartedAnewAmidAWrite(t *testing.T) {
	f := newFleet(t)
	w, _ := f.lendingNode("ann", "")
	answer, ran, letGo := held()
	w.browser(answer)
	g := f.meetingGateway("team", "ann")
	w.trusts(t, "carol/claude@team")
	end := does(t, g, fleetCall("claude", "shop__pay", `{"sum":4}`))
	<-ran
	port := f.serverPort()
	f.server.Stop()
	f.startServer(port)
	close(letGo)
	if e := <-end; e.failure != nil || e.String() != `{"sum":4}` {
		t.Errorf("the write ends with %v", e)
	}
	if len(ran) > 0 {
		t.Error("it ran again")
	}
}

// A gateway that is killed amid a write: the next one is told by the same id how it ended, and it ran once.
func TestAGatewayIsLostAmidAWrite(t *testing.T) {
	f := newFleet(t)
	w, _ := f.lendingNode("ann", "")
	answer, ran, letGo := held()
	w.browser(answer)
	g := f.meetingGateway("team", "ann")
	w.trusts(t, "carol/claude@team")
	pay := fleetCall("claude", "shop__pay", `{"sum":5}`)
	does(t, g, pay)
	<-ran
	g.Close()
	next := f.meetingGateway("team", "ann")
	pay.Resume = true
	end := does(t, next, pay)
	close(letGo)
	if e := <-end; e.failure != nil || e.String() != `{"sum":5}` {
		t.Errorf("the write ends with %v", e)
	}
	if len(ran) > 0 {
		t.Error("it ran again")
	}
	// Another agent, or another gateway, learns nothing by the id.
	w.trusts(t, "carol/codex@team")
	pay.Session.Client, pay.Tool, pay.Arguments = "codex", "shop__read", []byte(`{}`)
	if e := <-does(t, next, pay); e.failure != nil {
		t.Errorf("with the same id another client's call ends with %v", e)
	}
	if <-ran; len(ran) > 0 {
		t.Error("more than its own call ran")
	}
}

// An agent that cancels a call has it ended at the page, and is told what is known.
func TestACallOfTheFleetIsCancelled(t *testing.T) {
	f := newFleet(t)
	w, _ := f.lendingNode("ann", "")
	cancelled := make(chan string, 1)
	ran := make(chan bool, 1)
	w.browser(func(c *hubtest.Call) {
		go func() {
			c.Started()
			ran <- true
			<-c.Cancelled()
			cancelled <- c.Reason()
			c.Return(json.RawMessage(`{}`))
		}()
	})
	g := f.meetingGateway("team", "ann")
	w.trusts(t, "carol/claude@team")
	ctx, cancel := context.WithCancelCause(t.Context())
	end := make(chan *fault.Error, 1)
	go func() {
		_, failure := g.Do(ctx, fleetCall("claude", "shop__pay", `{}`))
		end <- failure
	}()
	<-ran
	cancel(call.ErrCancelled)
	if why := <-cancelled; why != "client" {
		t.Errorf("the page is told %q", why)
	}
	if failure := <-end; !failure.Ours(fault.Cancelled) || failure.Outcome == fault.NotExecuted {
		t.Errorf("it ends with %v", failure)
	}
}

// Of two nodes with the same tool a call says which one it means, and an answer of many megabytes arrives whole.
func TestACallSaysWhoseBrowserItMeans(t *testing.T) {
	f := newFleet(t)
	large := json.RawMessage(`{"text":"` + strings.Repeat("x", 3<<20) + `"}`)
	for _, name := range []string{"ann", "bob"} {
		w, r := f.lendingNode(name, "")
		r.config.MaxBytes = 8 << 20
		w.browser(func(c *hubtest.Call) {
			c.Started()
			if strings.Contains(string(c.Arguments), "large") {
				c.Return(large)
				return
			}
			c.Return(json.RawMessage(`"` + name + `"`))
		})
		w.trusts(t, "carol/claude@team")
	}
	g := f.meetingGateway("team", "ann", "bob")
	tool, _ := g.Snapshot().Find("shop__read")
	if !strings.Contains(string(tool.Listed), `"enum":["ann","bob"]`) {
		t.Errorf("it is listed as %s", tool.Listed)
	}
	e := <-does(t, g, fleetCall("claude", "shop__read", `{}`))
	if !e.failure.Ours(fault.ValidationError) || !strings.Contains(e.failure.Message, "on 2 nodes") ||
		!strings.Contains(e.failure.Message, "ann, bob") {
		t.Errorf("without a choice it ends with %v", e)
	}
	e = <-does(t, g, fleetCall("claude", "shop__read", `{"profile":"dan"}`))
	if !e.failure.Ours(fault.ProfileNotConnected) || e.failure.Outcome != fault.NotExecuted {
		t.Errorf("with a wrong choice it ends with %v", e)
	}
	for _, at := range []string{"bob", "bob/Chrome 1"} {
		if e = <-does(t, g, fleetCall("claude", "shop__read", `{"profile":"`+at+`"}`)); e.String() != `"bob"` {
			t.Errorf("%s: it ends with %v", at, e)
		}
	}
	c := fleetCall("claude", "shop__read", `{"profile":"ann","what":"large","maxBytes":4000000}`)
	if e = <-does(t, g, c); e.failure != nil || len(e.result.Output) != len(large) {
		t.Errorf("a large answer ends with %.300v", e)
	}
}

// Arguments that no message of NATS can hold travel in parts, up to a limit; those of a call whose node or server was
// away on the way, too. One that is withdrawn between two parts was not executed.
func TestLargeArguments(t *testing.T) {
	f := newFleet(t)
	way := newCut(t, f.server.URL)
	w, r := f.lendingNode("ann", way.addressOfCut())
	r.config.MaxBytes = 32 << 20
	got := make(chan int, 10)
	w.browser(func(c *hubtest.Call) {
		c.Started()
		got <- len(c.Arguments)
		c.Return(json.RawMessage(`{}`))
	})
	g := f.meetingGateway("team", "ann")
	w.trusts(t, "carol/claude@team")
	sized := func(bytes int) string {
		const empty = `{"what":""}`
		return `{"what":"` + strings.Repeat("x", bytes-len(empty)) + `"}`
	}
	const largest = wire.MaxArguments
	for _, size := range []int{wire.PartBytes, wire.PartBytes + 1, wire.MaxMessage, 2*wire.PartBytes + 1, largest} {
		if e := <-does(t, g, fleetCall("claude", "shop__pay", sized(size))); e.failure != nil {
			t.Fatalf("%d bytes end with %.300v", size, e)
		}
		if n := <-got; n != size {
			t.Errorf("of %d bytes %d arrive", size, n)
		}
	}
	e := <-does(t, g, fleetCall("claude", "shop__pay", sized(largest+1)))
	if !e.failure.Ours(fault.InputTooLarge) || e.failure.Outcome != fault.NotExecuted {
		t.Errorf("one more byte ends with %.300v", e)
	}
	end := does(t, g, fleetCall("claude", "shop__pay", sized(largest)))
	way.breakOff(true)
	way.breakOff(false)
	if e := <-end; e.failure != nil && !e.failure.Ours(fault.ProfileNotConnected) {
		t.Errorf("cut amid its parts a call ends with %.300v", e)
	} else if e.failure == nil {
		if n := <-got; n != largest {
			t.Errorf("%d bytes arrive", n)
		}
	}
	if len(got) > 0 {
		t.Error("a call ran twice, or although it was said not to have been executed")
	}
}

// When the session of an agent ends at its gateway, the node releases at once what it holds, and its grants end; what
// other sessions hold stays.
func TestASessionEndsAtItsGateway(t *testing.T) {
	f := newFleet(t)
	w, r := f.lendingNode("ann", "")
	b := w.browser(func(c *hubtest.Call) { c.Started(); c.Return([]byte(`{}`)) })
	g := f.meetingGateway("team", "ann")
	asked := questions(t, r)
	in := func(session, agent string) call.Call {
		c := fleetCall(agent, "shop__pay", `{}`)
		c.Session.ID = session
		return c
	}
	end := does(t, g, in("one", "claude"))
	w.answers(t, asked().ID, `{"answer":"allow","for":"session"}`, http.StatusOK)
	if e := <-end; e.failure != nil || ownerIn(t, b) == "" || len(r.policy.Grants()) != 1 {
		t.Fatalf("the first call ends with %v; grants %v", e, r.policy.Grants())
	}
	w.trusts(t, "carol/codex@team")
	if e := <-does(t, g, in("two", "codex")); !e.failure.Ours(fault.TabOwned) {
		t.Fatalf("another session's write ends with %v", e)
	}
	g.SessionEnded("three")
	if e := <-does(t, g, in("two", "codex")); !e.failure.Ours(fault.TabOwned) {
		t.Fatalf("after another one ended it ends with %v", e)
	}
	g.SessionEnded("one")
	e := <-does(t, g, in("two", "codex"))
	for e.failure.Ours(fault.TabOwned) { // the node is on its way to hear it
		e = <-does(t, g, in("two", "codex"))
	}
	if e.failure != nil || ownerIn(t, b) == "" {
		t.Errorf("then it ends with %v", e)
	}
	if grants := r.policy.Grants(); len(grants) != 0 {
		t.Errorf("grants are left: %v", grants)
	}
}

// hostile is a program with the credentials of a gateway that sends what it likes.
type hostile struct {
	t    *testing.T
	conn *nats.Conn
	errs chan error
}

func newHostile(t *testing.T, as string, at wire.Peer) *hostile {
	t.Helper()
	h := &hostile{t: t, errs: make(chan error, 10)}
	at.Inbox = wire.Inbox(as)
	at.Changed = func(_ *nats.Conn, err error) {
		if err != nil {
			h.errs <- err
		}
	}
	var err error
	if h.conn, err = at.Dial(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.conn.Close)
	return h
}

// denied asserts that NATS does not let it do what it has just tried.
func (h *hostile) denied(what string, err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := <-h.errs; !strings.Contains(strings.ToLower(err.Error()), "permissions violation") {
		h.t.Errorf("%s: %v", what, err)
	}
}

// hearsReplies sends a message, and returns the first replies up to one of a kind.
func (h *hostile) hearsReplies(subject string, message []byte, until ...wire.Kind,
) (kinds []wire.Kind, last wire.Reply) {
	h.t.Helper()
	sub, err := h.conn.SubscribeSync(h.conn.NewInbox())
	if err == nil {
		err = h.conn.PublishRequest(subject, sub.Subject, message)
	}
	for err == nil {
		var msg *nats.Msg
		if msg, err = sub.NextMsgWithContext(h.t.Context()); err != nil {
			break
		}
		if last, _, err = wire.DecodeReply(msg.Data); err != nil {
			break
		}
		kinds = append(kinds, last.Kind)
		for _, kind := range until {
			if last.Kind == kind {
				return kinds, last
			}
		}
	}
	h.t.Fatal(err)
	return kinds, last
}

// What a gateway sends is checked by the node again: nothing malformed, forged or late is carried out, one id is
// carried out once, and NATS lets nobody use the name of another.
func TestAHostileGateway(t *testing.T) {
	f := newFleet(t)
	w, r := f.lendingNode("ann", "")
	answer, ran, letGo := held()
	close(letGo)
	w.browser(answer)
	f.meetingGateway("team", "ann")
	h := newHostile(t, "team", wire.Peer{URL: f.server.URL,
		Credentials: config.KeySource{File: f.server.GatewayKey("team")}})
	caller := &wire.Caller{Person: "carol", Agent: "claude", Session: random.Hex(16)}
	w.trusts(t, "carol/claude@team")
	good := func(change func(*wire.Request)) []byte {
		req := wire.Request{V: 1, ID: random.Hex(16), Caller: caller, Tool: "shop__pay", WaitMs: 60_000}
		change(&req)
		return wire.Encode(req, []byte(`{}`))
	}
	partly := func(bytes int) (r wire.Request) {
		return wire.Request{V: 1, ID: random.Hex(16), Caller: caller, Tool: "shop__pay", WaitMs: 60_000, Bytes: bytes}
	}
	to := wire.RequestSubject("ann", "team", wire.OpCall)
	plain := string(good(func(*wire.Request) {}))
	for what, message := range map[string][]byte{
		"nothing":         {},
		"no JSON":         []byte("hello\n{}"),
		"another version": good(func(r *wire.Request) { r.V = 2 }),
		"more members":    []byte(strings.Replace(plain, `"v":1`, `"v":1,"consent":true`, 1)),
		"one twice":       []byte(strings.Replace(plain, `"v":1`, `"v":1,"v":1`, 1)),
		"no caller":       good(func(r *wire.Request) { r.Caller = nil }),
		"a forged caller": good(func(r *wire.Request) {
			r.Caller = &wire.Caller{Person: "carol/claude@team", Agent: "x", Session: caller.Session}
		}),
		"no session":      good(func(r *wire.Request) { r.Caller = &wire.Caller{Person: "carol", Agent: "claude"} }),
		"a short id":      good(func(r *wire.Request) { r.ID = "1" }),
		"a late one":      good(func(r *wire.Request) { r.WaitMs = 0 }),
		"one without end": good(func(r *wire.Request) { r.WaitMs = wire.MaxWait + 1 }),
		"no tool":         good(func(r *wire.Request) { r.Tool = "../shop" }),
		"no object":       append([]byte(strings.TrimSuffix(plain, "{}")), "[]"...),
		"too much":        wire.Encode(partly(wire.MaxArguments+1), nil),
		"both":            wire.Encode(partly(2), []byte(`{}`)),
		"a long header":   good(func(r *wire.Request) { r.Reason = strings.Repeat("x", wire.MaxHeader) }),
	} {
		if _, reply := h.hearsReplies(to, message, wire.Refused, wire.Accepted); reply.Kind != wire.Refused {
			t.Errorf("%s: it answers %+v", what, reply)
		}
	}
	_, reply := h.hearsReplies(wire.RequestSubject("ann", "team", "shutdown"), []byte(`{"v":1}`), wire.Refused)
	if reply.Why == "" {
		t.Errorf("an operation that there is not: %+v", reply)
	}
	// Tools of the relay itself are not lent, nor are tools that there are not.
	for _, tool := range []string{"bridge_health", "browser__list_tabs", "shop__steal"} {
		kinds, _ := h.hearsReplies(to, good(func(r *wire.Request) { r.Tool = tool }), wire.End)
		if fmt.Sprint(kinds) != "[accepted end]" {
			t.Errorf("%s: it answers %v", tool, kinds)
		}
	}
	if len(ran) > 0 {
		t.Fatalf("%s ran", <-ran)
	}
	// Arguments in parts are looked at when they are whole, a part that was not asked for is passed over, and there is
	// room for so many.
	inParts := partly(2)
	h.hearsReplies(to, wire.Encode(inParts, nil), wire.Wants)
	for part, text := range map[int]string{2: "[]", 1: "[1]"} {
		err := h.conn.PublishRequest(wire.RequestSubject("ann", "team", wire.OpPart), h.conn.NewInbox(),
			wire.Encode(wire.Request{V: 1, ID: inParts.ID, Caller: caller, Part: part}, []byte(text)))
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, again := h.hearsReplies(to, wire.Encode(inParts, nil), wire.Wants); again.Part != 1 {
		t.Errorf("after parts that were not asked for, %+v", again)
	}
	inbox := h.conn.NewInbox()
	refused, err := h.conn.SubscribeSync(inbox)
	if err == nil {
		err = h.conn.PublishRequest(to, inbox, wire.Encode(inParts, nil))
	}
	if err == nil {
		err = h.conn.PublishRequest(wire.RequestSubject("ann", "team", wire.OpPart), inbox,
			wire.Encode(wire.Request{V: 1, ID: inParts.ID, Caller: caller, Part: 1}, []byte("[]")))
	}
	for _, want := range []wire.Kind{wire.Wants, wire.Refused} {
		msg, failure := refused.NextMsgWithContext(t.Context())
		if err = errors.Join(err, failure); err != nil {
			t.Fatal(err)
		}
		if r, _, err := wire.DecodeReply(msg.Data); err != nil || r.Kind != want {
			t.Errorf("arguments that are no object: %+v, %v", r, err)
		}
	}
	kept := []string{}
	for range 4 {
		one := partly(wire.MaxArguments)
		kept = append(kept, one.ID)
		h.hearsReplies(to, wire.Encode(one, nil), wire.Wants)
	}
	h.hearsReplies(to, wire.Encode(partly(wire.MaxArguments), nil), wire.End)
	for _, id := range kept { // one that is withdrawn makes room
		_, r := h.hearsReplies(wire.RequestSubject("ann", "team", wire.OpCancel),
			wire.Encode(wire.Request{V: 1, ID: id, Caller: caller}, nil), wire.Unsure)
		if r.Life == "" {
			t.Error("the node says no life")
		}
	}
	h.hearsReplies(to, wire.Encode(partly(wire.MaxArguments), nil), wire.Wants)
	// The same message twice, and a third time after its end, is one call.
	twice := good(func(*wire.Request) {})
	if err := h.conn.PublishRequest(to, h.conn.NewInbox(), twice); err != nil {
		t.Fatal(err)
	}
	h.hearsReplies(to, twice, wire.End)
	h.hearsReplies(to, twice, wire.End)
	if <-ran; len(ran) > 0 {
		t.Error("a call that was sent three times ran more than once")
	}
	// One that was withdrawn before it came is never started.
	_, tools := h.hearsReplies(wire.RequestSubject("ann", "team", wire.OpTools), wire.Encode(wire.Request{V: 1}, nil),
		wire.Tools)
	early := wire.Request{V: 1, ID: random.Hex(16), Caller: caller, Life: tools.Life}
	h.hearsReplies(wire.RequestSubject("ann", "team", wire.OpCancel), wire.Encode(early, nil), wire.Never)
	h.hearsReplies(to, good(func(r *wire.Request) { r.ID = early.ID }), wire.Never)
	early.ID, early.Life = random.Hex(16), random.Hex(16) // of an earlier life of the node: nobody knows
	h.hearsReplies(wire.RequestSubject("ann", "team", wire.OpCancel), wire.Encode(early, nil), wire.Unsure)
	if len(ran) > 0 {
		t.Error("a call that was withdrawn ran")
	}
	// NATS lets it use no other name, hear no other gateway, and write no node's entry.
	for len(h.errs) > 0 {
		<-h.errs
	}
	h.denied("another name", h.conn.Publish(wire.RequestSubject("ann", "other", wire.OpCall), twice))
	h.denied("an entry", h.conn.Publish("$KV."+wire.Bucket+".ann", []byte(`{}`)))
	_, err = h.conn.SubscribeSync(wire.Inbox("other") + ".>")
	h.denied("other answers", err)
	_, err = h.conn.SubscribeSync(wire.NodeSubject("ann"))
	h.denied("the place of a node", err)
	if n := r.meter.Corruptions()["fleet"]; n < 15 {
		t.Errorf("%d messages are counted", n)
	}
}
