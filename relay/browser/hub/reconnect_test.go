package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

func TestCallWaitsForABrowserThatWasHereAMomentAgo(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect()
		b.Drop()
		time.Sleep(30 * time.Second)
		done := l.begin(t.Context(), request())
		time.Sleep(2 * time.Second)
		still(t, done)
		redial(t, b)
		got := <-done
		got.wantOutput(t, `{"x":1}`)
		if got.after != 2*time.Second {
			t.Errorf("it took %s", got.after)
		}
	})
}

func TestWaitIsBoundedAndSaysWhatIsMissing(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		none := l.invoke(request())
		none.want(t, fault.ExtensionNotInstalled, fault.NotExecuted)
		b := l.connect()
		b.Drop()
		time.Sleep(20 * time.Second)
		asleep := l.invoke(request())
		asleep.want(t, fault.WorkerAsleep, fault.NotExecuted)
		time.Sleep(time.Minute)
		closed := l.invoke(request())
		closed.want(t, fault.BrowserNotRunning, fault.NotExecuted)
		if none.after != 0 || asleep.after != wire.ReconnectWait || closed.after != 0 {
			t.Errorf("they took %s, %s, %s", none.after, asleep.after, closed.after)
		}
		for _, r := range []result{none, asleep, closed} {
			if !r.failure.Retryable || r.failure.Hint == "" {
				t.Errorf("got %+v", r.failure)
			}
		}
	})
}

// The wait belongs to the outage: the first call waits, those after it have what is left of that. The next outage has a
// wait of its own.
func TestOneOutageIsWaitedForOnce(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect()
		for range 2 {
			b.Drop()
			time.Sleep(time.Second)
			first := l.begin(t.Context(), request())
			time.Sleep(3 * time.Second)
			second := l.begin(t.Context(), request())
			for i, want := range map[int]time.Duration{0: wire.ReconnectWait, 1: wire.ReconnectWait - 3*time.Second} {
				got := <-[]<-chan result{first, second}[i]
				got.want(t, fault.WorkerAsleep, fault.NotExecuted)
				if got.after != want {
					t.Errorf("call %d took %s, want %s", i, got.after, want)
				}
			}
			third := l.invoke(request())
			third.want(t, fault.WorkerAsleep, fault.NotExecuted)
			if _, failure := l.hub.Command(t.Context(), "", "tabs.read", nil); third.after != 0 || failure == nil ||
				failure.Code != fault.WorkerAsleep {
				t.Errorf("later ones took %s, %v", third.after, failure)
			}
			redial(t, b)
			l.invoke(request()).wantOutput(t, `{"x":1}`)
		}
	})
}

// startedByTabrelay is a hub whose browsers tabrelay starts.
func startedByTabrelay(ended *atomic.Bool) func(*hub.Config) {
	return func(c *hub.Config) {
		c.BrowserEnded = func(string) bool { return ended.Load() }
		c.StartCommand = func(string) string { return "tabrelay up --profile work" }
	}
}

// A browser whose process has ended is not waited for, nor one that ends while a call waits for it.
func TestEndedBrowserIsNotWaitedFor(t *testing.T) {
	var ended atomic.Bool
	inLabWith(t, startedByTabrelay(&ended),
		func(t *testing.T, l *lab) {
			l.connect().Drop()
			time.Sleep(time.Second)
			waiting := l.begin(t.Context(), request())
			time.Sleep(time.Second)
			still(t, waiting)
			ended.Store(true)
			for _, got := range []result{<-waiting, l.invoke(request())} {
				got.want(t, fault.BrowserNotRunning, fault.NotExecuted)
				if got.after > 2*time.Second || !strings.Contains(got.failure.Hint, "`tabrelay up --profile work`") {
					t.Errorf("it took %s, and says %s", got.after, got.failure.Hint)
				}
			}
			if again := l.invoke(request()); again.after != 0 {
				t.Errorf("it took %s", again.after)
			}
		})
}

func TestYoungRelayWaitsForBrowsersOfTheLastOne(t *testing.T) {
	inLabWith(t, func(c *hub.Config) { c.Known = []call.Profile{{Label: "Work"}} }, func(t *testing.T, l *lab) {
		done := l.begin(t.Context(), request())
		time.Sleep(time.Second)
		l.connect()
		(<-done).wantOutput(t, `{"x":1}`)
	})
	inLabWith(t, func(c *hub.Config) { c.Known = []call.Profile{{Label: "Work"}} }, func(t *testing.T, l *lab) {
		got := l.invoke(request())
		got.want(t, fault.ExtensionNotConnected, fault.NotExecuted)
		if got.after != wire.ReconnectWait {
			t.Errorf("it took %s", got.after)
		}
	})
}

func TestYoungRelayWaitsOnlyForProfilesThatWereHere(t *testing.T) {
	knew := func(c *hub.Config) { c.Known = []call.Profile{{ID: strings.Repeat("5", 32), Label: "Work"}} }
	inLabWith(t, knew, func(t *testing.T, l *lab) {
		l.connect()
		for profile, want := range map[string]time.Duration{"Work": wire.ReconnectWait, "Wrok": 0} {
			got := l.invoke(request(func(r *call.Invocation) { r.Profile = profile }))
			got.want(t, fault.ProfileNotConnected, fault.NotExecuted)
			if got.after != want {
				t.Errorf("%s took %s, want %s", profile, got.after, want)
			}
		}
	})
}

func TestCallsOfASessionKeepTheirOrderThroughAReconnect(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		var mu sync.Mutex
		var order []string
		b := l.connect(answer(func(c *hubtest.Call) {
			mu.Lock()
			order = append(order, string(c.Arguments))
			mu.Unlock()
			c.Return(c.Arguments)
		}))
		b.Drop()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		var waiting []<-chan result
		var want []string
		for i := range 20 {
			callCtx := t.Context()
			if i == 7 {
				callCtx = ctx
			} else {
				want = append(want, fmt.Sprint(i))
			}
			waiting = append(waiting, l.begin(callCtx,
				request(write, func(r *call.Invocation) { r.Arguments = json.RawMessage(fmt.Sprint(i)) })))
			synctest.Wait()
		}
		cancel()
		(<-waiting[7]).want(t, fault.Cancelled, fault.NotExecuted)
		redial(t, b)
		for i, done := range waiting {
			if i != 7 {
				(<-done).wantOutput(t, fmt.Sprint(i))
			}
		}
		if diff := cmp.Diff(want, order); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

func TestCancelWhileWaiting(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(answer(func(*hubtest.Call) { t.Error("it was sent") }))
		b.Drop()
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		r := request(write)
		done := l.begin(ctx, r)
		still(t, done)
		cancel(call.ErrCancelled)
		(<-done).want(t, fault.Cancelled, fault.NotExecuted)
		redial(t, b)
		if _, found, _ := l.journal.Find(t.Context(), r.ID); found {
			t.Error("it is in the journal")
		}
	})
}

// The tool ended while the link was lost: its own outcome is delivered.

// Where the browser runs and its extension alone is away, starting something is no way back.
func TestAnExtensionAloneIsAway(t *testing.T) {
	var ended atomic.Bool
	inLabWith(t, startedByTabrelay(&ended), func(t *testing.T, l *lab) {
		l.connect().Drop()
		time.Sleep(5 * time.Minute)
		got := l.invoke(request())
		got.want(t, fault.BrowserNotRunning, fault.NotExecuted)
		if hint := got.failure.Hint; !strings.Contains(hint, "press Reload") || strings.Contains(hint, "start") {
			t.Errorf("the hint is %s", hint)
		}
	})
}
