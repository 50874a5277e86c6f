package dispatch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/fault"
)

// The trace in which a call is made stands in the log and in the audit log, and what is done for the call is in that
// trace, under the call: also the calls that a tool of the relay makes. A call without one is told as before.
func TestTraceOfACall(t *testing.T) {
	const id = "00112233445566778899aabbccddeeff"
	trace := call.ReadTrace("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a=1")
	var inPage call.Trace
	browser := page(func(ctx context.Context, r call.Invocation) (*call.Reply, *fault.Error) {
		inPage = call.TraceOf(ctx)
		r.Started()
		return &call.Reply{Output: json.RawMessage(`{"title":"t"}`), TabID: 7}, nil
	})
	for _, c := range []struct {
		name        string
		from        context.Context
		told        call.Trace
		want, audit string
	}{
		{"of the client", t.Context(), trace, "00-4bf92f3577b34da6a3ce929d0e0e4736-0011223344556677-01",
			"It is in the trace 4bf92f3577b34da6a3ce929d0e0e4736 under 00f067aa0ba902b7"},
		{"of the call that makes this one", call.WithTrace(t.Context(), trace.Within("aaaaaaaaaaaaaaaa")),
			call.Trace{}, "00-4bf92f3577b34da6a3ce929d0e0e4736-0011223344556677-01",
			"It is in the trace 4bf92f3577b34da6a3ce929d0e0e4736 under aaaaaaaaaaaaaaaa"},
		{"none", t.Context(), call.Trace{}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			written := &entries{}
			o := options(t, nil, browser)
			o.Meter, o.Log, o.Audit = meter{}, zerolog.New(&log), written
			_, failure := dispatch.New(o).Do(c.from, call.Call{ID: id, Tool: "demo__read", Trace: c.told})
			if failure != nil {
				t.Fatal(failure)
			}
			if inPage.Parent() != c.want {
				t.Errorf("the call is carried out in %q", inPage.Parent())
			}
			if last := written.all[len(written.all)-1]; last.Detail != c.audit {
				t.Errorf("the audit log says %q", last.Detail)
			}
			told := strings.Contains(log.String(), `"trace":"4bf92f3577b34da6a3ce929d0e0e4736","parentSpan":`) &&
				strings.Contains(log.String(), `"span":"0011223344556677"`)
			if told != (c.want != "") {
				t.Errorf("the log says %s", log.String())
			}
		})
	}
}
