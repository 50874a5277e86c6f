package dispatch_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/faulttest"
	"tabrelay/relay/road/schedule"
)

// A call is listed from its beginning to its end, with how far it is.
func TestACallIsListedFromBeginningToEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openPages(t)
		var moves atomic.Int32
		k.TopicsChanged = func(...string) { moves.Add(1) }
		for session, id := range map[string]call.ID{"a": "aa", "b": "bb"} {
			go k.Do(t.Context(), call.Call{ID: id, Session: call.Session{ID: session, Client: session},
				Tool: "demo__write", Arguments: json.RawMessage(`{"take":1000}`)})
			synctest.Wait()
		}
		stages := map[string]dispatch.Stage{}
		for _, r := range k.Running() {
			stages[r.Session.Client] = r.Stage
			if queued := r.Stage == dispatch.StageQueued; queued != (r.WaitsFor == schedule.ForTurn && r.Ahead == 1) {
				t.Errorf("%s, it waits for %q behind %d", r.Stage, r.WaitsFor, r.Ahead)
			}
			if r.Tool != "demo__write" || r.Plugin != "demo" || r.At.TabID != 1 || r.At.Profile != "Chrome 1" ||
				r.ReadOnly || r.Began.IsZero() {
				t.Errorf("listed as %+v", r)
			}
		}
		if len(stages) != 2 || stages["a"]+stages["b"] != "runningqueued" && stages["b"]+
			stages["a"] != "runningqueued" {
			t.Errorf("the stages are %v", stages)
		}
		time.Sleep(3 * time.Second)
		if left := k.Running(); len(left) != 0 {
			t.Errorf("left behind: %+v", left)
		}
		if moves.Load() < 6 { // each appears, starts and ends
			t.Errorf("told of %d moves", moves.Load())
		}
	})
}

// A person ends a call: the page is told to abort, the caller gets CANCELLED and what is known of the action.
func TestAnInterruptedCallEndsAsCancelled(t *testing.T) {
	for name, test := range map[string]struct {
		tool    string
		before  int // calls that have the tab's turn already
		outcome fault.Outcome
		hint    string
	}{
		"a write that runs":  {"demo__write", 0, fault.Unknown, "may have happened"},
		"a write that waits": {"demo__write", 1, fault.NotExecuted, "never started"},
		"a read":             {"wiki__page", 0, fault.Unknown, "Do not repeat"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := openPages(t)
				args := json.RawMessage(`{"take":10000}`)
				if test.tool == "wiki__page" {
					args = json.RawMessage(`{"take":10000,"instance":"north"}`)
				}
				for range test.before {
					go k.Do(t.Context(), call.Call{ID: "00", Session: call.Session{ID: "other"}, Tool: "demo__write",
						Arguments: args})
					synctest.Wait()
				}
				ended := make(chan *fault.Error, 1)
				go func() {
					_, f := k.Do(t.Context(), call.Call{ID: "cc", Session: call.Session{ID: "ann", Client: "ann"},
						Tool: test.tool, Arguments: args})
					ended <- f
				}()
				synctest.Wait()
				start := time.Now()
				n := len(k.Interrupt(func(r dispatch.Running) bool { return r.ID == "cc" },
					"The person cancelled the call in the side panel"))
				f := <-ended
				if n != 1 || time.Since(start) != 0 {
					t.Errorf("interrupted %d calls, in %s", n, time.Since(start))
				}
				faulttest.Provoked(t, "interrupted-by-person", f)
				if f.Outcome != test.outcome || f.Retryable || !strings.Contains(f.Hint, test.hint) ||
					f.Message != "The person cancelled the call in the side panel" {
					t.Errorf("got %+v", f)
				}
				if n := len(k.Interrupt(func(r dispatch.Running) bool { return r.ID == "cc" }, "again")); n != 0 {
					t.Error("it is still listed")
				}
				time.Sleep(time.Minute)
			})
		})
	}
}

// A built-in tool that asks the person is listed as asking, and can be ended meanwhile.
func TestInterruptWhileAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dispatch.New(options(t, nil, &pages{t: t, writing: map[int]bool{}}))
		ended := make(chan *fault.Error, 1)
		go func() {
			_, f := d.Do(t.Context(), call.Call{ID: "dd", Tool: "relay__ask",
				Ask: func(ctx context.Context, _ call.Question) (call.Answer, error) {
					<-ctx.Done()
					return call.Answer{}, ctx.Err()
				}})
			ended <- f
		}()
		synctest.Wait()
		if list := d.Running(); len(list) != 1 || list[0].Stage != dispatch.StageAsking || list[0].Plugin != "relay" {
			t.Errorf("listed are %+v", list)
		}
		both := append(d.Interrupt(func(dispatch.Running) bool { return true }, "The person stopped everything"),
			d.Interrupt(func(dispatch.Running) bool { return true }, "once more")...)
		for _, gone := range both {
			<-gone
		}
		if list := d.Running(); len(list) != 0 || len(both) != 2 {
			t.Errorf("%d are waited for; listed are %+v", len(both), list)
		}
		if f := <-ended; f == nil || f.Code != fault.Cancelled || f.Message != "The person stopped everything" {
			t.Errorf("got %v", f)
		}
	})
}

// A client asks the next relay for a call that the one before it may have begun. Nothing journals what tools of the
// relay itself do, so one that changes something is not run again.
func TestToolsOfTheRelayAreNotResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openPages(t)
		_, failure := k.Do(t.Context(), call.Call{ID: "aa", Tool: "relay__hang", Resume: true})
		switch {
		case failure == nil, failure.Outcome != fault.Unknown, failure.Retryable:
			t.Errorf("a change: %v", failure)
		case !strings.Contains(failure.Hint, "may have happened"):
			t.Errorf("a change: the hint is %q", failure.Hint)
		}
		if _, failure = k.Do(t.Context(), call.Call{ID: "bb", Tool: "bridge_health", Resume: true}); failure != nil {
			t.Errorf("a read: %v", failure)
		}
	})
}
