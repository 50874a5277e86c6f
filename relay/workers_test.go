package relay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/capability/delegation"
	"tabrelay/relay/capability/delegation/agentconfig"
	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
)

// TestMain makes the test binary a worker's program, or the stdio proxy that such a program starts.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "mcp":
		proxy := join.Proxy{Home: config.Home(os.Getenv("TABRELAY_HOME")), Version: "99.0.0", Start: nobodyStarts,
			Token: os.Getenv("TABRELAY_TOKEN"), In: os.Stdin, Out: os.Stdout, Log: zerolog.Nop()}
		if proxy.Run(context.Background()) != nil {
			os.Exit(1)
		}
	case os.Getenv("RELAY_TEST_WORKER") != "":
		playWorker(os.Getenv("RELAY_TEST_WORKER") == "http")
	default:
		os.Exit(m.Run())
	}
}

// playWorker is a program of the Agent Client Protocol. A prompt is an MCP request that it sends to the relay, and the
// answer is its own.
func playWorker(overHTTP bool) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	say := func(m map[string]any) {
		m["jsonrpc"] = "2.0"
		text, _ := json.Marshal(m)
		_, _ = os.Stdout.Write(append(text, '\n'))
	}
	var ask func(string) string
	var prompt json.RawMessage // the id of the last one
	for in.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Prompt     []struct{ Text string }
				McpServers []mcpServer
			}
			Result json.RawMessage
		}
		_ = json.Unmarshal(in.Bytes(), &m)
		done := func(text string) {
			say(map[string]any{"method": "session/update", "params": map[string]any{"sessionId": "s1",
				"update": map[string]any{"sessionUpdate": "agent_message_chunk",
					"content": map[string]any{"type": "text", "text": text}}}})
			say(map[string]any{"id": prompt, "result": map[string]any{"stopReason": "end_turn"}})
		}
		switch m.Method {
		case "initialize":
			say(map[string]any{"id": m.ID, "result": map[string]any{"protocolVersion": 1,
				"agentCapabilities": map[string]any{"mcpCapabilities": map[string]any{"http": overHTTP}}}})
		case "session/new":
			ask = m.Params.McpServers[0].connect()
			say(map[string]any{"id": m.ID, "result": map[string]any{"sessionId": "s1"}})
		case "session/prompt":
			prompt = m.ID
			switch text := m.Params.Prompt[0].Text; text {
			case "die":
				os.Exit(9)
			case "ask":
				say(map[string]any{"id": "q", "method": "elicitation/create", "params": map[string]any{
					"sessionId": "s1", "mode": "form", "message": "Which colour?", "requestedSchema": map[string]any{
						"type": "object", "properties": map[string]any{"colour": map[string]any{"type": "string"}}}}})
			case "blue":
				done("It is painted blue.")
			case "hang":
			case "babble":
				say(map[string]any{"id": m.ID, "result": "It is done."})
			case "refuse":
				say(map[string]any{"id": m.ID, "error": map[string]any{"code": -32603, "message": "I cannot do that"}})
			case "remove":
				say(map[string]any{"id": "q", "method": "session/request_permission", "params": map[string]any{
					"sessionId": "s1",
					"toolCall":  map[string]any{"toolCallId": "1", "title": "Remove x", "kind": "delete"},
					"options": []any{map[string]any{"kind": "allow_once", "name": "Yes", "optionId": "yes"},
						map[string]any{"kind": "reject_once", "name": "No", "optionId": "no"}}}})
			default:
				done(ask(text))
			}
		case "": // the answer to our question
			done("answered " + string(m.Result))
		}
	}
}

