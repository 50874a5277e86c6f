package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/capability/fleet/gateway"
	"tabrelay/relay/capability/fleet/lease"
	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

// leasing is a fleet with a node whose browser profiles are leased, and a gateway.
type leasing struct {
	*fleetWorld
	t     *testing.T
	w     *world
	relay *Relay
	end   func() // of the relay
	way   *cut   // from the node to the server
	ran   chan string
	letGo chan bool
	b     *hubtest.Browser
}

// leases has a node lease its profiles for so long, without a question to its owner.
func leases(t *testing.T, idle time.Duration) *leasing {
	t.Helper()
	l := &leasing{fleetWorld: newFleet(t), t: t, w: newWorld(t)}
	err := config.Apply(l.w.home,
		config.Edit{Path: []string{"fleet", "exclusive"}, Value: json.RawMessage("true")},
		config.Edit{Path: []string{"fleet", "lease"}, Value: rawjson.MustEncode(map[string]int64{
			"idleMs": idle.Milliseconds(), "queue": 2})})
	if err != nil {
		t.Fatal(err)
	}
	l.way = newCut(t, l.server.URL)
	l.relay, l.end = l.lendingNodeIn(l.w, "ann", l.way.addressOfCut(), "")
	var answer func(*hubtest.Call)
	answer, l.ran, l.letGo = held()
	l.b = l.w.browser(answer)
	for _, agent := range []string{"claude", "codex", "gemini", "kimi"} {
		l.w.trusts(t, "carol/"+agent+"@team")
	}
	return l
}

// gate is a gateway at which calls wait for so long for their turn.
func (l *leasing) gate(queue time.Duration) *gateway.Gateway {
	l.t.Helper()
	return gatewayOf(l.t, gateway.Options{Name: "team", Recover: 3 * time.Second, Queue: queue, Peer: wire.Peer{
		URL: l.server.URL, Credentials: config.KeySource{File: l.server.GatewayKey("team")}}}, "ann")
}

// waitingCall is a call of an agent that says on told for whom it waits.
func waitingCall(agent, tool string) (c call.Call, told chan string) {
	told = make(chan string, 10)
	c = fleetCall(agent, tool, `{}`)
	c.Progress = func(p call.Progress) { told <- p.Message }
	return c, told
}

// waits has a call wait for its turn.
func (l *leasing) waits(g *gateway.Gateway, agent, tool string) <-chan fleetEnd {
	l.t.Helper()
	c, told := waitingCall(agent, tool)
	end := does(l.t, g, c)
	<-told
	return end
}

// passesOn ends the session that holds the lease: it is the turn of who waits.
func (l *leasing) passesOn(g *gateway.Gateway, end <-chan fleetEnd) {
	l.t.Helper()
	g.SessionEnded("http:claude")
	if e := <-end; e.failure != nil {
		l.t.Errorf("who waited ends with %v", e)
	}
}

func (l *leasing) reads(g *gateway.Gateway, agent string) fleetEnd {
	l.t.Helper()
	return <-does(l.t, g, fleetCall(agent, "shop__read", `{}`))
}

func (l *leasing) works(g *gateway.Gateway, agent string) {
	l.t.Helper()
	if e := l.reads(g, agent); e.failure != nil {
		l.t.Fatalf("the call of %s ends with %v", agent, e)
	}
	<-l.ran
}

