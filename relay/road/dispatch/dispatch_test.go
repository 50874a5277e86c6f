package dispatch_test

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/schedule"
)

// answering is a browser that answers at once.
type answering struct {
	oneTab
	output json.RawMessage
}

func (a answering) Send(_ context.Context, _ call.Target, r call.Invocation) (*call.Reply, *fault.Error) {
	r.Started()
	if r.Timed != nil {
		now := time.Now()
		r.Timed(call.Timing{Sent: now, Answered: now, Steps: []call.StepTime{
			{Step: call.StepAsked, What: "act\x1b[2J"}, {Step: "of a newer extension"}, {Step: call.StepSent}}})
	}
	return &call.Reply{Output: a.output, TabID: 7, Profile: "Chrome 1"}, nil
}

// TestProgressIsSerialized lets many goroutines report: the caller sees one at a time, upwards, and none after
// Do returned.
func TestProgressIsSerialized(t *testing.T) {
	var reporters sync.WaitGroup
	d := dispatch.New(options(t, nil, reporting{reporters: &reporters}))
	inside, returned, last := false, false, -1.0 // unguarded: the race detector watches
	_, failure := d.Do(t.Context(), call.Call{ID: "00", Tool: "demo__write", Progress: func(p call.Progress) {
		if inside || returned || p.Progress <= last {
			t.Errorf("progress %v after %v, inside another %v, after the end %v", p.Progress, last, inside, returned)
		}
		inside, last = true, p.Progress
		runtime.Gosched()
		inside = false
	}})
	returned = true
	if failure != nil {
		t.Error(failure)
	}
	reporters.Wait()
}

// reporting reports from several goroutines, also after it returned.
type reporting struct {
	answering
	reporters *sync.WaitGroup
}

func (b reporting) Send(_ context.Context, _ call.Target, r call.Invocation) (*call.Reply, *fault.Error) {
	r.Started()
	enough := make(chan struct{})
	for n := range 8 {
		b.reporters.Go(func() {
			for i := range 500 {
				r.Progress(call.Progress{Progress: float64(i)})
				r.Log(call.LogEntry{Level: "info"})
				if n == 0 && i == 100 {
					close(enough)
				}
			}
		})
	}
	<-enough
	return &call.Reply{Output: json.RawMessage("1")}, nil
}

// TestDrainWithManyCalls ends calls, refuses others, and loses count of none.
func TestDrainWithManyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t, nil, waiting{})
		o.Limits = schedule.Limits{Running: 50, RunningPerPlugin: 50, Waiting: 64, Wait: time.Second}
		d := dispatch.New(o)
		var refused, ended sync.Map
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				_, f := d.Do(t.Context(), call.Call{ID: "00", Tool: "demo__read"})
				switch {
				case f == nil:
					t.Error("a call that waits for ever succeeded")
				case f.Code == fault.ShuttingDown && f.Outcome == fault.NotExecuted:
					refused.Store(i, true)
				case f.Code == fault.ShuttingDown && f.Outcome == fault.Unknown:
					ended.Store(i, true)
				default:
					t.Errorf("call %d: %v", i, f)
				}
			})
		}
		time.Sleep(25*time.Millisecond + time.Microsecond)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d.Drain(ctx)
		wg.Wait()
		if n := count(&ended); n != 26 {
			t.Errorf("%d calls were ended, want 26", n)
		}
		if n := count(&refused); n != 24 {
			t.Errorf("%d calls were refused, want 24", n)
		}
	})
}

func count(m *sync.Map) (n int) {
	m.Range(func(any, any) bool { n++; return true })
	return n
}

// waiting answers only when the call ends.
type waiting struct{ answering }

func (waiting) Send(ctx context.Context, _ call.Target, r call.Invocation) (*call.Reply, *fault.Error) {
	r.Started()
	<-ctx.Done()
	return nil, fault.New(fault.InternalError, "interrupted", fault.WithOutcome(fault.Unknown))
}

// TestRejectedOnce takes a tool with a broken schema out of the list and leaves the others.
func TestRejectedOnce(t *testing.T) {
	o := options(t, nil, answering{})
	d := dispatch.New(o)
	before := o.Tools.Snapshot()
	for i, want := range []fault.Code{fault.RegistryError, fault.UnknownTool} {
		_, f := d.Do(t.Context(), call.Call{ID: "00", Tool: "demo__broken"})
		if f == nil || f.Code != want {
			t.Errorf("call %d: %v, want %s", i, f, want)
		}
	}
	s := o.Tools.Snapshot()
	added := s.Problems[len(before.Problems):]
	if len(s.Tools) != len(before.Tools)-1 || len(added) != 1 || !strings.Contains(added[0].Reason,
		"demo__broken was left out") {
		t.Errorf("%d tools of %d, new problems %v", len(s.Tools), len(before.Tools), added)
	}
	if result, f := d.Do(t.Context(), call.Call{ID: "00", Tool: "bridge_health"}); f != nil {
		t.Errorf("the others suffer: %v %v", result, f)
	}
}