// mcpServer is our own MCP server, as the program is told of it.
type mcpServer struct {
	URL     string
	Headers []struct{ Name, Value string }
	Command string
	Args    []string
	Env     []struct{ Name, Value string }
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"worker","version":"1"}}}`

// connect begins a conversation with it: what is asked there returns the answer.
func (s mcpServer) connect() (ask func(string) string) {
	if s.URL != "" {
		return s.connectHTTP()
	}
	proxy := exec.Command(s.Command, s.Args...)
	proxy.Env = os.Environ()
	for _, v := range s.Env {
		proxy.Env = append(proxy.Env, v.Name+"="+v.Value)
	}
	to, _ := proxy.StdinPipe()
	from, _ := proxy.StdoutPipe()
	_ = proxy.Start()
	lines := bufio.NewReader(from)
	ask = func(text string) string {
		_, _ = io.WriteString(to, text+"\n")
		for {
			line, err := lines.ReadString('\n')
			if err != nil || strings.Contains(line, `"id":`) {
				return line
			}
		}
	}
	ask(hello)
	return ask
}

func (s mcpServer) connectHTTP() func(string) string {
	session := ""
	ask := func(text string) string {
		req, err := http.NewRequest(http.MethodPost, s.URL, strings.NewReader(text))
		if err != nil {
			return err.Error()
		}
		for _, h := range s.Headers {
			req.Header.Set(h.Name, h.Value)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Session-Id", session)
		if session == "" {
			req.Header.Del("Mcp-Session-Id")
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err.Error()
		}
		defer res.Body.Close() // only read from
		session = res.Header.Get("Mcp-Session-Id") + session
		answer, _ := io.ReadAll(res.Body)
		return fmt.Sprint(res.StatusCode, " ", string(answer))
	}
	ask(hello)
	return ask
}

// relayTools are the tools of a relay, as delegated agents have them.
type relayTools struct{ *Relay }

func (t relayTools) List(call.Session) []*registry.Tool { return nil }

func (t relayTools) Offer() *registry.Offer { return &registry.Offer{} }

func (t relayTools) Find(name string) (*registry.Tool, bool) { return t.tools.Snapshot().Find(name) }

func (t relayTools) Reserve(string) call.Position { return 0 }

func (t relayTools) Do(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
	return t.calls.Do(ctx, c)
}

// errand is a session with an agent that is a program.
type errand struct {
	t       *testing.T
	program *delegation.Program
	session *delegation.Session
	told    []string
}

func newErrand(t *testing.T, r *Relay, mode string) *errand {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return newErrandOf(t, r, agentconfig.Worker{Command: binary, Protocol: "acp",
		Env: map[string]string{"RELAY_TEST_WORKER": mode}})
}

// newErrandOf is newErrand with a program of another kind.
func newErrandOf(t *testing.T, r *Relay, c agentconfig.Worker) *errand {
	t.Helper()
	w, program := delegationOf(r).NewWorker("tester", c)
	t.Cleanup(w.Close)
	s := &delegation.Session{
		ID: "0123456789abcdef0123456789abcdef", AgentID: "tester", Tools: relayTools{r},
		Asker: call.Session{ID: "stdio:1", Client: "ann", Via: call.ViaStdio},
		Acts: call.Session{ID: "stdio:1/session:agent-01234567", Client: "ann", Via: call.ViaStdio,
			Bounds: &call.Bounds{By: delegation.Name, Agent: "tester", Session: "0123456789abcdef0123456789abcdef",
				Asker: "stdio:1"}},
	}
	e := &errand{t: t, program: program, session: s}
	e.open()
	return e
}

func (e *errand) open() {
	e.t.Helper()
	if failure := e.program.Open(e.t.Context(), e.session); failure != nil {
		e.t.Fatal(failure, string(failure.Data))
	}
}

func (e *errand) prompt(text string) (delegation.Answer, delegation.Summary, *fault.Error) {
	p := delegation.Prompt{Text: text, Tell: func(p call.Progress) { e.told = append(e.told, p.Message) }}
	turn := e.session.Begin(e.t.Context(), p, delegation.Budget{MaxToolCalls: 2})
	answer, failure := e.program.Prompt(turn.Context(), e.session, p)
	return answer, turn.End(), failure
}

func toolCall(tool, arguments, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":%s}}`,
		tool, arguments, meta)
}

// A program calls our tools with a token of its own, over HTTP or through a stdio proxy, as the session that it was
// given and no other; its calls are counted and bounded, and the token is of no use afterwards.
func TestProgramsUseTools(t *testing.T) {
	for _, mode := range []string{"http", "stdio"} {
		t.Run(mode, func(t *testing.T) {
			w := newWorld(t)
			r, _ := w.relay()
			seen := make(chan call.Session, 10)
			w.browser(func(c *hubtest.Call) {
				for _, one := range r.calls.Running() {
					seen <- one.Session
				}
				c.Started()
				c.Return(json.RawMessage(`{"ok":true}`))
			})
			e := newErrand(t, r, mode)
			defer e.program.Close(e.session, delegation.Closed)
			answer, did, failure := e.prompt(toolCall("shop__pay", `{}`, `{"tabrelay/session":"somebody"}`))
			if failure != nil || !strings.Contains(answer.Text, `{\"ok\":true}`) || answer.StopReason != "end_turn" {
				t.Fatalf("answer %+v, failure %v", answer, failure)
			}
			if got := <-seen; got != e.session.Acts {
				t.Errorf("the call was made by %+v", got)
			}
			if len(did.Actions) != 1 || did.Actions[0].Tool != "shop__pay" || !did.Actions[0].OK {
				t.Errorf("actions %+v", did.Actions)
			}
			if told := strings.Join(e.told, "|"); !strings.Contains(told, "shop__pay") {
				t.Errorf("told %s", told)
			}
			answer, _, _ = e.prompt(`{"jsonrpc":"2.0","id":8,"method":"resources/read",` +
				`"params":{"uri":"tab://7/text"}}`)
			if r.attached.resources() != nil &&
				!strings.Contains(answer.Text, "An agent that acts for a client may use tools, and no resources") {
				t.Errorf("a resource: %s", answer.Text)
			}
		})
	}
}