// One session has the profile for itself, also to read. The others wait in their order, and are told for whom; the
// first of them gets it when that session ends.
func TestAProfileIsLeasedToOneSession(t *testing.T) {
	l := leases(t, time.Minute)
	g := l.gate(time.Minute)
	l.works(g, "claude")
	second, told := waitingCall("codex", "shop__read")
	secondEnd := does(t, g, second)
	if said := <-told; said != "waiting for ann/Chrome 1, which carol/claude@team uses: 1 before you" {
		t.Errorf("it is told %q", said)
	}
	third, told := waitingCall("gemini", "shop__read")
	thirdEnd := does(t, g, third)
	if said := <-told; !strings.HasSuffix(said, "uses: 2 before you") {
		t.Errorf("it is told %q", said)
	}
	if len(l.ran) > 0 {
		t.Fatal("a call ran in the profile of another session")
	}
	if s := l.status(); len(s) != 1 || s[0].Holder != "carol/claude@team" ||
		!slices.Equal(s[0].Waiting, []string{"carol/codex@team", "carol/gemini@team"}) {
		t.Errorf("the owner sees %+v", s)
	}
	if e := l.reads(g, "kimi"); !e.failure.Ours(fault.Overloaded) || e.failure.Outcome != fault.NotExecuted ||
		e.failure.RetryAfterMs == nil {
		t.Errorf("with a full queue a call ends with %v", e)
	}
	g.SessionEnded("http:claude")
	if e := <-secondEnd; e.failure != nil {
		t.Errorf("the first that waited ends with %v", e)
	}
	<-l.ran
	g.SessionEnded("http:codex")
	if e := <-thirdEnd; e.failure != nil {
		t.Errorf("the second that waited ends with %v", e)
	}
	if <-l.ran; len(l.ran) > 0 {
		t.Error("more ran than calls were made")
	}
}

// A session that was idle, and finds the profile with another one, is told once, before it acts on what it saw.
func TestAnIdleLeaseGoesOn(t *testing.T) {
	l := leases(t, 200*time.Millisecond)
	g := l.gate(time.Minute)
	l.works(g, "codex")
	l.works(g, "codex") // nobody else wanted it
	l.works(g, "claude")
	e := l.reads(g, "codex")
	if !e.failure.Ours(fault.TabOwned) || e.failure.Outcome != fault.NotExecuted || e.failure.Retryable ||
		!strings.Contains(e.failure.Message, "it had made no call for 200ms") {
		t.Errorf("who has lost the lease is told %v", e)
	}
	if len(l.ran) > 0 {
		t.Error("its call ran")
	}
	l.works(g, "codex") // now it waits for its turn
}

