package hub_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// redial connects a browser again.

func redial(t *testing.T, b *hubtest.Browser) {
	t.Helper()
	if err := b.Dial(t.Context()); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func TestOutcomeDuringAReconnectIsDelivered(t *testing.T) {
	for _, change := range []func(*call.Invocation){write, func(*call.Invocation) {}} {
		inLab(t, func(t *testing.T, l *lab) {
			b := l.connect(answer(hold))
			r := request(change)
			done := l.begin(t.Context(), r)
			c := awaitCall(t, b, r.ID)
			b.Drop()
			time.Sleep(300 * time.Millisecond)
			c.Return(json.RawMessage(`"ended in between"`))
			still(t, done)
			redial(t, b)
			got := <-done
			got.wantOutput(t, `"ended in between"`)
			if got.after != 300*time.Millisecond {
				t.Errorf("it took %s", got.after)
			}
			if err := b.AwaitAck(t.Context(), r.ID); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCallThatStillRunsAfterAReconnectGoesOn(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(answer(hold))
		steps := 0
		r := request(write, func(r *call.Invocation) { r.Progress = func(call.Progress) { steps++ } })
		done := l.begin(t.Context(), r)
		c := awaitCall(t, b, r.ID)
		b.Drop()
		time.Sleep(time.Second)
		redial(t, b)
		time.Sleep(20 * time.Second) // far beyond the time of recovery
		still(t, done)
		c.Progress(1, "")
		c.Return(json.RawMessage(`"at last"`))
		(<-done).wantOutput(t, `"at last"`)
		if steps != 1 {
			t.Errorf("%d steps", steps)
		}
	})
}

// The worker gave a connection up that the relay still believed in, and dialled again.

func TestReplacedConnectionKeepsItsCalls(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(answer(hold))
		r := request(write)
		done := l.begin(t.Context(), r)
		c := awaitCall(t, b, r.ID)
		redial(t, b)
		still(t, done)
		c.Return(json.RawMessage(`"v"`))
		got := <-done
		got.wantOutput(t, `"v"`)
		if got.after != 0 {
			t.Errorf("it took %s", got.after)
		}
	})
}

func TestLostCall(t *testing.T) {
	same := func(state wire.Progression, reason string) func(*hubtest.Options) {
		return func(o *hubtest.Options) {
			o.Epoch = strings.Repeat("e", 32)
			o.State = func(id call.ID) *wire.State {
				return &wire.State{ID: id, State: state, Reason: reason, Epoch: strings.Repeat("e", 32)}
			}
		}
	}
	tests := []struct {
		name    string
		browser func(*hubtest.Options)
		die     bool
		code    fault.Code
		outcome fault.Outcome
		journal call.State
	}{
		{"proven never started", same(wire.NotStarted, ""), false, fault.ExtensionLost, fault.NotExecuted,
			call.NotExecuted},
		{"another epoch proves nothing", func(o *hubtest.Options) {
			o.State = func(id call.ID) *wire.State {
				return &wire.State{ID: id, State: wire.NotStarted, Epoch: strings.Repeat("f", 32)}
			}
		}, false, fault.ExtensionLost, fault.Unknown, call.Unknown},
		{"the browser ended", func(*hubtest.Options) {}, true, fault.ExtensionLost, fault.Unknown, call.Unknown},
		{"nobody knows", same(wire.Unsure, "because"), false, fault.ExtensionLost, fault.Unknown, call.Unknown},
		{"the tab was closed", same(wire.Unsure, "TAB_CLOSED"), false, fault.TabNotFound, fault.Unknown, call.Unknown},
		{"the tab went elsewhere", same(wire.Unsure, "TAB_CHANGED"), false, fault.TabChanged, fault.Unknown,
			call.Unknown},
		{"the page is stuck", same(wire.Unsure, "TAB_UNRESPONSIVE"), false, fault.TabUnresponsive, fault.Unknown,
			call.Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				b := l.connect(tt.browser, answer(hold))
				r := request(write)
				done := l.begin(t.Context(), r)
				awaitCall(t, b, r.ID)
				if tt.die {
					b.Die()
				} else {
					b.Drop()
				}
				time.Sleep(200 * time.Millisecond)
				redial(t, b)
				got := <-done
				got.want(t, tt.code, tt.outcome)
				if got.after != 200*time.Millisecond {
					t.Errorf("it took %s", got.after)
				}
				if st := l.journal.state(r.ID); st != tt.journal {
					t.Errorf("the journal says %s", st)
				}
			})
		})
	}
}

func TestBrowserThatDoesNotComeBack(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(answer(hold))
		r := request(write)
		done := l.begin(t.Context(), r)
		c := awaitCall(t, b, r.ID)
		b.Drop()
		got := <-done
		got.want(t, fault.ExtensionLost, fault.Unknown)
		if got.after != wire.ReconnectWait || got.failure.Retryable {
			t.Errorf("after %s: %+v", got.after, got.failure)
		}
		// It does after all: the answer is late, but the journal learns the truth.
		c.Return(json.RawMessage("1"))
		redial(t, b)
		if st := l.journal.state(r.ID); st != call.Executed {
			t.Errorf("the journal says %s", st)
		}
		if err := b.AwaitAck(t.Context(), r.ID); err != nil {
			t.Error(err)
		}
	})
}

// The calls of a browser whose process has ended are not waited for, and say so.
func TestEndedBrowserEndsItsCalls(t *testing.T) {
	var ended atomic.Bool
	inLabWith(t, startedByTabrelay(&ended),
		func(t *testing.T, l *lab) {
			b := l.connect(answer(hold))
			r := request(write)
			done := l.begin(t.Context(), r)
			awaitCall(t, b, r.ID)
			b.Drop()
			time.Sleep(time.Second)
			still(t, done) // its process may be there yet
			ended.Store(true)
			got := <-done
			got.want(t, fault.ExtensionLost, fault.Unknown)
			if got.after > 2*time.Second || !strings.Contains(got.failure.Message, "ended") ||
				!strings.Contains(got.failure.Hint, "`tabrelay up --profile work`") {
				t.Errorf("after %s: %+v", got.after, got.failure)
			}
		})
}

func TestCancelDuringAReconnectReachesThePageLater(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(answer(hold))
		ctx, cancel := context.WithCancelCause(t.Context())
		r := request(write)
		done := l.begin(ctx, r)
		c := awaitCall(t, b, r.ID)
		b.Drop()
		synctest.Wait()
		cancel(call.ErrCancelled)
		(<-done).want(t, fault.Cancelled, fault.Unknown)
		redial(t, b)
		<-c.Cancelled()
	})
}

// Another profile's word on a call is worth nothing.

func TestOutcomeOfAnotherProfileDoesNotSettle(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(answer(hold))
		other := l.connect(named("Other"))
		r := request(write)
		done := l.begin(t.Context(), r)
		awaitCall(t, b, r.ID)
		other.Send(&wire.Outcome{ID: r.ID, Status: wire.Threw, Error: json.RawMessage(`{}`)})
		still(t, done)
		if st := l.journal.state(r.ID); st != call.Dispatched {
			t.Errorf("the journal says %s", st)
		}
	})
}

// restart ends a relay as a crash does, and starts the next one on the same journal.

// crashWith leaves one write open in the journal of a relay that is gone.

// relayed is a browser whose next connection goes to whichever relay runs then.

// A stdio proxy that attaches again to the same relay asks for a call that still runs.
