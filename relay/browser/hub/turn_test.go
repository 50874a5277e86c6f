package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// targets keeps what calls were about to run in.
type targets struct {
	mu    sync.Mutex
	asked []call.Target
}

func (ts *targets) enter(at call.Target) (func(context.Context) *fault.Error, *fault.Error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.asked = append(ts.asked, at)
	return nil, nil
}

// beginIn begins a call, and returns when it runs or waits.
func (l *lab) beginIn(ts *targets, r call.Invocation) <-chan result {
	done := l.beginWith(l.t.Context(), r, ts.enter)
	synctest.Wait()
	return done
}

func numbered(n int) func(*call.Invocation) {
	return func(r *call.Invocation) { r.Arguments = json.RawMessage(fmt.Sprint(n)) }
}

// order keeps in which order calls arrive in a browser.
type order struct {
	mu  sync.Mutex
	got []string
}

func (o *order) add(c *hubtest.Call) {
	o.mu.Lock()
	o.got = append(o.got, string(c.Arguments))
	o.mu.Unlock()
}

func TestACallWaitsForItsTurn(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(answer(hold))
		var one targets
		first, second := request(write), request(write)
		a := l.beginIn(&one, first)
		z := l.beginIn(&one, second)
		awaitCall(t, b, first.ID)
		still(t, z)
		if l.journal.state(second.ID) != "" {
			t.Error("a call that waits is in the journal")
		}
		awaitCall(t, b, first.ID).Return(json.RawMessage("1"))
		(<-a).wantOutput(t, "1")
		awaitCall(t, b, second.ID).Return(json.RawMessage("2"))
		(<-z).wantOutput(t, "2")
		want := call.Target{ProfileID: b.ProfileID(), Profile: "Test", TabID: 1, Origin: "http://demo.test",
			URL: "http://demo.test/page", Title: "Demo"}
		for _, at := range one.asked {
			if at != want {
				t.Errorf("asked for %+v", at)
			}
		}
	})
}

// A session's calls go in the order in which they came: those that waited for their turn when the link was lost, and
// those that came while it was.
func TestOrderSurvivesAReconnectInTheQueue(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		var seen order
		b := l.connect(answer(func(c *hubtest.Call) {
			seen.add(c)
			if string(c.Arguments) != "0" {
				c.Return(c.Arguments)
			}
		}))
		var one targets
		running := request(write, numbered(0))
		all := []<-chan result{l.beginIn(&one, running)}
		for n := 1; n < 4; n++ {
			all = append(all, l.beginIn(&one, request(write, numbered(n))))
		}
		b.Drop()
		synctest.Wait()
		for n := 4; n < 7; n++ {
			all = append(all, l.beginIn(&one, request(write, numbered(n))))
		}
		time.Sleep(time.Second)
		redial(t, b)
		awaitCall(t, b, running.ID).Return(json.RawMessage("0"))
		for n, done := range all {
			(<-done).wantOutput(t, fmt.Sprint(n))
		}
		if diff := cmp.Diff([]string{"0", "1", "2", "3", "4", "5", "6"}, seen.got); diff != "" {
			t.Error(diff)
		}
	})
}

// A call that waited for one tab goes there, also when the person has turned to another one meanwhile.
func TestAfterWaitingTheTabStaysTheSame(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(func(o *hubtest.Options) { o.Tabs = []wire.Tab{demoTab(1), demoTab(2)} }, answer(hold))
		var one targets
		first := request(write, func(r *call.Invocation) { r.Session.ID = "a" })
		second := request(write, func(r *call.Invocation) { r.Session.ID = "b" })
		third := request(write, func(r *call.Invocation) { r.Session.ID = "c" })
		a, z := l.beginIn(&one, first), l.beginIn(&one, second)
		looking := demoTab(2)
		looking.Active, looking.Focused = true, true
		b.Put(looking)
		synctest.Wait()
		y := l.beginIn(&one, third)
		awaitCall(t, b, first.ID).Return(json.RawMessage("1"))
		(<-a).wantOutput(t, "1")
		if c := awaitCall(t, b, second.ID); c.TabID != 1 {
			t.Errorf("it went to tab %d", c.TabID)
		} else {
			c.Return(json.RawMessage("2"))
		}
		(<-z).wantOutput(t, "2")
		awaitCall(t, b, third.ID).Return(json.RawMessage("3"))
		if got := <-y; got.reply.TabID != 2 {
			t.Errorf("the third went to tab %d", got.reply.TabID)
		}
	})
}

