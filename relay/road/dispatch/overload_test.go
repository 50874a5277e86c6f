package dispatch_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// 2 000 calls at once from 20 clients to one tab: each is answered with its result or OVERLOADED, none is lost, each
// client's writes keep their order, and health answers at once all the while.
func TestOverloadRefusesAndLosesNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openPages(t)
		type answer struct {
			session, n int
			failure    *fault.Error
		}
		answers := make(chan answer, 2000)
		for session := range 20 {
			for n := range 100 {
				tool, args := "demo__write", fmt.Sprintf(`{"n":%d,"take":5}`, n)
				if n%4 == 3 {
					tool, args = "wiki__page", `{"take":5,"n":-1,"instance":"north"}`
				}
				go func() {
					_, f := k.Do(t.Context(), call.Call{ID: "00", Session: call.Session{ID: fmt.Sprint(session)},
						Tool: tool, Arguments: json.RawMessage(args)})
					answers <- answer{session, n, f}
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
				if _, f := k.Do(t.Context(), call.Call{ID: "01", Tool: "bridge_health"}); f != nil ||
					time.Since(start) > 50*time.Millisecond {
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
			case a.failure.Code == fault.Overloaded && a.failure.Outcome == fault.NotExecuted &&
				a.failure.RetryAfterMs != nil:
				turnedAway++
			default:
				t.Errorf("call %d of client %d: %v", a.n, a.session, a.failure)
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
		k := openPages(t)
		for n := range 30 {
			for session := range 5 {
				k.begin(t.Context(), fmt.Sprint(session), "demo__write", fmt.Sprintf(`{"n":%d,"take":3}`, n))
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		last := map[string]int{}
		for _, ran := range k.pages.ran {
			session, text, _ := strings.Cut(ran, ".")
			n := 0
			_, _ = fmt.Sscan(text, &n)
			if before, ok := last[session]; ok && n != before+1 {
				t.Errorf("client %s: %d after %d", session, n, before)
			}
			last[session] = n
		}
		if len(k.pages.ran) != 150 || !slices.Equal(k.pages.ran[1:6], []string{"0.1", "1.0", "2.0", "3.0", "4.0"}) &&
			!slices.Equal(k.pages.ran[1:6], []string{"1.0", "2.0", "3.0", "4.0", "0.1"}) {
			t.Errorf("%d ran, at first %v", len(k.pages.ran), k.pages.ran[:6])
		}
	})
}
