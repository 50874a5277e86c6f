package delegation

import (
	"context"
	"testing"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// What an agent calls is in the trace of the call that prompted it, also where it comes in by itself, as the calls of a
// program do.
func TestTraceOfAnErrand(t *testing.T) {
	trace := call.ReadTrace("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a=1")
	b := newBench(t, nil, calls("wiki__read", `{}`), says("Done."))
	var in []call.Trace
	b.tools.run = func(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
		in = append(in, c.Trace)
		return answers("found")(ctx, c)
	}
	if _, _, failure := b.prompt(call.WithTrace(t.Context(), trace), Prompt{Text: "x"}, Budget{}); failure != nil {
		t.Fatal(failure)
	}
	turn := b.session.Begin(call.WithTrace(t.Context(), trace), Prompt{}, Budget{})
	defer turn.End()
	if _, failure := b.session.Do(t.Context(), call.Call{Tool: "wiki__read"}); failure != nil {
		t.Fatal(failure)
	}
	if len(in) != 2 || in[0] != trace || in[1] != trace {
		t.Errorf("the calls were made in %+v", in)
	}
}
