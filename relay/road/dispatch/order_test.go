package dispatch_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
)

// Calls of one client run in the order it made them, in whatever order their goroutines get to run.
func TestCallsRunInTheOrderOfTheirClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 20
		k := openPages(t, func(o *dispatch.Options) { o.Limits.WaitingPerTab = calls })
		var positions []call.Position
		for range calls {
			positions = append(positions, k.Reserve("a"))
		}
		var done sync.WaitGroup
		for n := calls - 1; n >= 0; n-- { // the last one first
			done.Go(func() {
				c := call.Call{
					Session: call.Session{ID: "a"}, Tool: "demo__write",
					Arguments: json.RawMessage(fmt.Sprintf(`{"n":%d,"take":10}`, n)), Position: positions[n],
				}
				if _, failure := k.Do(t.Context(), c); failure != nil {
					t.Error(failure)
				}
			})
			synctest.Wait()
		}
		done.Wait()
		want := make([]string, calls)
		for n := range want {
			want[n] = fmt.Sprintf("a.%d", n)
		}
		if !slices.Equal(k.pages.ran, want) {
			t.Errorf("ran %v", k.pages.ran)
		}
	})
}

// What does not run in a tab, and what is refused, is not waited for.
func TestCallsWithoutATabHoldUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openPages(t)
		for _, tool := range []string{"relay__hang", "demo__nothing"} {
			first, second := k.Reserve("a"), k.Reserve("a")
			go k.Do(t.Context(), call.Call{Session: call.Session{ID: "a"}, Tool: tool, Position: first})
			synctest.Wait()
			began := time.Now()
			if _, failure := k.Do(t.Context(), call.Call{Session: call.Session{ID: "a"}, Tool: "demo__write",
				Position: second}); failure != nil {
				t.Error(failure)
			}
			if waited := time.Since(began); waited > 0 {
				t.Errorf("behind %s it waited %s", tool, waited)
			}
		}
		time.Sleep(time.Hour)
	})
}

// A call whose predecessor finds no tab for a while goes without it in the end.
func TestACallWaitsForItsPredecessorForALimitedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openPages(t, func(o *dispatch.Options) { o.ReconnectWait = 5 * time.Second })
		k.Reserve("a")
		began := time.Now()
		c := call.Call{Session: call.Session{ID: "a"}, Tool: "demo__write", Position: k.Reserve("a")}
		if _, failure := k.Do(t.Context(), c); failure != nil {
			t.Error(failure)
		}
		if waited := time.Since(began); waited != 5*time.Second {
			t.Errorf("it waited %s", waited)
		}
	})
}
