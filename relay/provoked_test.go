package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/faulttest"
	"tabrelay/relay/road/plugin"
)

// relayWith starts a relay with plugins of its own.
func (w *world) relayWith(plugins ...plugin.Plugin) *Relay {
	w.t.Helper()
	cfg := openConfig()
	cfg.Listen, cfg.Demo.Listen = "127.0.0.1:0", ""
	r, err := New(w.t.Context(), cfg, Options{Home: w.home, Log: zerolog.Nop(), Plugins: plugins})
	if err != nil {
		w.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- r.Run(context.Background()) }()
	w.t.Cleanup(func() {
		r.Stop()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	})
	return r
}

// modern asks over HTTP in the era of 2026-07-28 and returns the response.
type modern struct {
	t     *testing.T
	url   string
	token string
}

func (w *world) modern(r *Relay) modern {
	w.t.Helper()
	token, err := r.secrets.Add("bob")
	if err != nil {
		w.t.Fatal(err)
	}
	t, ok := w.t.(*testing.T)
	if !ok {
		w.t.Fatal("not a test")
	}
	return modern{t, "http://" + r.Address() + "/mcp", token}
}

func (m modern) ask(method, params string) []byte {
	m.t.Helper()
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"bob","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}`
	if params != "" {
		meta += ","
	}
	_, answer := m.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s%s}}`, method, meta, params),
		method, params, "2026-07-28")
	return answer
}

func (m modern) post(body, method, params, version string) (int, []byte) {
	m.t.Helper()
	req, err := http.NewRequestWithContext(m.t.Context(), "POST", m.url, strings.NewReader(body))
	if err != nil {
		m.t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + m.token, "Content-Type": "application/json",
		"Accept":               "application/json, text/event-stream",
		"MCP-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": named(params),
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		m.t.Fatal(err)
	}
	defer res.Body.Close() // only read from
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	if _, data, ok := bytes.Cut(answer, []byte("data: ")); ok {
		answer = data
	}
	return res.StatusCode, bytes.TrimSpace(answer)
}

// named is what the header Mcp-Name repeats of the params.
func named(params string) string {
	var p struct{ Name, URI string }
	_ = json.Unmarshal([]byte("{"+params+"}"), &p)
	return p.Name + p.URI
}

// says sends a line and returns the answer.
func (a *mcpClient) says(line string) []byte {
	a.t.Helper()
	a.say(line)
	for a.out.Scan() {
		if !strings.Contains(a.out.Text(), `"method":"notifications/`) {
			return a.out.Bytes()
		}
	}
	a.t.Fatal("the agent heard nothing more")
	return nil
}

// recipes is the shop with a recipe.
func recipes() plugin.Plugin {
	p := shop()
	p.Manifest.Prompts = []plugin.Prompt{{Name: "echo", Description: "Repeats.",
		Arguments: []plugin.PromptArgument{{Name: "x", Required: true}}, Template: strings.Repeat("{{x}}", 30)}}
	return p
}

// What is wrong before any tool runs, as a client of either era reads it.
func TestSituationsOfRequests(t *testing.T) {
	w := newWorld(t)
	r := w.relayWith(recipes())
	a, m := w.agent(nobodyStarts), w.modern(r)
	long, id := strings.Repeat("y", 100_000), 100
	for _, tt := range []struct{ situation, method, params string }{
		{"unknown-method", "tools/remove", ""},
		{"unknown-tool", "tools/call", `"name":"shop__raed","arguments":{}`},
		{"malformed-params", "tools/call", `"name":"shop__read","arguments":[]`},
		{"unknown-prompt", "prompts/get", `"name":"shop__nothing"`},
		{"prompt-argument-missing", "prompts/get", `"name":"shop__echo"`},
		{"prompt-too-long", "prompts/get", `"name":"shop__echo","arguments":{"x":"` + long + `"}`},
		{"bad-cursor", "prompts/list", `"cursor":"bmV4dA"`},
	} {
		id++
		faulttest.Answered(t, tt.situation, a.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`,
			id, tt.method, tt.params)), false)
		faulttest.Answered(t, tt.situation, m.ask(tt.method, tt.params), true)
	}
	for _, tt := range []struct{ situation, line string }{
		{"malformed-json", `{"jsonrpc":"2.0","id":1,`},
		{"batch-array", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`},
		{"missing-method", `{"jsonrpc":"2.0","id":2}`},
		{"second-initialize", `{"jsonrpc":"2.0","id":3,"method":"initialize",` +
			`"params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"ann","version":"1"}}}`},
	} {
		faulttest.Answered(t, tt.situation, a.says(tt.line), false)
	}
	_, answer := m.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list",`+
		`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"bob","version":"1"},`+
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`, "tools/list", "", "2031-01-01")
	faulttest.Answered(t, "unsupported-version", answer, true)
}

// What is wrong with the life of a connection.
func TestSituationsOfLifecycle(t *testing.T) {
	w := newWorld(t)
	r := w.relayWith(shop())
	token, err := r.secrets.Add("eve")
	if err != nil {
		t.Fatal(err)
	}
	m := modern{t, "http://" + r.Address() + "/mcp", token}
	_, early := m.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "", "", "")
	faulttest.Answered(t, "before-initialize", early, false)

	a := w.agent(nobodyStarts)
	faulttest.Answered(t, "exit-before-shutdown", a.says(`{"jsonrpc":"2.0","id":1,"method":"exit"}`), false)
	a = w.agent(nobodyStarts)
	if answer := a.says(`{"jsonrpc":"2.0","id":1,"method":"shutdown"}`); !bytes.Contains(answer,
		[]byte(`"result":{}`)) {
		t.Errorf("shutdown: %s", answer)
	}
	faulttest.Answered(t, "work-while-stopping", a.says(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`), false)
}

