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

	"tabrelay/relay/call"
	"tabrelay/relay/dispatch"
	"tabrelay/relay/event"
	"tabrelay/relay/fault"
)

// pages is a browser in which each call takes its time: the argument "take", in milliseconds. It remembers what ran,
// and whether two writes ever ran in one tab at once.
type pages struct {
	t    *testing.T
	fail func(n int, r call.Invocation) *fault.Error // may be nil; n counts attempts from 1

	mu       sync.Mutex
	attempts int
	writing  map[int]bool // by tab
	ran      []string     // "<lane>.<argument n>" as they started
	most     int          // calls at once
	now      int
}

func (p *pages) Invoke(ctx context.Context, r call.Invocation) (*call.Reply, *fault.Error) {
	at := call.Place{ProfileID: "p1", Profile: "Chrome 1", TabID: max(r.TabID, 1)}
	if f := enter(ctx, r, at); f != nil {
		return nil, f
	}
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
	p.ran = append(p.ran, fmt.Sprintf("%s.%d", r.Session.Lane, n))
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

func (*pages) Recover(context.Context, call.ID) (*call.Reply, *fault.Error, bool) {
	return nil, nil, false
}

// desk is a dispatcher before such pages.
type desk struct {
	*dispatch.Dispatcher
	t     *testing.T
	pages *pages

	mu   sync.Mutex
	news []string
}

func openDesk(t *testing.T, change ...func(*dispatch.Options)) *desk {
	k := &desk{t: t, pages: &pages{t: t, writing: map[int]bool{}}}
	o := options(t, nil, k.pages)
	o.Events = func(kind event.Kind, message string, data map[string]any) {
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

func (k *desk) begin(ctx context.Context, lane, tool, args string) <-chan ended {
	done := make(chan ended, 1)
	start := time.Now()
	go func() {
		_, f := k.Do(ctx, call.Call{ID: "000000000000000000000000000000ff", Session: call.Session{Lane: lane}, Tool: tool, Arguments: json.RawMessage(args)})
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
		k := openDesk(t)
		first := k.begin(t.Context(), "a", "demo__write", `{"n":1,"take":1000}`)
		second := k.begin(t.Context(), "a", "demo__write", `{"n":2,"take":1000}`)
		own := k.begin(t.Context(), "a", "demo__read", `{}`)
		foreign := k.begin(t.Context(), "b", "demo__read", `{}`)
		elsewhere := k.begin(t.Context(), "a", "demo__write", `{"n":5,"take":1000,"tabId":2}`)
		if diff := cmp.Diff([]dispatch.TabLoad{{ProfileID: "p1", TabID: 1, Waiting: 2}, {ProfileID: "p1", TabID: 2}}, k.Load().Tabs); diff != "" {
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
		k := openDesk(t)
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

// The time in line is not the tool's: its clock starts after it.
func TestWaitingInLineDoesNotEatTheToolsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openDesk(t)
		k.begin(t.Context(), "a", "demo__write", `{"n":1,"take":25000}`)
		second := k.begin(t.Context(), "b", "demo__write", `{"n":2,"take":29000}`)
		late := k.begin(t.Context(), "c", "demo__write", `{"n":3}`)
		(<-second).want(t, "", 54*time.Second)
		got := <-late
		got.want(t, fault.Overloaded, 30*time.Second)
		if got.failure.Outcome != fault.NotExecuted || !got.failure.Retryable || got.failure.RetryAfterMs == nil || got.failure.Attempts != 1 {
			t.Errorf("%+v", got.failure)
		}
	})
}

func TestCancelledInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openDesk(t)
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

// The 33rd waiting call of a lane is turned away, and only of that lane.
func TestAFullLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openDesk(t)
		var all []<-chan ended
		for n := range 33 {
			all = append(all, k.begin(t.Context(), "a", "demo__write", fmt.Sprintf(`{"n":%d,"take":100}`, n)))
		}
		over := <-k.begin(t.Context(), "a", "demo__write", `{}`)
		over.want(t, fault.Overloaded, 0)
		if f := over.failure; f.Outcome != fault.NotExecuted || !f.Retryable || *f.RetryAfterMs != 250 || f.Hint == "" || f.TabID != 1 {
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

// north is the argument that says which wiki.
func north(tool string) string {
	if strings.HasPrefix(tool, "wiki") {
		return `,"instance":"north"`
	}
	return ""
}

func TestGate(t *testing.T) {
	small := func(o *dispatch.Options) {
		o.Limits = dispatch.Limits{Running: 4, RunningPerPlugin: 3, Waiting: 2, Wait: 2 * time.Second, WaitingPerTab: 32}
	}
	synctest.Test(t, func(t *testing.T) {
		k := openDesk(t, small)
		var demo []<-chan ended
		for range 3 {
			demo = append(demo, k.begin(t.Context(), "a", "demo__read", `{"id":1}`))
		}
		for _, done := range demo { // without "take" they are over at once
			(<-done).want(t, "", 0)
		}
		slow := func(tool string) <-chan ended { return k.begin(t.Context(), "a", tool, `{"take":1500`+north(tool)+`}`) }
		first := []<-chan ended{slow("wiki__page"), slow("wiki__page"), slow("wiki__page")}
		fourth := slow("wiki__page") // waits, although the relay as a whole has room
		if l := k.Load(); l.Running != 3 || l.Waiting != 1 {
			t.Errorf("%+v", l)
		}
		other := k.begin(t.Context(), "b", "demo__write", `{"take":1500}`) // another plugin
		fifth := slow("wiki__page")
		sixth := <-slow("wiki__page")
		sixth.want(t, fault.Overloaded, 0)
		if f := sixth.failure; f.Outcome != fault.NotExecuted || !f.Retryable || *f.RetryAfterMs != 1000 {
			t.Errorf("%+v", f)
		}
		health := <-k.begin(t.Context(), "a", "bridge_health", `{}`)
		health.want(t, "", 0)
		for _, done := range append(first, other) {
			(<-done).want(t, "", 1500*time.Millisecond)
		}
		(<-fourth).want(t, "", 3*time.Second)
		(<-fifth).want(t, "", 3*time.Second)
	})
	synctest.Test(t, func(t *testing.T) { // two seconds are the longest wait
		k := openDesk(t, small)
		for range 3 {
			k.begin(t.Context(), "a", "wiki__page", `{"take":5000,"instance":"north"}`)
		}
		late := k.begin(t.Context(), "a", "wiki__page", `{"instance":"north"}`)
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := k.begin(ctx, "a", "wiki__page", `{"instance":"north"}`)
		cancel(call.ErrCancelled)
		(<-gone).want(t, fault.Cancelled, 0)
		(<-late).want(t, fault.Overloaded, 2*time.Second)
		if l := k.Load(); l.Waiting != 0 || l.Running != 3 {
			t.Errorf("%+v", l)
		}
	})
}

// Waiting in a tab's line does not hold a place of the gate.
func TestALongLineLeavesTheGateAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openDesk(t)
		for lane := range 20 {
			for n := range 10 {
				k.begin(t.Context(), fmt.Sprint("lane", lane), "demo__write", fmt.Sprintf(`{"n":%d,"take":10}`, n))
			}
		}
		if l := k.Load(); l.Running != 1 || l.Waiting != 0 || l.Tabs[0].Waiting != 199 {
			t.Errorf("%+v", l)
		}
		(<-k.begin(t.Context(), "other", "demo__read", `{}`)).want(t, "", 0)
		time.Sleep(3 * time.Second)
	})
}

// 2 000 calls at once from 20 clients to one tab: each is answered with its result or OVERLOADED, none is lost, each
// client's writes keep their order, and health answers at once all the while.
func TestOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openDesk(t)
		type answer struct {
			lane, n int
			failure *fault.Error
		}
		answers := make(chan answer, 2000)
		for lane := range 20 {
			for n := range 100 {
				tool, args := "demo__write", fmt.Sprintf(`{"n":%d,"take":5}`, n)
				if n%4 == 3 {
					tool, args = "wiki__page", `{"take":5,"n":-1,"instance":"north"}`
				}
				go func() {
					_, f := k.Do(t.Context(), call.Call{ID: "00", Session: call.Session{Lane: fmt.Sprint(lane)}, Tool: tool, Arguments: json.RawMessage(args)})
					answers <- answer{lane, n, f}
				}()
				if n%10 == 0 {
					synctest.Wait() // calls of one client come in order
				}
			}
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 100 {
				start := time.Now()
				if _, f := k.Do(t.Context(), call.Call{ID: "01", Tool: "bridge_health"}); f != nil || time.Since(start) > 50*time.Millisecond {
					t.Errorf("health: %v after %s", f, time.Since(start))
				}
				time.Sleep(20 * time.Millisecond)
			}
		}()
		good, turnedAway := 0, 0
		for range 2000 {
			switch a := <-answers; {
			case a.failure == nil:
				good++
			case a.failure.Code == fault.Overloaded && a.failure.Outcome == fault.NotExecuted && a.failure.RetryAfterMs != nil:
				turnedAway++
			default:
				t.Errorf("call %d of client %d: %v", a.n, a.lane, a.failure)
			}
		}
		<-done
		if good+turnedAway != 2000 || good != len(k.pages.ran) || good < 20*32+1 { // one runs, 32 of each wait
			t.Errorf("%d good, %d turned away, %d ran", good, turnedAway, len(k.pages.ran))
		}
		if k.pages.most > 50 {
			t.Errorf("%d ran at once", k.pages.most)
		}
		if l := k.Load(); l.Running != 0 || l.Waiting != 0 || len(l.Tabs) != 0 {
			t.Errorf("left behind: %+v", l)
		}
	})
}

