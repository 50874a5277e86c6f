package hub_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

func TestShutdownLeavesOpenCallsToTheNextRelay(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(answer(hold))
		r := request(write)
		done := l.begin(t.Context(), r)
		awaitCall(t, b, r.ID)
		l.close()
		(<-done).want(t, fault.ExtensionLost, fault.Unknown)
		time.Sleep(time.Hour)
		if st := l.journal.state(r.ID); st != call.Dispatched {
			t.Errorf("the journal says %s", st)
		}
	})
}

func (l *lab) restart() *lab {
	l.t.Helper()
	l.close()
	return openLab(l.t, l.journal, nil)
}

func crashWith(t *testing.T, l *lab, b *hubtest.Browser) (*hubtest.Call, call.ID) {
	t.Helper()
	r := request(write)
	l.begin(t.Context(), r)
	c := awaitCall(t, b, r.ID)
	return c, r.ID
}

func (b relayed) dial(t *testing.T, l *lab) {
	t.Helper()
	b.net.Store(l.net)
	redial(t, b.Browser)
}

type relayed struct {
	*hubtest.Browser
	net *netSwitch
}

func (l *lab) relayed(change ...func(*hubtest.Options)) relayed {
	s := newNetSwitch(l.net)
	b := l.connect(append(change, func(o *hubtest.Options) { o.Client = s.client })...)
	return relayed{b, s}
}

func TestRelayRestart(t *testing.T) {
	tests := []struct {
		name    string
		then    func(t *testing.T, next *lab, b relayed, c *hubtest.Call)
		state   call.State
		output  string
		code    fault.Code
		outcome fault.Outcome
		after   time.Duration
	}{
		{"the tool ended in between", func(t *testing.T, next *lab, b relayed, c *hubtest.Call) {
			c.Return(json.RawMessage(`"v"`))
			b.dial(t, next)
		}, call.Executed, `"v"`, "", "", 0},
		{"the tool ends later", func(t *testing.T, next *lab, b relayed, c *hubtest.Call) {
			b.dial(t, next)
			time.Sleep(10 * time.Second)
			c.Return(json.RawMessage(`"v"`))
		}, call.Executed, `"v"`, "", "", 10 * time.Second},
		{"the tool threw", func(t *testing.T, next *lab, b relayed, c *hubtest.Call) {
			c.Throw(json.RawMessage(`{"code":"MINE","message":"no"}`))
			b.dial(t, next)
		}, call.Executed, "", "MINE", fault.Executed, 0},
		{"the browser is gone", func(*testing.T, *lab, relayed, *hubtest.Call) {},
			call.Unknown, "", fault.ExtensionLost, fault.Unknown, wire.ReconnectWait},
		{"the browser was restarted too", func(t *testing.T, next *lab, b relayed, _ *hubtest.Call) {
			b.Die()
			b.dial(t, next)
		}, call.Unknown, "", fault.ExtensionLost, fault.Unknown, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				b := l.relayed(answer(hold))
				c, id := crashWith(t, l, b.Browser)
				next := l.restart()
				defer next.close()
				if st := next.journal.state(id); st != call.Recovering {
					t.Errorf("after the start the journal says %s", st)
				}
				asked := make(chan result, 1)
				start := time.Now()
				go func() {
					reply, failure, known := next.hub.FindOutcome(t.Context(), id)
					if !known {
						t.Error("the call is not known")
					}
					asked <- result{reply, failure, time.Since(start)}
				}()
				synctest.Wait()
				tt.then(t, next, b, c)
				got := <-asked
				select {
				case <-c.Cancelled():
					t.Error("the page was told to cancel")
				default:
				}
				if tt.code != "" {
					got.want(t, tt.code, tt.outcome)
				} else {
					got.wantOutput(t, tt.output)
				}
				if got.after != tt.after {
					t.Errorf("it took %s", got.after)
				}
				if st := next.journal.state(id); st != tt.state {
					t.Errorf("the journal says %s", st)
				}
				again, failure, known := next.hub.FindOutcome(t.Context(), id) // now from the journal
				if !known || (failure == nil) != (tt.code == "") {
					t.Fatalf("asked again: %+v, %v, %v", again, failure, known)
				}
				if failure != nil && failure.FromPage != (tt.code == "MINE") {
					t.Errorf("asked again: %+v", failure)
				}
			})
		})
	}
}

func TestRecoverOfAnUnknownCall(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		if _, _, known := l.hub.FindOutcome(t.Context(), call.ID(wire.NewID())); known {
			t.Error("it is known")
		}
	})
}

func TestRecoverWithoutJournalIsUnknown(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.journal.breaks(context.DeadlineExceeded)
		_, failure, known := l.hub.FindOutcome(t.Context(), call.ID(wire.NewID()))
		if !known {
			t.Fatal("it counts as never sent")
		}
		result{failure: failure}.want(t, fault.ExtensionLost, fault.Unknown)
		l.journal.breaks(nil)
	})
}

func TestRecoverOfARunningCall(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(answer(hold))
		ctx, cancel := context.WithCancel(t.Context())
		r := request(write)
		done := l.begin(ctx, r)
		c := awaitCall(t, b, r.ID)
		cancel()
		(<-done).want(t, fault.Cancelled, fault.Unknown)
		go func() {
			time.Sleep(time.Second)
			c.Return(json.RawMessage(`"v"`))
		}()
		reply, failure, known := l.hub.FindOutcome(t.Context(), r.ID)
		if !known || failure != nil || string(reply.Output) != `"v"` {
			t.Errorf("got %+v, %v, %v", reply, failure, known)
		}
	})
}

func TestLargeOutputIsNotKeptInTheJournal(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.connect(answer(func(c *hubtest.Call) { c.Return(json.RawMessage(`"` + strings.Repeat("x", 70_000) + `"`)) }))
		r := request(write)
		if got := l.invoke(r); got.failure != nil {
			t.Fatal(got.failure)
		}
		_, failure, _ := l.hub.FindOutcome(t.Context(), r.ID)
		result{failure: failure}.want(t, fault.OutputTooLarge, fault.Executed)
	})
}
