package front

import (
	"net/http"
	"strings"
	"testing"
)

// The trace of a call comes from _meta, in both eras. One that is malformed is as if it were not there.
func TestTraceInMeta(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	x, url := serveFixture(t)
	for _, c := range []struct{ meta, parent, state string }{
		{`{"traceparent":"` + parent + `","tracestate":"a=1"}`, parent, "a=1"},
		{`{"traceparent":"` + parent + `","tracestate":7}`, parent, ""},
		{`{"traceparent":"00-none","tracestate":"a=1"}`, "", ""},
		{`{"traceparent":["` + parent + `"]}`, "", ""},
		{`{"traceparent":null}`, "", ""},
		{`{"tracestate":"a=1"}`, "", ""},
		{`{}`, "", ""},
	} {
		for _, modern := range []bool{false, true} {
			meta := c.meta
			if modern {
				meta = strings.Replace(`{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
					`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},`+
					`"io.modelcontextprotocol/clientCapabilities":{},`+c.meta[1:], ",}", "}", 1)
			}
			body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo__echo","_meta":` + meta + `}}`
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			if modern {
				req.Header.Set("MCP-Protocol-Version", "2026-07-28")
				req.Header.Set("Mcp-Method", "tools/call")
				req.Header.Set("Mcp-Name", "demo__echo")
			} else {
				req.Header.Set("Mcp-Session-Id", openSession(t, url))
			}
			before := len(x.calls)
			answer, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if len(x.calls) != before+1 {
				t.Fatalf("%s: answered %s without a call", meta, answer.Status)
			}
			if got := x.calls[before].Trace; got.Parent() != c.parent || got.State != c.state {
				t.Errorf("%s: the call is in %+v", meta, got)
			}
		}
	}
}

// openSession begins a session of the legacy era.
func openSession(t *testing.T, url string) (id string) {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},`+
			`"clientInfo":{"name":"c","version":"1"}}}`))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.Header.Get("Mcp-Session-Id")
}
