package hub_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

func TestFloodOfProgressIsBounded(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		const steps = 1000
		b := l.connect(answer(hold))
		busy, got := make(chan struct{}), []float64{}
		r := request(func(r *call.Invocation) {
			r.Progress = func(p call.Progress) {
				if len(got) == 0 {
					<-busy
				}
				got = append(got, p.Progress)
			}
		})
		done := l.begin(t.Context(), r)
		c := awaitCall(t, b, r.ID)
		for i := range steps {
			c.Progress(float64(i+1), "")
		}
		synctest.Wait()
		other := request()
		second := l.begin(t.Context(), other)
		awaitCall(t, b, other.ID).Return(json.RawMessage("2"))
		(<-second).wantOutput(t, "2")
		close(busy)
		c.Return(json.RawMessage("1"))
		(<-done).wantOutput(t, "1")
		// What the caller was given before it was busy, and what waited for it then: 64 at the most each.
		if len(got) > 2*64 || got[len(got)-1] != steps {
			t.Errorf("%d steps were delivered, the last is %v", len(got), got[len(got)-1])
		}
	})
}

func TestArgumentsTooLarge(t *testing.T) {
	inLabWith(t, func(c *hub.Config) { c.FrameBytes = 4096 }, func(t *testing.T, l *lab) {
		l.connect()
		r := request(write, func(r *call.Invocation) {
			r.Arguments = json.RawMessage(`"` + strings.Repeat("x", 4096) +
				`"`)
		})
		l.invoke(r).want(t, fault.InputTooLarge, fault.NotExecuted)
		l.invoke(request()).wantOutput(t, `{"x":1}`)
	})
}

func TestOversizedFrameEndsItsCallOnly(t *testing.T) {
	inLabWith(t, func(c *hub.Config) { c.FrameBytes = 8192 }, func(t *testing.T, l *lab) {
		b := l.connect(answer(func(c *hubtest.Call) {
			if c.Tool == "large" {
				c.Return(json.RawMessage(`"` + strings.Repeat("x", 9000) + `"`))
				return
			}
			c.Return(c.Arguments)
		}))
		r := request(write, func(r *call.Invocation) { r.Tool = "large" })
		got := l.invoke(r)
		got.want(t, fault.OutputTooLarge, fault.Executed)
		if got.after != 0 {
			t.Errorf("it took %s", got.after)
		}
		if err := b.AwaitAck(t.Context(), r.ID); err != nil {
			t.Error(err)
		}
		l.invoke(request()).wantOutput(t, `{"x":1}`)
		if l.meter.corrupt.Load() != 1 {
			t.Errorf("%d frames were counted", l.meter.corrupt.Load())
		}
	})
}

func TestResultOverTheCallsLimit(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.connect()
		l.invoke(request(func(r *call.Invocation) { r.MaxResultBytes = 3 })).want(t, fault.OutputTooLarge,
			fault.Executed)
	})
}

func TestReturnedWithoutValue(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.connect(answer(func(c *hubtest.Call) { c.Return(nil) }))
		l.invoke(request()).want(t, fault.InvalidOutput, fault.Executed)
	})
}

func TestMalformedOutcomeEndsItsCall(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(answer(hold))
		r := request()
		done := l.begin(t.Context(), r)
		awaitCall(t, b, r.ID)
		b.SendRaw([]byte(`{"type":"outcome","id":"` + string(r.ID) + `","status":"perhaps"}`))
		(<-done).want(t, fault.InternalError, fault.Unknown)
		l.connectionStands(b)
	})
}

func (l *lab) connectionStands(b *hubtest.Browser) {
	l.t.Helper()
	r := request()
	done := l.begin(l.t.Context(), r)
	awaitCall(l.t, b, r.ID).Return(json.RawMessage("1"))
	(<-done).wantOutput(l.t, "1")
}

