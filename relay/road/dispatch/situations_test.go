package dispatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/faulttest"
	"tabrelay/relay/road/schedule"
)

// page is a browser with one tab, in which every tool does the same.
type page func(ctx context.Context, r call.Invocation) (*call.Reply, *fault.Error)

func (p page) Send(ctx context.Context, _ call.Target, r call.Invocation) (*call.Reply, *fault.Error) {
	return p(ctx, r)
}

func (p page) Resolve(r call.Selector) (call.Target, *fault.Error, time.Duration) {
	return oneTab{}.Resolve(r)
}
func (page) Changed() <-chan struct{} { return nil }
func (page) Leave(call.ID, bool)      {}

func (page) Recover(context.Context, string, call.Target, call.Invocation) *fault.Error { return nil }

func (page) FindOutcome(context.Context, call.ID) (*call.Reply, *fault.Error, bool) {
	return nil, nil, false
}

// returns is a page whose tools return this.
func returns(output string) page {
	return func(context.Context, call.Invocation) (*call.Reply, *fault.Error) {
		return &call.Reply{Output: json.RawMessage(output), TabID: 7}, nil
	}
}

// runs is a page whose tools start, report progress every so often, and never end.
func runs(every time.Duration) page {
	return func(ctx context.Context, r call.Invocation) (*call.Reply, *fault.Error) {
		r.Started()
		for n := 1.0; ; n++ {
			var step <-chan time.Time
			if every > 0 {
				step = time.After(every)
			}
			select {
			case <-ctx.Done():
				return nil, fault.New(fault.Cancelled, "The call was abandoned while it ran",
					fault.WithOutcome(fault.Unknown))
			case <-step:
				r.Progress(call.Progress{Progress: n})
			}
		}
	}
}

func fails(code fault.Code, opts ...fault.Option) page {
	return func(context.Context, call.Invocation) (*call.Reply, *fault.Error) {
		return nil, fault.New(code, "It did not work", opts...)
	}
}

// bench is a dispatcher in a bubble of its own.
func bench(t *testing.T, p page, change func(*dispatch.Options),
	test func(t *testing.T, do func(tool, arguments string) *fault.Error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := options(t, nil, p)
		o.Meter = meter{}
		if change != nil {
			change(&o)
		}
		d := dispatch.New(o)
		number := 0
		do := func(tool, arguments string) *fault.Error {
			number++
			id := call.ID(fmt.Sprintf("%032x", number<<8))
			_, failure := d.Do(t.Context(), call.Call{ID: id, Session: call.Session{ID: "session", Client: "ann"},
				Tool: tool, Arguments: json.RawMessage(arguments)})
			return failure
		}
		test(t, do)
	})
}

func TestSituationsOfACall(t *testing.T) {
	fixed := func(o *dispatch.Options) { o.ProgressExtends = false }
	for _, tt := range []struct {
		situation       string
		page            page
		tool, arguments string
		change          func(*dispatch.Options)
	}{
		{"unknown-tool", nil, "demo__nothing", `{}`, nil},
		{"arguments-do-not-fit", nil, "demo__read", `{"id":"five"}`, nil},
		{"arguments-do-not-fit", nil, "demo__read", `{"tabId":"seven"}`, nil},
		{"arguments-too-large", nil, "demo__write", `{"text":"` + strings.Repeat("x", 2100) + `"}`, nil},
		{"instance-needed", nil, "wiki__page", `{}`, nil},
		{"output-not-valid", returns(`{"title":5}`), "demo__read", `{}`, nil},
		{"output-not-valid", returns(`{"title":`), "demo__read", `{}`, nil},
		{"output-too-large", returns(`"` + strings.Repeat("x", 1100) + `"`), "demo__write", `{}`, nil},
		{"deadline-fixed", runs(0), "demo__write", `{}`, fixed},
		{"deadline-idle", runs(0), "demo__write", `{}`, nil},
		{"deadline-maximum", runs(10 * time.Second), "demo__write", `{}`, nil},
		{"tool-unusable", nil, "demo__broken", `{}`, nil},
		{"relay-bug", nil, "relay__panic", `{}`, nil},
	} {
		t.Run(tt.situation, func(t *testing.T) {
			bench(t, tt.page, tt.change, func(t *testing.T, do func(tool, arguments string) *fault.Error) {
				failure := do(tt.tool, tt.arguments)
				faulttest.Provoked(t, tt.situation, failure)
				reason, timed := map[string]fault.Reason{"deadline-fixed": fault.Fixed, "deadline-idle": fault.Idle,
					"deadline-maximum": fault.MaxExceeded}[tt.situation]
				if timed && (failure.Reason != reason || failure.Retryable || failure.Outcome != fault.Unknown) {
					t.Errorf("reason %s, retryable %t, outcome %s; want %s of a write", failure.Reason,
						failure.Retryable, failure.Outcome, reason)
				}
			})
		})
	}
	// A deadline and a lost link are retryable where repeating does no harm.
	bench(t, runs(0), nil, func(t *testing.T, do func(tool, arguments string) *fault.Error) {
		if failure := do("demo__read", `{}`); failure.Code != fault.TimeoutCode || !failure.Retryable {
			t.Errorf("a read that timed out: %+v", failure)
		}
	})
}

func TestSituationsOfManyCalls(t *testing.T) {
	waits := func(limits schedule.Limits) func(*dispatch.Options) {
		return func(o *dispatch.Options) { o.Limits = limits }
	}
	for _, tt := range []struct {
		situation string
		limits    schedule.Limits
	}{
		{"relay-overloaded", schedule.Limits{Running: 1, RunningPerPlugin: 25, Waiting: 1, Wait: time.Second,
			WaitingPerTab: 32}},
		{"plugin-overloaded", schedule.Limits{Running: 50, RunningPerPlugin: 1, Waiting: 1, Wait: time.Second,
			WaitingPerTab: 32}},
		{"tab-queue-full", schedule.Limits{Running: 50, RunningPerPlugin: 25, Waiting: 64, Wait: time.Second,
			WaitingPerTab: 1}},
	} {
		t.Run(tt.situation, func(t *testing.T) {
			bench(t, runs(0), waits(tt.limits), func(t *testing.T, do func(tool, arguments string) *fault.Error) {
				done := make(chan *fault.Error, 3)
				for range 2 { // one runs, one waits
					go func() { done <- do("demo__write", `{}`) }()
					synctest.Wait()
				}
				failure := do("demo__write", `{}`)
				faulttest.Provoked(t, tt.situation, failure)
				if failure.RetryAfterMs == nil || *failure.RetryAfterMs <= 0 {
					t.Error("it does not say when to come back")
				}
				<-done
				<-done
			})
		})
	}
	bench(t, fails(fault.TabUnresponsive, fault.WithOutcome(fault.Unknown)), nil,
		func(t *testing.T, do func(tool, arguments string) *fault.Error) {
			var failure *fault.Error
			for range 6 {
				failure = do("demo__write", `{}`)
			}
			faulttest.Provoked(t, "breaker-open", failure)
			if failure.RetryAfterMs == nil {
				t.Error("it does not say when the next call is let through")
			}
		})
}