func BenchmarkDo(b *testing.B) {
	for _, bm := range []struct {
		name, tool string
		arguments  json.RawMessage
		output     json.RawMessage
	}{
		{"read", "demo__read", json.RawMessage(`{"id":1}`), json.RawMessage(`{"title":"Main page"}`)},
		{"tab", "demo__read", json.RawMessage(`{"id":1,"tabId":7}`), json.RawMessage(`{"title":"Main page"}`)},
		{"1MiB", "demo__write", json.RawMessage(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`),
			json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			o := options(b, nil, answering{output: bm.output})
			o.MaxInputBytes, o.MaxResultBytes = 16<<20, 16<<20
			d := dispatch.New(o)
			c := call.Call{ID: "000000000000000000000000000000ff", Tool: bm.tool, Arguments: bm.arguments}
			b.ReportAllocs()
			for b.Loop() {
				if _, f := d.Do(b.Context(), c); f != nil {
					b.Fatal(f)
				}
			}
		})
	}
}

// capturing keeps what reaches the page.
type capturing struct {
	answering
	got *call.Invocation
}

func (b capturing) Send(ctx context.Context, at call.Target, r call.Invocation) (*call.Reply, *fault.Error) {
	*b.got = r
	return b.answering.Send(ctx, at, r)
}

// FuzzArguments sends anything as arguments. The page gets an object that means the same without the relay's own
// arguments, or is not asked at all.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{``, `{}`, `{"tabId":7}`, `{"tab\u0049d":7,"a":[{"tabId":"x"}]}`, `{"a":1,,"tabId":1}`,
		`{"profile":"p","tabId":1e0} `, `{"tabId":0x10}`, `[]`, `{"a":1e999}`} {
		f.Add([]byte(seed))
	}
	var got call.Invocation
	o := options(f, nil, capturing{answering{output: json.RawMessage("1")}, &got})
	d := dispatch.New(o)
	f.Fuzz(func(t *testing.T, arguments []byte) {
		got = call.Invocation{}
		_, failure := d.Do(t.Context(), call.Call{ID: "00", Tool: "demo__write", Arguments: arguments})
		if failure != nil {
			if got.Tool != "" || failure.Outcome != fault.NotExecuted {
				t.Fatalf("%q: %v, after the page was asked: %v", arguments, failure, got.Tool != "")
			}
			return
		}
		if len(arguments) == 0 {
			arguments = []byte("{}")
		}
		var sent, want map[string]any
		if err := json.Unmarshal(got.Arguments, &sent); err != nil {
			t.Fatalf("%q became %q: %v", arguments, got.Arguments, err)
		}
		if err := json.Unmarshal(arguments, &want); err != nil {
			t.Fatalf("%q was accepted: %v", arguments, err)
		}
		delete(want, "tabId")
		delete(want, "profile")
		delete(want, "session")
		if diff := cmp.Diff(want, sent); diff != "" {
			t.Fatalf("%q: %s", arguments, diff)
		}
	})
}

// What a tool declares, and a person configured, reaches the page.
func TestWhatThePageIsTold(t *testing.T) {
	var got call.Invocation
	o := options(t, nil, capturing{answering{output: json.RawMessage("1")}, &got})
	o.Trace, o.ConsoleTailBytes = true, 7
	if _, f := dispatch.New(o).Do(t.Context(), call.Call{ID: "00", Tool: "demo__slow"}); f != nil {
		t.Fatal(f)
	}
	if got.ProgressPattern != "^page " || !got.Trace || got.ConsoleTailBytes != 7 || got.Timeout != 5*time.Second ||
		got.MaxTimeout != 12*time.Second {
		t.Errorf("%+v", got)
	}
}

// TestArgumentsAreText: a browser ends the link, and with it all calls, over one frame that is not UTF-8.
func TestArgumentsAreText(t *testing.T) {
	for _, arguments := range []string{
		"{\"id\":1,\"text\":\"\xff\"}", "{\"id\":1,\"\xc3\":2}", "{\"id\":1,\"text\":\"\xed\xa0\x80\"}",
	} {
		var got call.Invocation
		d := dispatch.New(options(t, nil, capturing{answering{output: json.RawMessage(`{"title":"x"}`)}, &got}))
		_, f := d.Do(t.Context(), call.Call{ID: "00", Tool: "demo__read", Arguments: json.RawMessage(arguments)})
		if f == nil || f.Code != fault.ValidationError || f.Outcome != fault.NotExecuted || got.Arguments != nil {
			t.Errorf("%q: %v, and the page was sent %q", arguments, f, got.Arguments)
		}
	}
}

func TestTraceNamesEachStep(t *testing.T) {
	var steps []string
	d := dispatch.New(options(t, nil, answering{output: json.RawMessage(`{"title":"x"}`)}))
	c := call.Call{ID: "00", Tool: "demo__read", Arguments: json.RawMessage(`{"id":1}`)}
	c.Step = func(_ time.Time, _, what string) { steps = append(steps, what) }
	if _, failure := d.Do(t.Context(), c); failure != nil {
		t.Fatal(failure)
	}
	c.Arguments = json.RawMessage(`{"id":"one"}`)
	if _, failure := d.Do(t.Context(), c); failure == nil {
		t.Fatal("arguments of a wrong type were taken")
	}
	want := []string{
		"tool found, arguments valid; it may take ", `tab 7 of profile "Chrome 1" at `, "allowed; sent as attempt 1",
		"sent to the browser", "the extension has it", "the page is asked (act[2J)", "the extension sends the outcome",
		"the relay has the outcome", "answered",
		"result checked", "failed with VALIDATION_ERROR, outcome not_executed",
	}
	if len(steps) != len(want) {
		t.Fatalf("steps: %q", steps)
	}
	for i := range want {
		if !strings.HasPrefix(steps[i], want[i]) {
			t.Errorf("step %d: %q, want %q …", i, steps[i], want[i])
		}
	}
}