// An agent whose relay cannot be had is told so, and what to do.
func TestSituationOfMinimalMode(t *testing.T) {
	a := newWorld(t).agent(func(context.Context) (join.State, error) {
		return join.State{},
			errors.New("the disk is full")
	})
	faulttest.Answered(t, "method-in-minimal-mode", a.says(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), false)
	faulttest.Answered(t, "method-in-minimal-mode",
		a.says(`{"jsonrpc":"2.0","id":2,"method":"tools/list",`+
			`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`), true)
}

// A wrong token is answered by the access guard: a status, with what to do.
func TestSituationOfAWrongToken(t *testing.T) {
	w := newWorld(t)
	r := w.relayWith(shop())
	m := modern{t, "http://" + r.Address() + "/mcp", "wrong"}
	status, body := m.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "", "", "")
	if status != http.StatusUnauthorized {
		t.Errorf("status %d", status)
	}
	faulttest.Answered(t, "wrong-token", body, true)
}

// Rows of tools, all the way from a page to an agent.
func TestSituationsAsAnAgentReadsThem(t *testing.T) {
	w := newWorld(t)
	r := w.relayWith(shop())
	a, m := w.agent(nobodyStarts), w.modern(r)
	id := 0
	call := func(tool string) (legacy, modern []byte) {
		id++
		params := fmt.Sprintf(`"name":%q,"arguments":{}`, tool)
		return a.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s}}`, id, params)),
			m.ask("tools/call", params)
	}
	legacy, later := call("shop__read")
	faulttest.Answered(t, "never-connected", legacy, false)
	faulttest.Answered(t, "never-connected", later, true)
	w.browser(func(c *hubtest.Call) {
		c.Started()
		c.Throw(json.RawMessage(`{"code":"NOT_FOUND","category":"not_found","message":"There is no such page"}`))
	})
	legacy, later = call("shop__read")
	faulttest.Answered(t, "page-has-no-such-thing", legacy, false)
	faulttest.Answered(t, "page-has-no-such-thing", later, true)
}

func TestSituationOfAPortThatIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // at the end of the test
	w := newWorld(t)
	cfg := openConfig()
	cfg.Listen, cfg.Demo.Listen = l.Addr().String(), ""
	_, err = New(t.Context(), cfg, Options{Home: w.home, Log: zerolog.Nop(), Plugins: []plugin.Plugin{}})
	var failure *fault.Error
	if !errors.As(err, &failure) {
		t.Fatalf("got %v", err)
	}
	faulttest.Provoked(t, "port-taken", failure)
}

// A page that throws everything it has, into every field: an agent sees none of it.
func TestAnAgentSeesNoSecrets(t *testing.T) {
	w := newWorld(t)
	r := w.relayWith(shop())
	const spill = "open /home/ann/.tabrelay/secrets.json with Bearer abc123def456ghi789\n    at f " +
		"(chrome-extension://abcdefghijklmnopabcdefghijklmnop/a.js:1:2)\n" +
		`C:\Users\ann\x.db https://a.example/?token=abc123def Cookie: sid=abc123`
	thrown, err := json.Marshal(map[string]any{"code": "NOT_FOUND", "category": "not_found", "retryable": false,
		"message": spill})
	if err != nil {
		t.Fatal(err)
	}
	w.browser(func(c *hubtest.Call) {
		c.Started()
		if c.Tool == "read" {
			c.End(&wire.Outcome{Status: wire.Threw, Started: true, ConsoleTail: spill, Error: thrown}, nil)
			return
		}
		c.Refuse(wire.Refusal{Code: "INJECTION_FAILED", Outcome: "not_executed", Message: spill})
	})
	m := w.modern(r)
	for _, tool := range []string{"shop__read", "shop__pay"} {
		answer := m.ask("tools/call", fmt.Sprintf(`"name":%q,"arguments":{}`, tool))
		if !bytes.Contains(answer, []byte(`"isError":true`)) {
			t.Errorf("%s: %s", tool, answer)
		}
		for _, leak := range faulttest.Leaks(string(answer)) {
			t.Errorf("%s: shows %s: %s", tool, leak, answer)
		}
	}
}