func TestUnknownFramesAreIgnored(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(answer(hold))
		for range 10 {
			b.SendRaw([]byte(`{"type":"from-the-future"}`))
		}
		b.Send(&wire.Outcome{ID: call.ID(wire.NewID()), Status: wire.Threw})
		b.Send(&wire.State{ID: call.ID(wire.NewID()), State: wire.Running})
		b.Send(&wire.Started{ID: call.ID(wire.NewID())})
		b.Send(&wire.Reply{ID: call.ID(wire.NewID())})
		b.Send(&wire.TabClosed{TabID: 99})
		l.connectionStands(b)
		if l.meter.corrupt.Load() != 0 {
			t.Errorf("%d frames were counted as corrupt", l.meter.corrupt.Load())
		}
	})
}

func TestThirdCorruptFrameClosesTheConnection(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(answer(hold))
		for range 2 {
			b.SendRaw([]byte(`{"type":"tabs","tabs":7}`))
		}
		l.connectionStands(b)
		time.Sleep(61 * time.Second) // those two are forgotten
		b.SendRaw([]byte(`not a frame`))
		b.SendRaw([]byte(`{"type":"welcome","pingMs":1}`)) // not the extension's to send
		l.connectionStands(b)
		b.SendRaw([]byte(``))
		<-b.Gone()
		if b.CloseCode() != 4400 {
			t.Errorf("closed with %d", b.CloseCode())
		}
	})
}

func TestCorruptPeerIsNews(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		var news []hub.Event
		l.hub.Events(func(e hub.Event) {
			if e.Kind == hub.Corrupted {
				news = append(news, e)
			}
		})
		b := l.connect(answer(hold))
		for range 5 {
			b.SendRaw([]byte(`?`))
		}
		<-b.Gone()
		synctest.Wait()
		if len(news) != 1 || news[0].ProfileID != b.ProfileID() || b.CloseCode() != 4400 {
			t.Errorf("closed with %d, news %+v", b.CloseCode(), news)
		}
	})
}

// The largest frame passes, one byte more does not.
func TestArgumentsAtTheEdge(t *testing.T) {
	const limit = 4096
	inLabWith(t, func(c *hub.Config) { c.FrameBytes = limit }, func(t *testing.T, l *lab) {
		l.connect()
		sent := func(bytes int) *fault.Error {
			r := request(func(r *call.Invocation) {
				r.Arguments = json.RawMessage(`"` + strings.Repeat("x", bytes) +
					`"`)
			})
			return l.invoke(r).failure
		}
		fits := 0
		for fits = limit; sent(fits) != nil && fits > 0; fits-- { // the header's size is the codec's business
		}
		if over := sent(fits + 1); over == nil || over.Code != fault.InputTooLarge ||
			over.Outcome != fault.NotExecuted {
			t.Errorf("%d bytes fit, and one more: %v", fits, over)
		}
		if fits < limit-1024 {
			t.Errorf("only %d bytes fit", fits)
		}
	})
}

// A message of exactly the limit is read; one byte more is skipped, counted, and fails its call only.
func TestFrameAtTheEdge(t *testing.T) {
	const limit = 8192
	inLabWith(t, func(c *hub.Config) { c.FrameBytes = limit }, func(t *testing.T, l *lab) {
		b := l.connect(answer(hold))
		for _, tt := range []struct {
			bytes int
			want  fault.Code
		}{{limit, ""}, {limit + 1, fault.OutputTooLarge}} {
			r := request()
			done := l.begin(t.Context(), r)
			awaitCall(t, b, r.ID)
			header := fmt.Sprintf(`{"type":"outcome","id":"%s","status":"returned","epoch":"%s","started":true,`+
				`"origin":"","durationMs":1}`, r.ID, wire.NewID())
			b.SendRaw([]byte(header + "\n\"" + strings.Repeat("x", tt.bytes-len(header)-3) + "\""))
			got := <-done
			if tt.want == "" && got.failure != nil || tt.want != "" &&
				(got.failure == nil || got.failure.Code != tt.want) {
				t.Errorf("%d bytes: %v, want %q", tt.bytes, got.failure, tt.want)
			}
		}
		if n := l.meter.corrupt.Load(); n != 1 {
			t.Errorf("%d frames were counted", n)
		}
		l.connectionStands(b)
	})
}
