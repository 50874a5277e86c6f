package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

func TestCallReturns(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.connect()
		r := request(func(r *call.Invocation) { r.Arguments = json.RawMessage("{\n \"x\": 12345678901234567890 }") })
		got := l.invoke(r)
		got.wantOutput(t, string(r.Arguments)) // byte for byte
		if got.reply.TabID != 1 || got.reply.Profile != "Test" || got.reply.Origin != "https://example.com" {
			t.Errorf("got %+v", got.reply)
		}
	})
}

func TestCallCarriesTheRequest(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(answer(hold))
		r := request(write, func(r *call.Invocation) {
			r.Timeout, r.MaxTimeout, r.MaxResultBytes, r.ConsoleTailBytes, r.Frames = 1500*time.Millisecond,
				time.Minute, 99, 4096, "all"
			r.MaxBytes = 77
			r.Settings = json.RawMessage(`{"language":"de"}`)
		})
		l.begin(t.Context(), r)
		got := awaitCall(t, b, r.ID).Call
		want := wire.Call{
			ID: r.ID, Plugin: "demo", Tool: "echo", TabID: 1, Origin: "http://demo.test", Frames: "all", Write: true,
			TimeoutMs: 1500, MaxTimeoutMs: 60_000,
			Order: call.Order{Hash: r.Hash, ProgressExtends: true, MaxResultBytes: 99, MaxBytes: 77,
				Settings: r.Settings, ConsoleTailBytes: 4096},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("frame (-want +got):\n%s", diff)
		}
	})
}

func TestReportsArriveInOrderAndBeforeTheEnd(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.connect(answer(func(c *hubtest.Call) {
			c.Started()
			c.Progress(1, "one")
			c.Log("info", "hello")
			c.Progress(2, "two")
			c.Return(json.RawMessage(`"done"`))
		}))
		var told []string
		r := request(func(r *call.Invocation) {
			r.Started = func() { told = append(told, "started") }
			r.Progress = func(p call.Progress) { told = append(told, fmt.Sprint(p.Progress, p.Message)) }
			r.Log = func(e call.LogEntry) { told = append(told, e.Level+e.Message) }
		})
		l.invoke(r).wantOutput(t, `"done"`)
		if diff := cmp.Diff([]string{"started", "1one", "infohello", "2two"}, told); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// Whoever measures a call hears when its frame left, when its outcome came, and what the extension tells of the time
// between: also of a failure, and not of a call that was given up.
func TestTimedCallsTellWhen(t *testing.T) {
	steps := []call.StepTime{{Step: call.StepAsked, Us: 1000}, {Step: call.StepSent, Us: 2_000_000}}
	end := func(status wire.Status) func(*hubtest.Options) {
		return answer(func(c *hubtest.Call) {
			time.AfterFunc(3*time.Second, func() {
				c.End(&wire.Outcome{Status: status, Started: true, Times: steps,
					Error: json.RawMessage(`{"message":"no"}`)}, json.RawMessage("1"))
			})
		})
	}
	for _, c := range []struct {
		name   string
		status wire.Status
		giveUp time.Duration
		told   int
	}{
		{"returned", wire.Returned, time.Minute, 1},
		{"threw", wire.Threw, time.Minute, 1},
		{"given up", wire.Returned, time.Second, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				l.connect(end(c.status))
				began := time.Now()
				var told []call.Timing
				r := request(write, func(r *call.Invocation) {
					r.Order.Timed, r.Timed = true, func(t call.Timing) { told = append(told, t) }
				})
				ctx, cancel := context.WithTimeout(t.Context(), c.giveUp)
				defer cancel()
				<-l.begin(ctx, r)
				if len(told) != c.told {
					t.Fatalf("told %v", told)
				}
				want := call.Timing{Sent: began, Answered: began.Add(3 * time.Second), Steps: steps}
				if c.told == 1 && !cmp.Equal(told[0], want) {
					t.Error(cmp.Diff(want, told[0]))
				}
			})
		})
	}
}

func TestAThrownErrorReachesCallerAndJournal(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.connect(answer(func(c *hubtest.Call) {
			c.End(&wire.Outcome{Status: wire.Threw, Started: true, ConsoleTail: "error: 429",
				Error: json.RawMessage(`{"code":"RATE_LIMITED","category":"rate_limit","retryable":true,` +
					`"retryAfterMs":2000,"message":"Too many requests"}`)}, nil)
		}))
		r := request(write)
		got := l.invoke(r)
		got.want(t, "RATE_LIMITED", fault.Executed)
		if e := got.failure; !e.FromPage || !e.Retryable || *e.RetryAfterMs != 2000 || e.TabID != 1 ||
			e.ConsoleTail != "error: 429" {
			t.Errorf("got %+v", e)
		}
		if st := l.journal.state(r.ID); st != call.Executed {
			t.Errorf("the journal says %s", st)
		}
	})
}

