package relay

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/capability/tracing"
	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
)

// A collector gets the way of a call, from the relay to the page and back, in the trace of its client.
func TestACallIsTraced(t *testing.T) {
	bodies := make(chan []byte, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		bodies <- body
	}))
	t.Cleanup(server.Close)
	w := newWorld(t)
	r, end := w.relayAs(func(c *config.Config) {
		tracing.Section.Change(c, func(s *tracing.Settings) { s.URL = server.URL })
	})
	w.browser(func(c *hubtest.Call) {
		if !c.Timed {
			t.Error("the extension is not asked for its times")
		}
		c.Started()
		c.End(&wire.Outcome{Status: wire.Returned, Started: true, Origin: "https://example.com",
			Times: []call.StepTime{{Step: call.StepStarted, Us: 1}, {Step: call.StepEnded, Us: 2},
				{Step: call.StepSent, Us: 3}}}, json.RawMessage(`{"title":"x"}`))
	})
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	const id = call.ID("0123456789abcdef0123456789abcdef")
	if _, failure := r.calls.Do(t.Context(), call.Call{ID: id, Session: ann, Tool: "shop__read",
		Arguments: json.RawMessage(`{}`), Trace: call.ReadTrace("00-"+trace+"-"+parent+"-01", "")}); failure != nil {
		t.Fatal(failure)
	}
	end() // which sends what waits
	data := &traces.TracesData{}
	if err := proto.Unmarshal(<-bodies, data); err != nil {
		t.Fatal(err)
	}
	spans := data.ResourceSpans[0].ScopeSpans[0].Spans
	whole := spans[0]
	if whole.Name != "tools/call shop__read" || hex.EncodeToString(whole.TraceId) != trace ||
		hex.EncodeToString(whole.ParentSpanId) != parent || hex.EncodeToString(whole.SpanId) != string(id[:16]) {
		t.Errorf("the span of the call: %v", whole)
	}
	var names []string
	for _, s := range spans[1:] {
		if names = append(names, s.Name); string(s.ParentSpanId) != string(whole.SpanId) ||
			s.StartTimeUnixNano < whole.StartTimeUnixNano || s.EndTimeUnixNano > whole.EndTimeUnixNano {
			t.Errorf("%v is not within %v", s, whole)
		}
	}
	want := "validated resolved allowed sent extension.received extension.started extension.ended extension.sent " +
		"outcome answered checked"
	if is := strings.Join(names, " "); is != want {
		t.Errorf("steps %s\nwant  %s", is, want)
	}
}
