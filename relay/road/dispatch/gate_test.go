package dispatch_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/schedule"
)

// north is the argument that says which wiki.
func north(tool string) string {
	if strings.HasPrefix(tool, "wiki") {
		return `,"instance":"north"`
	}
	return ""
}

func TestACallWithoutASlotWaitsOrIsOverloaded(t *testing.T) {
	small := func(o *dispatch.Options) {
		o.Limits = schedule.Limits{Running: 4, RunningPerPlugin: 3, Waiting: 2, Wait: 2 * time.Second,
			WaitingPerTab: 32}
	}
	synctest.Test(t, func(t *testing.T) {
		k := openPages(t, small)
		var demo []<-chan ended
		for range 3 {
			demo = append(demo, k.begin(t.Context(), "a", "demo__read", `{"id":1}`))
		}
		for _, done := range demo { // without "take" they are over at once
			(<-done).want(t, "", 0)
		}
		slow := func(tool string) <-chan ended {
			return k.begin(t.Context(), "a", tool, `{"take":1500`+north(tool)+
				`}`)
		}
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
		k := openPages(t, small)
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
		k := openPages(t)
		for session := range 20 {
			for n := range 10 {
				k.begin(t.Context(), fmt.Sprint("session", session), "demo__write",
					fmt.Sprintf(`{"n":%d,"take":10}`, n))
			}
		}
		if l := k.Load(); l.Running != 1 || l.Waiting != 0 || l.Tabs[0].Waiting != 199 {
			t.Errorf("%+v", l)
		}
		(<-k.begin(t.Context(), "other", "demo__read", `{}`)).want(t, "", 0)
		time.Sleep(3 * time.Second)
	})
}

// Arguments of exactly the limit are sent; one byte more is not.
func TestArgumentsAtTheEdge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openPages(t, func(o *dispatch.Options) { o.MaxInputBytes = 100 })
		for n, want := range map[int]fault.Code{100: "", 101: fault.InputTooLarge} {
			args := `{"text":"` + strings.Repeat("x", n-len(`{"text":""}`)) + `"}`
			(<-k.begin(t.Context(), "a", "demo__write", args)).want(t, want, 0)
		}
		if len(k.pages.ran) != 1 {
			t.Errorf("%d calls ran", len(k.pages.ran))
		}
	})
}