func TestARefusalKeepsItsCodeAndOutcome(t *testing.T) {
	tests := []struct {
		refusal   wire.Refusal
		code      fault.Code
		outcome   fault.Outcome
		retryable bool
		journal   call.State
	}{
		{wire.Refusal{Code: "TAB_NOT_FOUND", Outcome: "not_executed"}, fault.TabNotFound, fault.NotExecuted, false,
			call.NotExecuted},
		{wire.Refusal{Code: "TAB_CHANGED", Outcome: "unknown"}, fault.TabChanged, fault.Unknown, false, call.Unknown},
		{wire.Refusal{Code: "TAB_CLOSED", Outcome: "unknown"}, fault.TabNotFound, fault.Unknown, false, call.Unknown},
		{wire.Refusal{Code: "TAB_UNRESPONSIVE", Outcome: "unknown"}, fault.TabUnresponsive, fault.Unknown, false,
			call.Unknown},
		{wire.Refusal{Code: "TAB_UNRESPONSIVE", Outcome: "not_executed"}, fault.TabUnresponsive, fault.NotExecuted,
			true, call.NotExecuted},
		{wire.Refusal{Code: "TAB_BUSY", Outcome: "not_executed"}, fault.TabBusy, fault.NotExecuted, true,
			call.NotExecuted},
		{wire.Refusal{Code: "ADAPTER_NOT_READY", Outcome: "not_executed"}, fault.AdapterNotReady, fault.NotExecuted,
			true, call.NotExecuted},
		{wire.Refusal{Code: "ADAPTER_NOT_READY", Outcome: "unknown"}, fault.AdapterNotReady, fault.Unknown, false,
			call.Unknown},
		{wire.Refusal{Code: "INJECTION_FAILED", Outcome: "not_executed"}, fault.InjectionFailed, fault.NotExecuted,
			false, call.NotExecuted},
		{wire.Refusal{Code: "OUTPUT_TOO_LARGE", Outcome: "executed"}, fault.OutputTooLarge, fault.Executed, false,
			call.Executed},
		{wire.Refusal{Code: "INVALID_OUTPUT", Outcome: "executed"}, fault.InvalidOutput, fault.Executed, false,
			call.Executed},
		{wire.Refusal{Code: "CANCELLED", Outcome: "unknown"}, fault.Cancelled, fault.Unknown, false, call.Unknown},
		{wire.Refusal{Code: "TIMEOUT", Outcome: "unknown", Reason: "idle"}, fault.TimeoutCode, fault.Unknown, false,
			call.Unknown},
		{wire.Refusal{Code: "UNHEARD_OF", Outcome: "unknown", Message: "line\nbreak"}, fault.InternalError,
			fault.Unknown, false, call.Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.refusal.Code+" "+tt.refusal.Outcome, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				l.connect(answer(func(c *hubtest.Call) { c.Refuse(tt.refusal) }))
				r := request(write)
				got := l.invoke(r)
				got.want(t, tt.code, tt.outcome)
				if got.failure.Retryable != tt.retryable || got.failure.Hint == "" ||
					strings.Contains(got.failure.Message, "\n") {
					t.Errorf("got %+v", got.failure)
				}
				if tt.code == fault.TimeoutCode && got.failure.Reason != fault.Idle {
					t.Errorf("reason is %q", got.failure.Reason)
				}
				if st := l.journal.state(r.ID); st != tt.journal {
					t.Errorf("the journal says %s", st)
				}
			})
		})
	}
}

// TestNotReadyNamesTheSignIn: where the plugin says, else where the web app begins; never what is no address.
func TestNotReadyNamesTheSignIn(t *testing.T) {
	for said, want := range map[string]string{
		"https://login.test/?next=/": "sign in at https://login.test/?next=/,",
		"":                           "sign in at https://app.test/,",
		"javascript:alert(1)":        "sign in at https://app.test/,",
		"not\nan address":            "sign in at https://app.test/,",
	} {
		inLab(t, func(t *testing.T, l *lab) {
			refusal := wire.Refusal{Code: "ADAPTER_NOT_READY", Outcome: "not_executed", Reason: wire.NotReady,
				SignIn: said}
			l.connect(answer(func(c *hubtest.Call) { c.Refuse(refusal) }))
			got := l.invoke(request(func(r *call.Invocation) { r.OpenURL = "https://app.test/" })).failure
			if !strings.Contains(got.Hint, want) || !got.AlreadyWaited || !got.Retryable {
				t.Errorf("%q: got %q, %+v", said, got.Hint, got)
			}
			refusal.Reason = wire.Withheld
			if got := l.invoke(request()).failure; !strings.Contains(got.Hint, "browser__open_tab") ||
				!got.AlreadyWaited ||
				got.Retryable {
				t.Errorf("withheld: got %+v", got)
			}
		})
	}
}

