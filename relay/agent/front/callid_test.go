package front

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// A client gives a call an id and sends it again where the front's caller keeps ids apart; elsewhere it is refused,
// because a call that comes twice would be carried out twice.
func TestClientsGiveCallsIDs(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef"
	for _, c := range []struct {
		name, meta string
		plain      bool // a front that takes no ids
		tool       string
		refused    string // of the message; empty: it becomes a call
		again      bool
	}{
		{name: "an id", meta: `"tabrelay/callId":"` + id + `"`},
		{name: "not sent before", meta: `"tabrelay/callId":"` + id + `","tabrelay/again":false`},
		{name: "again", meta: `"tabrelay/callId":"` + id + `","tabrelay/again":true`, again: true},
		{name: "a tool that is not listed", meta: `"tabrelay/callId":"` + id + `"`, tool: "demo__gone",
			refused: "demo__gone"},
		{name: "again, a tool that is not listed any more", tool: "demo__gone", again: true,
			meta: `"tabrelay/callId":"` + id + `","tabrelay/again":true`},
		{name: "capitals", meta: `"tabrelay/callId":"` + strings.ToUpper(id) + `"`, refused: "is not 32"},
		{name: "short", meta: `"tabrelay/callId":"` + id[1:] + `"`, refused: "is not 32"},
		{name: "long", meta: `"tabrelay/callId":"` + id + `0"`, refused: "is not 32"},
		{name: "a number", meta: `"tabrelay/callId":7`, refused: "is not 32"},
		{name: "again without an id", meta: `"tabrelay/again":true`, refused: "is not 32"},
		{name: "again in words", meta: `"tabrelay/callId":"` + id + `","tabrelay/again":"yes"`,
			refused: "neither true"},
		{name: "at a relay", meta: `"tabrelay/callId":"` + id + `"`, plain: true, refused: "gateways of a fleet"},
		{name: "again at a relay", meta: `"tabrelay/again":true`, plain: true, refused: "gateways of a fleet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, url := serveFixture(t)
			x.front.options.CallIDs = !c.plain
			if c.tool == "" {
				c.tool = "demo__echo"
			}
			said := callsWith(t, url, c.tool, c.meta)
			if c.refused != "" {
				if len(x.calls) != 0 || !strings.Contains(said, c.refused) {
					t.Errorf("%d calls, and it is told %s", len(x.calls), said)
				}
				return
			}
			if len(x.calls) != 1 || x.calls[0].ID != id || x.calls[0].Resume != c.again || x.calls[0].Tool != c.tool {
				t.Errorf("it becomes %+v, and is told %s", x.calls, said)
			}
		})
	}
}

// callsWith makes a call of the modern era with these members of _meta, and returns what it is answered.
func callsWith(t *testing.T, url, tool, meta string) string {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{},` + meta + `}}}`
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	for name, value := range map[string]string{"Content-Type": "application/json", "Mcp-Method": "tools/call",
		"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Name": tool} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // only read from
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
