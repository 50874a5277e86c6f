package tracing

import (
	"encoding/hex"
	"slices"
	"strings"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"

	"tabrelay/relay/lib/random"
	"tabrelay/relay/lib/receiver"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// mostSteps bounds the spans of one call.
const mostSteps = 300

// step is one that a call has passed.
type step struct {
	at         time.Time
	name, what string
}

// watched is a call whose steps are noted. It belongs to the goroutine of the call.
type watched struct {
	call  call.Call // as its client made it
	began time.Time
	steps []step
}

// passed notes a step.
func (w *watched) passed(at time.Time, name, what string) {
	if len(w.steps) < mostSteps {
		w.steps = append(w.steps, step{at, name, what})
	}
}

// spans are that of the call, and one for each step from the one before it. Its times are those of the relay's clock;
// what the extension and the page did lies between when the relay sent and when it had the outcome.
func (w *watched) spans(at call.Trace, failure *fault.Error, ended time.Time) []*traces.Span {
	whole := &traces.Span{
		TraceId: bytesOf(at.ID), SpanId: bytesOf(at.Span), ParentSpanId: bytesOf(w.call.Trace.Span),
		TraceState: at.State,
		Name:       "tools/call " + w.call.Tool, Kind: traces.Span_SPAN_KIND_SERVER,
		StartTimeUnixNano: nanos(w.began), EndTimeUnixNano: nanos(ended), Status: &traces.Status{},
		Attributes: []*common.KeyValue{
			receiver.Text("gen_ai.operation.name", "execute_tool"), receiver.Text("gen_ai.tool.name", w.call.Tool),
			receiver.Text("gen_ai.tool.call.id", string(w.call.ID)),
			receiver.Text("tabrelay.client", w.call.Session.Client),
		},
	}
	if failure != nil {
		whole.Status.Code = traces.Status_STATUS_CODE_ERROR
		whole.Attributes = append(whole.Attributes, receiver.Text("error.type", string(failure.Code)),
			receiver.Text("tabrelay.outcome", string(failure.Outcome)))
	}
	if script := w.call.Script; script != "" {
		whole.Attributes = append(whole.Attributes, receiver.Text("tabrelay.script", string(script)))
	}
	list := []*traces.Span{whole}
	slices.SortStableFunc(w.steps, func(a, b step) int { return a.at.Compare(b.at) })
	from := w.began
	for _, s := range w.steps {
		list = append(list, &traces.Span{
			TraceId: whole.TraceId, SpanId: bytesOf(random.Hex(8)), ParentSpanId: whole.SpanId, TraceState: at.State,
			Name: s.name, Kind: traces.Span_SPAN_KIND_INTERNAL,
			StartTimeUnixNano: nanos(from), EndTimeUnixNano: nanos(s.at),
			Attributes: []*common.KeyValue{receiver.Text("tabrelay.step", s.what)},
		})
		from = s.at
	}
	return list
}

// bytesOf are those of an id; none of an empty one.
func bytesOf(id string) []byte {
	b, err := hex.DecodeString(id)
	if err != nil || strings.Trim(id, "0") == "" {
		return nil
	}
	return b
}

func nanos(t time.Time) uint64 { return uint64(max(0, t.UnixNano())) }