// When that tab is gone, the call is routed anew and asks again.
func TestAfterWaitingTheTabMayBeGone(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(func(o *hubtest.Options) { o.Tabs = []wire.Tab{demoTab(1), demoTab(2)} }, answer(hold))
		var one targets
		first, second := request(write), request(write)
		a, z := l.beginIn(&one, first), l.beginIn(&one, second)
		b.CloseTab(1)
		synctest.Wait()
		awaitCall(t, b, first.ID).Return(json.RawMessage("1"))
		(<-a).wantOutput(t, "1")
		awaitCall(t, b, second.ID).Return(json.RawMessage("2"))
		if got := <-z; got.failure != nil || got.reply.TabID != 2 {
			t.Errorf("%+v", got)
		}
		if last := one.asked[len(one.asked)-1]; last.TabID != 2 || last.Others != 0 {
			t.Errorf("at last it asked for %+v", last)
		}
	})
}

// A call that is refused after its tab was chosen leaves nothing behind.
func TestACallThatIsRefusedIsNotSent(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.connect(answer(func(*hubtest.Call) { t.Error("it was sent") }))
		r := request(write)
		no := fault.New(fault.Overloaded, "no")
		refuse := func(call.Target) (func(context.Context) *fault.Error, *fault.Error) { return nil, no }
		(<-l.beginWith(t.Context(), r, refuse)).want(t, fault.Overloaded, fault.NotExecuted)
		if _, found, _ := l.journal.Find(t.Context(), r.ID); found {
			t.Error("it is in the journal")
		}
	})
}

func TestAvoidedTabs(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(func(o *hubtest.Options) { o.Tabs = []wire.Tab{demoTab(1), demoTab(2), demoTab(3)} })
		for _, tt := range []struct {
			avoid []int
			want  int
		}{{nil, 1}, {[]int{1}, 2}, {[]int{1, 2}, 3}, {[]int{1, 2, 3}, 1}} {
			var one targets
			got := <-l.beginIn(&one, request(func(r *call.Invocation) {
				r.Session.ID = ""
				r.Avoid,
					r.Profile = tt.avoid, b.ProfileID()
			}))
			if got.failure != nil || got.reply.TabID != tt.want || one.asked[0].Others != 2 {
				t.Errorf("avoiding %v: %+v, asked for %+v", tt.avoid, got, one.asked)
			}
		}
	})
}

// A write waits for one of an earlier relay that still runs in its tab; a read does not.
func TestWriteWaitsForOneOfAnEarlierRelay(t *testing.T) {
	profile, epoch := wire.NewID(), wire.NewID()
	before := call.Record{ID: call.ID(wire.NewID()), ProfileID: profile, TabID: 1, Epoch: epoch, State: call.Dispatched}
	synctest.Test(t, func(t *testing.T) {
		l := openLab(t, &memoryJournal{records: map[call.ID]call.Record{before.ID: before}}, nil)
		defer l.close()
		b := l.connect(func(o *hubtest.Options) {
			o.ProfileID, o.Epoch = profile, epoch
			o.State = func(id call.ID) *wire.State { return &wire.State{ID: id, State: wire.Running, Epoch: epoch} }
		})
		r := request(write)
		done := l.begin(t.Context(), r)
		synctest.Wait()
		l.invoke(request(func(r *call.Invocation) { r.Session.ID = "other" })).wantOutput(t, `{"x":1}`)
		time.Sleep(10 * time.Second)
		still(t, done)
		b.Send(&wire.Outcome{ID: before.ID, Status: wire.Threw, Started: true, Epoch: epoch,
			Error: json.RawMessage(`{"code":"X","message":"x","retryable":false}`)})
		(<-done).wantOutput(t, `{"x":1}`)
	})
}

func TestRecoveryActions(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		var told []string
		b := l.connect(func(o *hubtest.Options) {
			o.Command = func(c *wire.Command) *wire.Reply {
				told = append(told, c.Name+" "+string(c.Params))
				return &wire.Reply{OK: true}
			}
		})
		at := call.Target{ProfileID: b.ProfileID(), TabID: 1}
		r := request(func(r *call.Invocation) { r.OpenURL = "http://demo.test/" })
		for _, action := range []string{"reload_tab", "reinject_adapter", "open_url"} {
			if f := l.hub.Recover(t.Context(), action, at, r); f != nil {
				t.Errorf("%s: %v", action, f)
			}
		}
		if diff := cmp.Diff([]string{`tabs.reload {"tabId":1}`, `adapter.inject {"plugin":"demo","tabId":1}`,
			`tabs.create {"active":false,"url":"http://demo.test/"}`}, told); diff != "" {
			t.Error(diff)
		}
		r.OpenURL = ""
		if f := l.hub.Recover(t.Context(), "open_url", at, r); f == nil || f.Code != fault.ConfigError {
			t.Errorf("without an address: %v", f)
		}
	})
}