// TestOrderOfAClient sends writes in their order while others do the same.
func TestOrderOfAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openDesk(t)
		for n := range 30 {
			for lane := range 5 {
				k.begin(t.Context(), fmt.Sprint(lane), "demo__write", fmt.Sprintf(`{"n":%d,"take":3}`, n))
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		last := map[string]int{}
		for _, ran := range k.pages.ran {
			lane, text, _ := strings.Cut(ran, ".")
			n := 0
			_, _ = fmt.Sscan(text, &n)
			if before, ok := last[lane]; ok && n != before+1 {
				t.Errorf("client %s: %d after %d", lane, n, before)
			}
			last[lane] = n
		}
		if len(k.pages.ran) != 150 || !slices.Equal(k.pages.ran[1:6], []string{"0.1", "1.0", "2.0", "3.0", "4.0"}) && !slices.Equal(k.pages.ran[1:6], []string{"1.0", "2.0", "3.0", "4.0", "0.1"}) {
			t.Errorf("%d ran, at first %v", len(k.pages.ran), k.pages.ran[:6])
		}
	})
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openDesk(t, func(o *dispatch.Options) { o.Retry.MaxAttempts = 1 })
		hang := true
		k.pages.fail = func(int, call.Invocation) *fault.Error {
			if hang {
				return fault.New(fault.TabUnresponsive, "it hangs", fault.WithOutcome(fault.NotExecuted), fault.WithRetryable(true))
			}
			return nil
		}
		write := func() ended { return <-k.begin(t.Context(), "a", "demo__write", `{}`) }
		for range 5 {
			write().want(t, fault.TabUnresponsive, 0)
		}
		time.Sleep(10 * time.Second)
		held := write()
		held.want(t, fault.CircuitOpen, 0)
		if f := held.failure; f.Outcome != fault.NotExecuted || !f.Retryable || *f.RetryAfterMs != 20_000 || f.Profile != "Chrome 1" {
			t.Errorf("%+v", f)
		}
		if diff := cmp.Diff([]dispatch.BreakerState{{Name: "plugin:demo@p1", Plugin: "demo", ProfileID: "p1", State: "open", HalfOpenMs: 20_000}}, k.Breakers()); diff != "" {
			t.Error(diff)
		}
		if f := (<-k.begin(t.Context(), "a", "wiki__page", `{"instance":"north"}`)).failure; f == nil || f.Code != fault.TabUnresponsive {
			t.Errorf("another plugin is held back too: %v", f)
		}
		time.Sleep(20*time.Second + time.Millisecond)
		hang = false
		probe := k.begin(t.Context(), "a", "demo__read", `{}`)
		(<-probe).want(t, "", 0)
		write().want(t, "", 0)
		if got := k.Breakers()[0].State; got != "closed" {
			t.Errorf("it is %s", got)
		}
		var breakers []string
		for _, line := range k.news {
			if strings.HasPrefix(line, "breaker") {
				breakers = append(breakers, line)
			}
		}
		if diff := cmp.Diff([]string{
			"breaker: Calls to plugin:demo@p1 are held back for 30 s, because the last ones failed",
			"breaker: One call to plugin:demo@p1 is let through, to see whether it works again",
			"breaker: Calls to plugin:demo@p1 pass again",
		}, breakers); diff != "" {
			t.Error(diff)
		}
	})
}

