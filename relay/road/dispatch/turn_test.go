package dispatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/schedule"
)

// pages is a browser in which each call takes its time: the argument "take", in milliseconds. It remembers what ran,
// and whether two writes ever ran in one tab at once.
type pages struct {
	oneTab
	t    *testing.T
	fail func(n int, r call.Invocation) *fault.Error // may be nil; n counts attempts from 1

	mu       sync.Mutex
	attempts int
	writing  map[int]bool // by tab
	ran      []string     // "<session>.<argument n>" as they started
	most     int          // calls at once
	now      int
}

func (p *pages) Resolve(r call.Selector) (call.Target, *fault.Error, time.Duration) {
	return call.Target{ProfileID: "p1", Profile: "Chrome 1", TabID: max(r.TabID, 1)}, nil, 0
}

func (p *pages) Send(ctx context.Context, at call.Target, r call.Invocation) (*call.Reply, *fault.Error) {
	var args struct{ N, Take int }
	_ = json.Unmarshal(r.Arguments, &args)
	p.begin(r, at.TabID, args.N)
	defer p.end(r, at.TabID)
	r.Started()
	select {
	case <-time.After(time.Duration(args.Take) * time.Millisecond):
	case <-ctx.Done():
		return nil, fault.New(fault.TimeoutCode, "aborted", fault.WithOutcome(fault.Unknown))
	}
	p.mu.Lock()
	p.attempts++
	n := p.attempts
	p.mu.Unlock()
	if p.fail != nil {
		if f := p.fail(n, r); f != nil {
			return nil, f
		}
	}
	return &call.Reply{Output: json.RawMessage(`{"title":"x"}`), TabID: at.TabID}, nil
}

func (p *pages) begin(r call.Invocation, tab, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Write && p.writing[tab] {
		p.t.Errorf("two writes run in tab %d", tab)
	}
	if r.Write {
		p.writing[tab] = true
	}
	p.ran = append(p.ran, fmt.Sprintf("%s.%d", r.Session.ID, n))
	p.now++
	p.most = max(p.most, p.now)
}

func (p *pages) end(r call.Invocation, tab int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Write {
		p.writing[tab] = false
	}
	p.now--
}

// paged is a dispatcher before such pages.
type paged struct {
	*dispatch.Dispatcher
	t     *testing.T
	pages *pages

	mu   sync.Mutex
	news []string
}

func openPages(t *testing.T, change ...func(*dispatch.Options)) *paged {
	k := &paged{t: t, pages: &pages{t: t, writing: map[int]bool{}}}
	o := options(t, nil, k.pages)
	o.Events = func(_ event.Owner, kind event.Kind, message string, data map[string]any) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.news = append(k.news, fmt.Sprintf("%s: %s", kind, message))
	}
	for _, c := range change {
		c(&o)
	}
	k.Dispatcher = dispatch.New(o)
	return k
}

// ended is how a call ended.
type ended struct {
	failure *fault.Error
	after   time.Duration
}

func (k *paged) begin(ctx context.Context, session, tool, args string) <-chan ended {
	done := make(chan ended, 1)
	start := time.Now()
	go func() {
		_, f := k.Do(ctx, call.Call{ID: "000000000000000000000000000000ff", Session: call.Session{ID: session},
			Tool: tool, Arguments: json.RawMessage(args)})
		done <- ended{f, time.Since(start)}
	}()
	synctest.Wait()
	return done
}

func (e ended) want(t *testing.T, code fault.Code, after time.Duration) {
	t.Helper()
	got := fault.Code("")
	if e.failure != nil {
		got = e.failure.Code
	}
	if got != code || e.after != after {
		t.Errorf("ended with %q (%v) after %s, want %q after %s", got, e.failure, e.after, code, after)
	}
}

func TestWritesOfATabRunOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openPages(t)
		first := k.begin(t.Context(), "a", "demo__write", `{"n":1,"take":1000}`)
		second := k.begin(t.Context(), "a", "demo__write", `{"n":2,"take":1000}`)
		own := k.begin(t.Context(), "a", "demo__read", `{}`)
		foreign := k.begin(t.Context(), "b", "demo__read", `{}`)
		elsewhere := k.begin(t.Context(), "a", "demo__write", `{"n":5,"take":1000,"tabId":2}`)
		if diff := cmp.Diff([]schedule.TabLoad{{ProfileID: "p1", TabID: 1, Waiting: 2}, {ProfileID: "p1", TabID: 2}},
			k.Load().Tabs); diff != "" {
			t.Error(diff)
		}
		(<-foreign).want(t, "", 0)
		(<-first).want(t, "", time.Second)
		(<-elsewhere).want(t, "", time.Second)
		(<-second).want(t, "", 2*time.Second)
		(<-own).want(t, "", 2*time.Second)
		if diff := cmp.Diff([]string{"a.1", "b.0", "a.5", "a.2", "a.0"}, k.pages.ran); diff != "" {
			t.Error(diff)
		}
	})
}

// A write that is tried again keeps its turn: nothing of the line slips between.
func TestARetryKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openPages(t)
		k.pages.fail = func(n int, _ call.Invocation) *fault.Error {
			if n <= 2 {
				return fault.New(fault.TabBusy, "busy")
			}
			return nil
		}
		first := k.begin(t.Context(), "a", "demo__write", `{"n":1}`)
		others := []<-chan ended{
			k.begin(t.Context(), "a", "demo__write", `{"n":2}`),
			k.begin(t.Context(), "b", "demo__write", `{"n":3}`),
			k.begin(t.Context(), "a", "demo__read", `{}`),
		}
		if l := k.Load(); l.Running != 0 || l.Tabs[0].Waiting != 3 {
			t.Errorf("between two attempts: %+v", l)
		}
		(<-first).want(t, "", 3*time.Second)
		for _, other := range others {
			(<-other).want(t, "", 3*time.Second)
		}
		if got := strings.Join(k.pages.ran[:3], " "); got != "a.1 a.1 a.1" {
			t.Errorf("first ran %s", got)
		}
	})
}

// Every attempt has an id of its own, and says which call it belongs to.
func TestEveryAttemptNamesItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openPages(t)
		var got []string
		k.pages.fail = func(n int, r call.Invocation) *fault.Error {
			of := r.CorrelationID
			if of == "" {
				of = r.ID
			}
			got = append(got, string(r.ID[30:]+" of "+of[30:]))
			if n <= 2 {
				return fault.New(fault.TabBusy, "busy")
			}
			return nil
		}
		(<-k.begin(t.Context(), "a", "demo__read", `{}`)).want(t, "", 3*time.Second)
		if want := []string{"ff of ff", "00 of ff", "01 of ff"}; !slices.Equal(got, want) {
			t.Errorf("attempts %q, want %q", got, want)
		}
	})
}

// The time in line is not the tool's: its clock starts after it.
func TestWaitingInLineDoesNotEatTheToolsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openPages(t)
		k.begin(t.Context(), "a", "demo__write", `{"n":1,"take":25000}`)
		second := k.begin(t.Context(), "b", "demo__write", `{"n":2,"take":29000}`)
		late := k.begin(t.Context(), "c", "demo__write", `{"n":3}`)
		(<-second).want(t, "", 54*time.Second)
		got := <-late
		got.want(t, fault.Overloaded, 30*time.Second)
		if got.failure.Outcome != fault.NotExecuted || !got.failure.Retryable || got.failure.RetryAfterMs == nil ||
			got.failure.Attempts != 1 {
			t.Errorf("%+v", got.failure)
		}
	})
}

func TestCancelledInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openPages(t)
		first := k.begin(t.Context(), "a", "demo__write", `{"n":1,"take":1000}`)
		ctx, cancel := context.WithCancelCause(t.Context())
		second := k.begin(ctx, "a", "demo__write", `{"n":2}`)
		third := k.begin(t.Context(), "a", "demo__write", `{"n":3}`)
		cancel(call.ErrCancelled)
		got := <-second
		got.want(t, fault.Cancelled, 0)
		if got.failure.Outcome != fault.NotExecuted {
			t.Errorf("%+v", got.failure)
		}
		if n := k.Load().Tabs[0].Waiting; n != 1 {
			t.Errorf("%d wait", n)
		}
		(<-first).want(t, "", time.Second)
		(<-third).want(t, "", time.Second)
		if diff := cmp.Diff([]string{"a.1", "a.3"}, k.pages.ran); diff != "" {
			t.Error(diff)
		}
	})
}

// The 33rd waiting call of a session is turned away, and only of that session.
func TestAFullLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openPages(t)
		var all []<-chan ended
		for n := range 33 {
			all = append(all, k.begin(t.Context(), "a", "demo__write", fmt.Sprintf(`{"n":%d,"take":100}`, n)))
		}
		over := <-k.begin(t.Context(), "a", "demo__write", `{}`)
		over.want(t, fault.Overloaded, 0)
		if f := over.failure; f.Outcome != fault.NotExecuted || !f.Retryable || *f.RetryAfterMs != 250 ||
			f.Hint == "" || f.TabID != 1 {
			t.Errorf("%+v", f)
		}
		other := k.begin(t.Context(), "b", "demo__write", `{"n":1,"take":100}`)
		(<-other).want(t, "", 300*time.Millisecond)
		for n, done := range all {
			if got := <-done; got.failure != nil {
				t.Errorf("call %d: %v", n, got.failure)
			}
		}
		if l := k.Load(); l.Running != 0 || len(l.Tabs) != 0 {
			t.Errorf("left behind: %+v", l)
		}
	})
}

// A call without a session stands in line with the others of its client.
func TestSessionOfAClientWithoutSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openPages(t, func(o *dispatch.Options) { o.Limits.WaitingPerTab = 1 })
		begin := func(client string) <-chan ended {
			done := make(chan ended, 1)
			go func() {
				_, f := k.Do(t.Context(), call.Call{ID: "00", Session: call.Session{Client: client},
					Tool: "demo__write", Arguments: json.RawMessage(`{"take":10}`)})
				done <- ended{f, 0}
			}()
			synctest.Wait()
			return done
		}
		one, two := begin("a"), begin("a")
		(<-begin("a")).want(t, fault.Overloaded, 0)
		other := begin("b")
		for _, done := range []<-chan ended{one, two, other} {
			(<-done).want(t, "", 0)
		}
	})
}

// wandering is a browser in which session b finds, after it has waited for tab 3, that its tab is tab 2 now.
type wandering struct{ *pages }

func (w wandering) Resolve(r call.Selector) (call.Target, *fault.Error, time.Duration) {
	if r.Session.ID == "b" && r.Stay.TabID != 0 {
		r.TabID = 2
	}
	return w.pages.Resolve(r)
}

// A call whose tab changes queues in the other tab, and gives up what it had in the first.
func TestChangingTheTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openPages(t)
		d := &paged{t: t, pages: k.pages}
		d.Dispatcher = dispatch.New(options(t, nil, wandering{k.pages}))
		begin := func(session string, n, tab, take int) <-chan ended {
			return d.begin(t.Context(), session, "demo__write", fmt.Sprintf(`{"n":%d,"take":%d,"tabId":%d}`, n, take,
				tab))
		}
		inTwo, inThree := begin("a", 1, 2, 1500), begin("c", 2, 3, 1000)
		changes, behind := begin("b", 3, 3, 500), begin("d", 4, 3, 500)
		if l := d.Load(); l.Running != 2 || len(l.Tabs) != 2 || l.Tabs[1].Waiting != 2 {
			t.Errorf("%+v", l)
		}
		(<-inThree).want(t, "", time.Second)
		(<-inTwo).want(t, "", 1500*time.Millisecond)
		(<-behind).want(t, "", 1500*time.Millisecond)
		(<-changes).want(t, "", 2*time.Second)
		if l := d.Load(); l.Running != 0 || len(l.Tabs) != 0 {
			t.Errorf("left behind: %+v", l)
		}
	})
}