func TestWritesAreJournalledFirst(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		r := request(write)
		var before call.Record
		b := l.connect(answer(func(c *hubtest.Call) {
			before, _, _ = l.journal.Find(context.Background(), c.ID)
			c.Return(json.RawMessage(`"v"`))
		}))
		l.invoke(r).wantOutput(t, `"v"`)
		if before.State != call.Dispatched || before.ProfileID != b.ProfileID() || before.TabID != 1 ||
			before.Tool != "demo__echo" || len(before.Epoch) != 32 {
			t.Errorf("when the frame arrived the journal said %+v", before)
		}
		after, _, _ := l.journal.Find(t.Context(), r.ID)
		if after.State != call.Executed || string(after.Output) != `"v"` {
			t.Errorf("after the end the journal says %+v", after)
		}
		if err := b.AwaitAck(t.Context(), r.ID); err != nil {
			t.Error(err)
		}
	})
}

func TestReadsAreNotJournalled(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.connect()
		r := request()
		l.invoke(r).wantOutput(t, `{"x":1}`)
		if _, found, _ := l.journal.Find(t.Context(), r.ID); found {
			t.Error("it is in the journal")
		}
	})
}

func TestNoJournalNoWrite(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.connect(answer(func(c *hubtest.Call) { t.Error("the call was sent") }))
		l.journal.breaks(errors.New("disk full"))
		l.invoke(request(write)).want(t, fault.InternalError, fault.NotExecuted)
		l.journal.breaks(nil)
	})
}

func TestCancelReturnsAtOnceAndTellsThePage(t *testing.T) {
	for _, tt := range []struct {
		cause  error
		reason string
	}{{call.ErrCancelled, "client"}, {context.Canceled, "client"}, {errors.New("a clock ran out"), "deadline"}} {
		inLab(t, func(t *testing.T, l *lab) {
			b := l.connect(answer(hold))
			ctx, cancel := context.WithCancelCause(t.Context())
			r := request(write)
			done := l.begin(ctx, r)
			c := awaitCall(t, b, r.ID)
			cancel(tt.cause)
			got := <-done
			got.want(t, fault.Cancelled, fault.Unknown)
			if got.after != 0 {
				t.Errorf("it took %s", got.after)
			}
			<-c.Cancelled()
			if c.Reason() != tt.reason {
				t.Errorf("the page was told %q", c.Reason())
			}
			if st := l.journal.state(r.ID); st != call.Dispatched {
				t.Errorf("the journal says %s before the end is known", st)
			}
			c.Return(json.RawMessage("1")) // late, but true
			if st := l.journal.state(r.ID); st != call.Executed {
				t.Errorf("the journal says %s after the late answer", st)
			}
			if l.meter.late.Load() != 1 {
				t.Errorf("%d late answers were counted", l.meter.late.Load())
			}
		})
	}
}

func TestLateAnswerOfAReadIsCountedOnly(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(answer(hold))
		ctx, cancel := context.WithCancel(t.Context())
		r := request()
		done := l.begin(ctx, r)
		c := awaitCall(t, b, r.ID)
		cancel()
		(<-done).want(t, fault.Cancelled, fault.Unknown)
		c.Return(json.RawMessage("1"))
		if err := b.AwaitAck(t.Context(), r.ID); err != nil {
			t.Error(err)
		}
		synctest.Wait() // it is counted beside
		if l.meter.late.Load() != 1 {
			t.Errorf("%d late answers were counted", l.meter.late.Load())
		}
	})
}

// A refusal with outcome unknown may be followed by the handler's true end.

func TestSecondOutcomeSettlesTheJournal(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(answer(hold))
		r := request(write)
		done := l.begin(t.Context(), r)
		c := awaitCall(t, b, r.ID)
		c.Refuse(wire.Refusal{Code: "TIMEOUT", Outcome: "unknown", Reason: "idle"})
		(<-done).want(t, fault.TimeoutCode, fault.Unknown)
		if st := l.journal.state(r.ID); st != call.Unknown {
			t.Errorf("the journal says %s", st)
		}
		c.Return(json.RawMessage(`"after all"`))
		if st := l.journal.state(r.ID); st != call.Executed {
			t.Errorf("the journal says %s", st)
		}
	})
}

func TestTabClosed(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(answer(hold))
		r := request(write)
		done := l.begin(t.Context(), r)
		awaitCall(t, b, r.ID)
		b.CloseTab(1)
		got := <-done
		got.want(t, fault.TabNotFound, fault.Unknown)
		if got.after > time.Second {
			t.Errorf("it took %s", got.after)
		}
	})
}

// connectionStands checks that a browser still takes calls.