// TestWhatTheBreakerCounts ends five calls in the same way and looks whether the sixth is held back.
func TestWhatTheBreakerCounts(t *testing.T) {
	page := &fault.Error{Code: fault.TimeoutCode, Class: fault.Transient, FromPage: true, Outcome: fault.Executed}
	link := fault.New(fault.InternalError, "broken", fault.WithOutcome(fault.NotExecuted), fault.WithCause(fmt.Errorf("read: ECONNRESET")))
	for _, tt := range []struct {
		failure *fault.Error
		counts  bool
	}{
		{fault.New(fault.TabUnresponsive, "x"), true},
		{fault.New(fault.ExtensionLost, "x"), true},
		{fault.New(fault.TimeoutCode, "x"), true},
		{link, true},
		{page, false},
		{fault.New(fault.InvalidOutput, "x"), false},
		{fault.New(fault.OutputTooLarge, "x"), false},
		{fault.New(fault.AdapterNotReady, "x"), false},
		{fault.New(fault.TabBusy, "x"), false},
		{fault.New(fault.TabNotFound, "x"), false},
		{fault.New(fault.InjectionFailed, "x"), false},
		{fault.New(fault.BrowserNotRunning, "x"), false},
		{fault.New(fault.InternalError, "x"), false},
	} {
		name := string(tt.failure.Code)
		if tt.failure.FromPage {
			name += " thrown"
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := openDesk(t, func(o *dispatch.Options) { o.Retry.MaxAttempts = 1 })
				k.pages.fail = func(int, call.Invocation) *fault.Error {
					f := *tt.failure
					return &f
				}
				for range 5 {
					<-k.begin(t.Context(), "a", "demo__write", `{}`)
				}
				got := (<-k.begin(t.Context(), "a", "demo__write", `{}`)).failure
				if held := got.Code == fault.CircuitOpen; held != tt.counts {
					t.Errorf("held back: %v", held)
				}
			})
		})
	}
}

