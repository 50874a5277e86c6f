package dispatch_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/fault"
)

func TestABreakerOpensAfterFiveFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openPages(t, func(o *dispatch.Options) { o.Retry.MaxAttempts = 1 })
		hang := true
		k.pages.fail = func(int, call.Invocation) *fault.Error {
			if hang {
				return fault.New(fault.TabUnresponsive, "it hangs", fault.WithOutcome(fault.NotExecuted),
					fault.WithRetryable(true))
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
		if f := held.failure; f.Outcome != fault.NotExecuted || !f.Retryable || *f.RetryAfterMs != 20_000 ||
			f.Profile != "Chrome 1" {
			t.Errorf("%+v", f)
		}
		if diff := cmp.Diff([]dispatch.BreakerState{{Name: "plugin:demo@p1", Plugin: "demo", ProfileID: "p1",
			State: "open", HalfOpenMs: 20_000}}, k.Breakers()); diff != "" {
			t.Error(diff)
		}
		if f := (<-k.begin(t.Context(), "a", "wiki__page", `{"instance":"north"}`)).failure; f == nil ||
			f.Code != fault.TabUnresponsive {
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
	link := fault.New(fault.InternalError, "broken", fault.WithOutcome(fault.NotExecuted),
		fault.WithCause(fmt.Errorf("read: ECONNRESET")))
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
				k := openPages(t, func(o *dispatch.Options) { o.Retry.MaxAttempts = 1 })
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
		k := openPages(t, func(o *dispatch.Options) { o.Retry.MaxAttempts = 1 })
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