// status is what the owner sees.
func (l *leasing) status() []lease.State {
	l.t.Helper()
	status, text := l.w.person(l.t, http.MethodGet, "/api/v1/fleet", "")
	var s struct {
		Node struct{ Leases []lease.State }
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil || status != http.StatusOK {
		l.t.Fatal(status, text, err)
	}
	return s.Node.Leases
}

// A call whose turn does not come is proven not to have been executed, keeps its session's place for a moment, and is
// withdrawn by its client without a trace.
func TestATurnThatDoesNotCome(t *testing.T) {
	l := leases(t, time.Minute)
	g := l.gate(300 * time.Millisecond)
	l.works(g, "claude")
	e := l.reads(g, "codex")
	if !e.failure.Ours(fault.Overloaded) || e.failure.Outcome != fault.NotExecuted || !e.failure.Retryable ||
		!strings.Contains(e.failure.Message, "which carol/claude@team uses") {
		t.Errorf("it ends with %v", e)
	}
	patient := l.gate(time.Minute)
	later, told := waitingCall("gemini", "shop__read")
	laterEnd := does(t, patient, later)
	<-told
	ctx, cancel := context.WithCancelCause(t.Context())
	again, told := waitingCall("codex", "shop__read")
	end := make(chan *fault.Error, 1)
	go func() {
		_, failure := patient.Do(ctx, again)
		end <- failure
	}()
	if said := <-told; !strings.HasSuffix(said, "1 before you") {
		t.Errorf("come back, it is told %q", said)
	}
	cancel(call.ErrCancelled)
	if failure := <-end; !failure.Ours(fault.Cancelled) || failure.Outcome != fault.NotExecuted {
		t.Errorf("withdrawn, it ends with %v", failure)
	}
	g.SessionEnded("http:claude")
	patient.SessionEnded("http:claude")
	if e := <-laterEnd; e.failure != nil {
		t.Errorf("who waited behind it ends with %v", e)
	}
	if <-l.ran; len(l.ran) > 0 {
		t.Error("a call that was withdrawn ran")
	}
}

// What was denied, or is wrong, holds nothing.
func TestAskingHoldsNoLease(t *testing.T) {
	l := leases(t, time.Minute)
	g := l.gate(time.Minute)
	status, said := l.w.person(t, http.MethodPut, "/api/v1/permissions",
		`{"target":"shop","mode":"ask","client":"carol/claude@team"}`)
	if status != http.StatusOK {
		t.Fatal(said)
	}
	asked := questions(t, l.relay)
	denied := does(t, g, fleetCall("claude", "shop__pay", `{}`))
	q := asked()
	end := l.waits(g, "codex", "shop__read") // while the owner is asked
	l.w.answers(t, q.ID, `{"answer":"deny"}`, http.StatusOK)
	if e := <-denied; !e.failure.Ours(fault.ApprovalDenied) {
		t.Errorf("it ends with %v", e)
	}
	if e := <-end; e.failure != nil {
		t.Errorf("who waited ends with %v", e)
	}
	if tool := <-l.ran; tool != "read" {
		t.Errorf("%s ran", tool)
	}
}

// The owner ends a lease with one command, or by stopping everything: the call that runs is ended, its session is told,
// and who waits begins only after that.
func TestTheOwnerEndsALease(t *testing.T) {
	l := leases(t, time.Minute)
	g := l.gate(time.Minute)
	paid := does(t, g, fleetCall("claude", "shop__pay", `{}`))
	<-l.ran
	end := l.waits(g, "codex", "shop__read")
	status, said := l.w.person(t, http.MethodDelete, "/api/v1/fleet/leases/Home", "")
	if status != http.StatusNotFound {
		t.Errorf("of another profile: %d %s", status, said)
	}
	status, said = l.w.person(t, http.MethodDelete, "/api/v1/fleet/leases/Chrome%201", "")
	if status != http.StatusOK || said != `{"holders":["carol/claude@team"]}` {
		t.Fatal(status, said)
	}
	if e := <-paid; e.failure == nil || e.failure.Outcome != fault.Unknown {
		t.Errorf("the call that ran ends with %v", e)
	}
	if e := <-end; e.failure != nil {
		t.Errorf("who waited ends with %v", e)
	}
	close(l.letGo)
	e := l.reads(g, "claude")
	if !e.failure.Ours(fault.TabOwned) || !strings.Contains(e.failure.Message, whyReleased) {
		t.Errorf("its session is told %v", e)
	}
	if status, said := l.w.person(t, http.MethodPut, "/api/v1/paused", `{"paused":true}`); status != http.StatusOK {
		t.Fatal(said)
	}
	for len(l.status()) > 0 { // the call of codex ends first
		continue
	}
}

const whyReleased = "the owner of the browser has ended the lease"

// The holder's gateway is killed amid its write: the lease stays with the session, whichever gateway it comes to, and
// nobody else's call runs meanwhile. Who waits at a gateway that is killed does so at the next one, in the same place,
// with the same id; one that does not come back is passed over, and its call never runs.
func TestGatewaysOfHoldersAndWaitersAreKilled(t *testing.T) {
	l := leases(t, time.Minute)
	g := l.gate(time.Minute)
	pay := fleetCall("claude", "shop__pay", `{"sum":7}`)
	does(t, g, pay)
	<-l.ran
	dead, told := waitingCall("gemini", "shop__pay")
	does(t, g, dead)
	<-told
	waits, told := waitingCall("codex", "shop__read")
	does(t, g, waits)
	<-told
	g.Close()
	next := l.gate(time.Minute)
	waits.Resume, pay.Resume = true, true
	waits.Progress = nil
	end := does(t, next, waits)
	paid := does(t, next, pay)
	close(l.letGo)
	if e := <-paid; e.failure != nil || e.String() != `{"sum":7}` {
		t.Errorf("the write of the holder ends with %v", e)
	}
	if len(l.ran) > 0 {
		t.Fatal("a call ran in the profile of another session")
	}
	next.SessionEnded("http:claude")
	if e := <-end; e.failure != nil {
		t.Errorf("who came back ends with %v", e)
	}
	if tool := <-l.ran; tool != "read" || len(l.ran) > 0 {
		t.Errorf("%s ran, and %d more", tool, len(l.ran))
	}
}

// A node that is started anew has its leases and its queue as they were; who waits is told nothing of it.
func TestLeasesOutliveTheirNode(t *testing.T) {
	l := leases(t, time.Minute)
	g := l.gate(time.Minute)
	l.works(g, "claude")
	first, told := waitingCall("codex", "shop__read")
	firstEnd := does(t, g, first)
	<-told
	second, told := waitingCall("gemini", "shop__read")
	secondEnd := does(t, g, second)
	<-told
	address := l.relay.Address()
	l.end()
	l.lendingNodeIn(l.w, "ann", l.server.URL, address)
	if err := l.b.Dial(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := l.reads(g, "claude")
	for e.failure.Ours(fault.ProfileNotConnected) || e.failure.Ours(fault.UnknownTool) { // on its way
		e = l.reads(g, "claude")
	}
	if e.failure != nil {
		t.Fatalf("the holder's next call ends with %v", e)
	}
	<-l.ran
	for s := l.status(); len(s) == 0 || len(s[0].Waiting) != 2; s = l.status() {
		continue // they ask every second
	}
	if s := l.status()[0]; !slices.Equal(s.Waiting, []string{"carol/codex@team", "carol/gemini@team"}) {
		t.Errorf("after the restart %v wait", s.Waiting)
	}
	g.SessionEnded("http:claude")
	if e := <-firstEnd; e.failure != nil {
		t.Errorf("the first ends with %v", e)
	}
	g.SessionEnded("http:codex")
	if e := <-secondEnd; e.failure != nil {
		t.Errorf("the second ends with %v", e)
	}
}

// Through a node's lost connection leases and places are what they were, and who waits is told nothing of it.
func TestLeasesOutliveAConnection(t *testing.T) {
	l := leases(t, time.Minute)
	g := l.gate(time.Minute)
	close(l.letGo)
	l.works(g, "claude")
	end := l.waits(g, "codex", "shop__pay")
	l.way.breakOff(true)
	e := l.reads(g, "claude")
	for !e.failure.Ours(fault.ProfileNotConnected) { // the server may not have noticed yet
		if e.failure != nil && e.failure.Outcome == fault.NotExecuted {
			t.Fatalf("without a connection a call ends with %v", e)
		}
		e = l.reads(g, "claude")
	}
	l.way.breakOff(false)
	for e.failure.Ours(fault.ProfileNotConnected) { // on its way
		e = l.reads(g, "claude")
	}
	if e.failure != nil {
		t.Errorf("the holder's next call ends with %v", e)
	}
	for len(l.ran) > 0 {
		if tool := <-l.ran; tool != "read" {
			t.Error("the call of another session ran")
		}
	}
	l.passesOn(g, end)
}

// Without the directory, which is all that JetStream has, leases are what they were: they are not kept there.
func TestLeasesNeedNoJetStream(t *testing.T) {
	l := leases(t, time.Minute)
	g := l.gate(time.Minute)
	l.works(g, "claude")
	end := l.waits(g, "codex", "shop__read")
	conn, err := wire.Peer{URL: l.server.URL, Inbox: wire.Inbox("team"),
		Credentials: config.KeySource{File: l.server.GatewayKey("team")}}.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err == nil {
		err = js.DeleteKeyValue(t.Context(), wire.Bucket)
	}
	if err != nil {
		t.Fatal(err)
	}
	l.works(g, "claude")
	if len(l.ran) > 0 {
		t.Error("a call ran in the profile of another session")
	}
	l.passesOn(g, end)
}

// A message that comes after the lease has moved is refused, or waits: it is not carried out. What a gateway says of
// leases is no member of a message, and arguments of its own choice lead to no other profile.
func TestALateMessageAfterTheLeaseMoved(t *testing.T) {
	l := leases(t, time.Minute)
	g := l.gate(time.Minute)
	l.works(g, "claude")
	status, said := l.w.person(t, http.MethodDelete, "/api/v1/fleet/leases/Chrome%201", "")
	if status != http.StatusOK {
		t.Fatal(said)
	}
	l.works(g, "codex")
	if e := l.reads(g, "claude"); !e.failure.Ours(fault.TabOwned) || e.failure.Outcome != fault.NotExecuted {
		t.Errorf("the late one ends with %v", e)
	}
	h := newHostile(t, "team", wire.Peer{URL: l.server.URL,
		Credentials: config.KeySource{File: l.server.GatewayKey("team")}})
	to := wire.RequestSubject("ann", "team", wire.OpCall)
	for i, arguments := range []string{`{}`, `{"profile":"Chrome 1"}`, `{"profile":"x","profile":"Chrome 1"}`,
		`{"prof\u0069le":"Chrome 1"}`} {
		r := wire.Request{V: 1, ID: fmt.Sprintf("%032x", i+1), Tool: "shop__pay", WaitMs: 60_000, Caller: &wire.Caller{
			Person: "carol", Agent: "kimi", Session: fmt.Sprintf("%032x", 7)}}
		if _, last := h.hearsReplies(to, wire.Encode(r, []byte(arguments)), wire.Waits, wire.Accepted); last.Kind !=
			wire.Waits || last.Lease == nil || last.Lease.Holder != "carol/codex@team" {
			t.Errorf("%s: it answers %+v", arguments, last)
		}
	}
	if len(l.ran) > 0 {
		t.Error("a call ran in the profile of another session")
	}
}

// Of several profiles each is leased for itself, and a call says which one it means, by its name.
func TestEachProfileIsLeasedForItself(t *testing.T) {
	l := leases(t, time.Minute)
	work := make(chan string, 10)
	l.w.browserCalled("Work", func(c *hubtest.Call) {
		c.Started()
		work <- c.Tool
		c.Return(c.Arguments)
	})
	g := l.gate(100 * time.Millisecond)
	in := func(agent, profile string) fleetEnd {
		return <-does(t, g, fleetCall(agent, "shop__read", profile))
	}
	if e := in("claude", `{}`); !e.failure.Ours(fault.ValidationError) || e.failure.Outcome != fault.NotExecuted ||
		!strings.HasSuffix(e.failure.Message, "means: Chrome 1, Work") {
		t.Errorf("a call that names none ends with %v", e)
	}
	if e := in("claude", `{"profile":"Work"}`); e.failure != nil || e.result.Meta.Profile != "ann/Work" ||
		e.String() != `{}` {
		t.Fatalf("in Work it ends with %v", e)
	}
	if e := in("claude", `{}`); e.failure != nil || e.result.Meta.Profile != "ann/Work" {
		t.Errorf("the holder's next call ends with %v", e)
	}
	if e := in("codex", `{"profile":"ann/Work"}`); !e.failure.Ours(fault.Overloaded) {
		t.Errorf("another's call in Work ends with %v", e)
	}
	if len(work) != 2 {
		t.Errorf("%d calls ran in Work", len(work))
	}
	if e := in("codex", `{"profile":"Chrome 1"}`); e.failure != nil || e.result.Meta.Profile != "ann/Chrome 1" {
		t.Errorf("in the other profile it ends with %v", e)
	}
}

// Arguments in parts travel before the turn has come, are kept meanwhile, and are looked at whole: what they say of a
// profile leads to no other one.
func TestLargeArgumentsWaitForTheirTurn(t *testing.T) {
	l := leases(t, time.Minute)
	g := l.gate(time.Minute)
	l.works(g, "claude")
	large, told := waitingCall("codex", "shop__pay")
	large.Arguments = json.RawMessage(`{"what":"` + strings.Repeat("x", 2*wire.PartBytes) + `"}`)
	end := does(t, g, large)
	if said := <-told; !strings.HasSuffix(said, "1 before you") || len(l.ran) > 0 {
		t.Errorf("it is told %q, and %d calls ran", said, len(l.ran))
	}
	g.SessionEnded("http:claude")
	if tool := <-l.ran; tool != "pay" {
		t.Errorf("%s ran", tool)
	}
	close(l.letGo)
	if e := <-end; e.failure != nil {
		t.Errorf("it ends with %v", e)
	}
}