// What came with a token ends with it, and outside of a turn it does nothing.
func TestTokensOfSessionsEnd(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	w.browser(func(c *hubtest.Call) { c.Started() }) // and never ends it
	s := call.Session{ID: "x", Client: "ann", Bounds: &call.Bounds{Agent: "a", Session: "s"}}
	token, revoke := r.clients.Lend(s)
	send := func(path, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+r.Address()+path,
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close() // only read from
		text, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(text)
	}
	if code, text := send("/mcp", hello); code != http.StatusOK {
		t.Fatal(code, text)
	}
	if code, _ := send("/api/v1/tools/shop__pay/call", `{}`); code != http.StatusForbidden {
		t.Errorf("a tool beside MCP: %d", code)
	}
	if _, failure := delegationOf(r).Running().Bounded.Do(t.Context(), call.Call{Session: s}); failure == nil ||
		failure.Code != codes.SessionNotFound {
		t.Errorf("a call of a session that nobody has: %v", failure)
	}
	if r.front.Sessions()["ann"] != 1 {
		t.Errorf("sessions %v", r.front.Sessions())
	}
	revoke()
	revoke()
	if code, _ := send("/mcp", hello); code != http.StatusUnauthorized || r.front.Sessions()["ann"] != 0 {
		t.Errorf("a revoked token: %d, %v", code, r.front.Sessions())
	}
	conn, err := join.Dial(t.Context(), w.home)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() // it has ended
	if answer := introduce(t, conn, fmt.Sprintf(`{"attach":{"key":"%032d","token":%q,"version":"1"}}`, 1,
		token)); answer.Refused == nil {
		t.Errorf("a revoked token attached: %+v", answer)
	}
}

// The caller is told that the program ended, and the next session starts it anew.
func TestProgramThatEnds(t *testing.T) {
	r, _ := newWorld(t).relay()
	e := newErrand(t, r, "http")
	_, _, failure := e.prompt("die")
	if failure == nil || failure.Code != codes.WorkerFailed || *failure.SessionValid {
		t.Fatalf("failure %+v", failure)
	}
	e.program.Close(e.session, delegation.Failed)
	e.open()
	defer e.program.Close(e.session, delegation.Closed)
	answer, _, failure := e.prompt(`{"jsonrpc":"2.0","id":8,"method":"ping"}`)
	if failure != nil || !strings.Contains(answer.Text, `"result":{}`) {
		t.Errorf("answer %+v, failure %v", answer, failure)
	}
}

// What a program wants to do by itself is asked of the person, once.
func TestProgramsAskThePerson(t *testing.T) {
	for _, allow := range []bool{true, false} {
		t.Run(fmt.Sprint(allow), func(t *testing.T) {
			r, _ := newWorld(t).relay()
			e := newErrand(t, r, "http")
			defer e.program.Close(e.session, delegation.Closed)
			asked := make(chan call.Approval, 1)
			go func() {
				list := r.policy.Pending("")
				for ; len(list) == 0; list = r.policy.Pending("") {
					<-time.After(time.Millisecond)
				}
				asked <- list[0]
				always := call.Decision{Allow: true, For: "always", By: "terminal"}
				if err := r.policy.Answer(t.Context(), list[0].ID, "", always); allow && err == nil {
					t.Error("it could be allowed for ever")
				}
				_ = r.policy.Answer(t.Context(), list[0].ID, "", call.Decision{Allow: allow, By: "terminal"})
			}()
			answer, _, failure := e.prompt("remove")
			want := map[bool]string{true: `"optionId":"yes"`, false: `"optionId":"no"`}[allow]
			if failure != nil || !strings.Contains(answer.Text, want) {
				t.Errorf("answer %+v, failure %v", answer, failure)
			}
			q := <-asked
			text, _ := json.Marshal(q)
			for _, part := range []string{"Remove x", "The program of the delegated agent tester", "an errand of ann",
				`"once"`} {
				if !bytes.Contains(text, []byte(part)) {
					t.Errorf("%s is not in %s", part, text)
				}
			}
		})
	}
}