// While one call is tried out, the others are held back; when it says nothing, the next one is tried.
func TestTheBreakersProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openDesk(t, func(o *dispatch.Options) { o.Retry.MaxAttempts = 1 })
		k.pages.fail = func(n int, _ call.Invocation) *fault.Error {
			if n <= 5 {
				return fault.New(fault.ExtensionLost, "lost")
			}
			return nil
		}
		for range 5 {
			<-k.begin(t.Context(), "a", "demo__write", `{}`)
		}
		time.Sleep(31 * time.Second)
		ctx, cancel := context.WithCancelCause(t.Context())
		probe := k.begin(ctx, "a", "demo__write", `{"take":1000}`)
		other := <-k.begin(t.Context(), "b", "demo__read", `{}`)
		other.want(t, fault.CircuitOpen, 0)
		if *other.failure.RetryAfterMs != 1000 {
			t.Errorf("come back in %d ms", *other.failure.RetryAfterMs)
		}
		cancel(call.ErrCancelled)
		(<-probe).want(t, fault.Cancelled, 0)
		(<-k.begin(t.Context(), "b", "demo__read", `{}`)).want(t, "", 0)
		(<-k.begin(t.Context(), "b", "demo__read", `{}`)).want(t, "", 0)
	})
}

// Arguments of exactly the limit are sent; one byte more is not.
func TestArgumentsAtTheEdge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openDesk(t, func(o *dispatch.Options) { o.MaxInputBytes = 100 })
		for n, want := range map[int]fault.Code{100: "", 101: fault.InputTooLarge} {
			args := `{"text":"` + strings.Repeat("x", n-len(`{"text":""}`)) + `"}`
			(<-k.begin(t.Context(), "a", "demo__write", args)).want(t, want, 0)
		}
		if len(k.pages.ran) != 1 {
			t.Errorf("%d calls ran", len(k.pages.ran))
		}
	})
}

// A call without a lane stands in line with the others of its client.
func TestLaneOfAClientWithoutLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openDesk(t, func(o *dispatch.Options) { o.Limits.WaitingPerTab = 1 })
		begin := func(client string) <-chan ended {
			done := make(chan ended, 1)
			go func() {
				_, f := k.Do(t.Context(), call.Call{ID: "00", Session: call.Session{Client: client}, Tool: "demo__write", Arguments: json.RawMessage(`{"take":10}`)})
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
