package dispatch_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"tabrelay/relay/call"
	"tabrelay/relay/dispatch"
)

// Calls of one client come in the order it made them, in whatever order their goroutines get to run.
func TestCallsComeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 20
		k := openDesk(t, func(o *dispatch.Options) { o.Limits.WaitingPerTab = calls })
		placed := make([]chan struct{}, calls+1)
		for n := range placed {
			placed[n] = make(chan struct{})
		}
		close(placed[0])
		var done sync.WaitGroup
		for n := calls - 1; n >= 0; n-- { // the last one first
			done.Go(func() {
				c := call.Call{
					Session: call.Session{ID: "a"}, Tool: "demo__write", Arguments: json.RawMessage(fmt.Sprintf(`{"n":%d,"take":10}`, n)),
					After: placed[n], Placed: sync.OnceFunc(func() { close(placed[n+1]) }),
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

// A call whose predecessor finds no tab for a while goes without it in the end.
func TestACallDoesNotWaitForItsPredecessorForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openDesk(t)
		c := call.Call{Session: call.Session{ID: "a"}, Tool: "demo__write", Arguments: json.RawMessage(`{}`), After: make(chan struct{}), Placed: func() {}}
		if _, failure := k.Do(t.Context(), c); failure != nil {
			t.Error(failure)
		}
	})
}
