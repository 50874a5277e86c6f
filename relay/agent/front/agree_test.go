package front

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
)

// TestHTTPAgreesWithLibrary: requests go through a handler of ours, and tools/call and tools/list past mcp-go, so what
// mcp-go's own handler checks must still be checked the same. Where we differ on purpose, "differs" says why.
func TestHTTPAgreesWithLibrary(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo__echo","arguments":{"a":1}}}`
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`
	const modern = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo__echo","arguments":{"a":1},` +
		modernMeta + `}}`
	const older = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo__echo",` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}}`
	const newer = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo__echo",` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01",` +
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`
	const noCapabilities = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo__echo",` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
	const badCapabilities = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo__echo",` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":7}}}`
	version := func(v string) []string { return []string{mcp.HeaderProtocolVersion, v} }
	headers := func(method, name string) []string {
		h := append(version("2026-07-28"), mcp.HeaderMethod, method)
		if name != "" {
			h = append(h, mcp.HeaderName, name)
		}
		return h
	}
	for _, c := range []struct {
		name    string
		body    string
		headers []string
		session bool
		differs string
	}{
		{name: "call", body: call, session: true},
		{name: "call with a version", body: call, session: true, headers: version("2025-06-18")},
		{name: "call with an unknown version", body: call, session: true, headers: version("1999-01-01"),
			differs: "the answer is JSON-RPC, with the versions there are"},
		{name: "call that names an older version", body: older, session: true},
		{name: "older version without session", body: older,
			differs: "400 for a missing session, as the specification has it"},
		{name: "unknown tool", body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nosuch"}}`,
			session: true},
		{name: "unknown method", body: `{"jsonrpc":"2.0","id":1,"method":"nosuch"}`, session: true},
		{name: "notification", body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session: true},
		{name: "unknown notification", body: `{"jsonrpc":"2.0","method":"notifications/nosuch"}`, session: true},
		{name: "reply", body: `{"jsonrpc":"2.0","id":1,"result":{}}`, session: true},
		{name: "params that are a number", body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":7}`,
			session: true, differs: "malformed params are -32602"},
		{name: "name that is a number", body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`,
			session: true, differs: "malformed params are -32602"},
		{name: "JSON-RPC 1", body: `{"jsonrpc":"1.0","id":1,"method":"ping"}`, session: true,
			differs: "400, like every message that is none"},
		{name: "not JSON", body: `{`, session: true},
		{name: "wrong kind of body", body: call, session: true, headers: []string{"Content-Type", "text/plain"},
			differs: "415 says what is wrong"},
		{name: "initialize", body: initialize},
		{name: "second initialize", body: initialize, session: true, differs: "-32600"},

		{name: "modern call", body: modern, headers: headers("tools/call", "demo__echo")},
		{name: "modern call, name in Base64", body: modern,
			headers: headers("tools/call", "=?base64?ZGVtb19fZWNobw==?=")},
		{name: "modern call, bad Base64", body: modern, headers: headers("tools/call", "=?base64?!?=")},
		{name: "modern call, other name", body: modern, headers: headers("tools/call", "demo__steps")},
		{name: "modern call, no name", body: modern, headers: headers("tools/call", "")},
		{name: "modern call, other method", body: modern, headers: headers("tools/list", "")},
		{name: "modern call, no method", body: modern, headers: version("2026-07-28")},
		{name: "modern call, no version header", body: modern},
		{name: "modern call, other version header", body: modern, headers: append(headers("tools/call", "demo__echo"),
			version("2025-11-25")...)},
		{name: "modern header only", body: call, headers: headers("tools/call", "demo__echo")},
		{name: "modern call with a session", body: modern, headers: headers("tools/call", "demo__echo"), session: true},
		{name: "modern call that resumes", body: modern, headers: append(headers("tools/call", "demo__echo"),
			"Last-Event-ID", "1")},
		{name: "version to come", body: newer, headers: append(headers("tools/call", "demo__echo"),
			version("2027-01-01")...)},
		{name: "no capabilities", body: noCapabilities, headers: headers("tools/call", "demo__echo")},
		{name: "bad capabilities", body: badCapabilities, headers: headers("tools/call", "demo__echo")},
		{name: "modern list", body: list, headers: headers("tools/list", "")},
		{name: "modern ping", body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{` + modernMeta + `}}`,
			headers: headers("ping", "")},
		{name: "modern initialize", body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{` + modernMeta +
			`}}`, headers: headers("initialize", "")},
		{name: "modern notification", body: `{"jsonrpc":"2.0","method":"notifications/nosuch","params":{` + modernMeta +
			`}}`, headers: headers("notifications/nosuch", "")},
		{name: "modern cancel without a version", body: cancelOf("2"), headers: headers("notifications/cancelled", ""),
			differs: "202: the official Go client sends it so, and gives up its connection when that is refused"},
		{name: "modern discover", body: `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modernMeta +
			`}}`, headers: headers("server/discover", "")},
	} {
		t.Run(c.name, func(t *testing.T) {
			theirs, ours := answerOf(t, false, c.body, c.session, c.headers),
				answerOf(t, true, c.body, c.session, c.headers)
			if diff := cmp.Diff(theirs, ours); (diff != "") != (c.differs != "") {
				t.Errorf("on purpose: %q; -theirs +ours\n%s", c.differs, diff)
			}
		})
	}
}

// httpAnswer is what two answers are compared by.
type httpAnswer struct {
	Status     int
	Type       string
	Session    bool
	Code       int
	ResultType string
	Server     bool // the result says who answers
	TTL        string
}

func answerOf(t *testing.T, ours bool, body string, session bool, headers []string) httpAnswer {
	s := newSide(t, ours)
	defer s.close()
	id := ""
	if session {
		id = s.begin()
	}
	x := s.request(http.MethodPost, id, body, append([]string{"Content-Type", "application/json"}, headers...)...)
	<-x.done
	status, _, _ := strings.Cut(x.text.String(), " ")
	a := httpAnswer{Type: x.header.Get("Content-Type"), Session: x.header.Get(mcp.HeaderSessionID) != ""}
	a.Status, _ = strconv.Atoi(status)
	for _, m := range readMessages(x.text.String()) {
		if m.Error != nil {
			a.Code = m.Error.Code
		}
		var result struct {
			Type string                     `json:"resultType"`
			TTL  json.RawMessage            `json:"ttlMs"`
			Meta map[string]json.RawMessage `json:"_meta"`
		}
		if m.Result != nil && json.Unmarshal(m.Result, &result) == nil {
			a.ResultType, a.Server, a.TTL = result.Type, result.Meta[mcp.MetaKeyServerInfo] != nil, string(result.TTL)
		}
	}
	return a
}
