package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/road/fault"
)

// modeVariable makes the test binary one of the programs below.
const modeVariable = "WORKER_TEST_MODE"

func TestMain(m *testing.M) {
	switch mode := os.Getenv(modeVariable); mode {
	case "":
	case "relay":
		playRelay()
		return
	default:
		play(mode)
		return
	}
	fault.Attach(codes.Group)
	os.Exit(m.Run())
}

// playRelay is a relay with a worker that is deaf, until it is killed.
func playRelay() {
	binary, _ := os.Executable()
	w := New(Options{ID: "deaf", Command: binary, Folder: os.Getenv("FOLDER"), Protocol: ACP, Log: zerolog.Nop(),
		Env: map[string]string{modeVariable: "deaf", "PIDS": os.Getenv("PIDS")}})
	if _, failure := w.Open(context.Background(), Tools{}); failure != nil {
		fmt.Println(failure)
		return
	}
	fmt.Println(w.current.process.pid())
	select {}
}

// block is a part of a prompt.
type block struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
	Data     string `json:"data,omitempty"`
}

// said is a message that a program of these tests got.
type said struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		AgentID         string          `json:"agentId"`
		SessionID       string          `json:"sessionId"`
		Input           string          `json:"input"`
		Cwd             string          `json:"cwd"`
		Prompt          []block         `json:"prompt"`
		McpServers      json.RawMessage `json:"mcpServers"`
		ProtocolVersion int             `json:"protocolVersion"`
		Capabilities    json.RawMessage `json:"clientCapabilities"`
		Meta            json.RawMessage `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// text is what a prompt says, in either dialect.
func (s said) text() string {
	if len(s.Params.Prompt) > 0 {
		return s.Params.Prompt[0].Text
	}
	return s.Params.Input
}

// player is one of the programs.
type player struct {
	mode     string
	in       *bufio.Scanner
	sessions int
	turns    map[string]int
	prompt   said            // the one that is not answered yet
	asked    json.RawMessage // what session/new was told
	asks     bool            // it was told that it can ask questions
}

// play is a program, by what its mode says.
func play(mode string) {
	p := &player{mode: mode, in: bufio.NewScanner(os.Stdin), turns: map[string]int{}}
	p.in.Buffer(nil, 64<<20)
	switch mode {
	case "noisy":
		fmt.Fprintln(os.Stderr, "TOKEN="+os.Getenv("MY_TOKEN")+" in "+os.Getenv("PLACE")+"/file.txt")
		fmt.Fprintln(os.Stderr, "the last words")
		os.Exit(3)
	case "garbage-at-start":
		fmt.Println("Welcome to the program!")
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		child := exec.Command("sleep", "1000")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		_ = child.Start()
		_ = os.WriteFile(os.Getenv("PIDS"), []byte(strconv.Itoa(child.Process.Pid)), 0o600)
		defer func() { select {} }() // it does not end with its input either
	}
	for p.in.Scan() {
		var m said
		if json.Unmarshal(p.in.Bytes(), &m) == nil {
			p.hear(m)
		}
	}
}

func (p *player) answer(id json.RawMessage, result any) {
	p.say(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

func (p *player) refuse(id json.RawMessage, code int, message string) {
	p.say(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message}})
}

func (p *player) say(message any) {
	text, _ := json.Marshal(message)
	_, _ = os.Stdout.Write(append(text, '\n'))
}

// update says what the program of the Agent Client Protocol does.
func (p *player) update(session string, update map[string]any) {
	p.say(map[string]any{"jsonrpc": "2.0", "method": "session/update", "params": map[string]any{
		"sessionId": session, "update": update}})
}

func (p *player) chunk(session, text string) {
	p.update(session, map[string]any{"sessionUpdate": "agent_message_chunk",
		"content": map[string]any{"type": "text", "text": text}})
}

func (p *player) hear(m said) {
	bus := strings.HasPrefix(p.mode, "bus")
	switch {
	case m.Method == "initialize" && bus:
		p.refuse(m.ID, methodNotFound, "Method not found")
	case m.Method == "initialize":
		p.initialize(m)
	case m.Method == "session/new":
		p.sessions++
		p.asked, _ = json.Marshal(map[string]any{"cwd": m.Params.Cwd, "servers": m.Params.McpServers,
			"agent": m.Params.AgentID})
		if strings.HasPrefix(p.mode, "signed-out") {
			p.refuse(m.ID, authRequired, "Authentication required")
			return
		}
		id := fmt.Sprintf("s%d", p.sessions)
		if p.mode == "no-session" {
			id = ""
		}
		p.answer(m.ID, map[string]any{"sessionId": id})
	case m.Method == "session/prompt" && bus:
		p.busPrompt(m)
	case m.Method == "session/prompt":
		p.acpPrompt(m)
	case m.Method == "session/close":
		p.answer(m.ID, map[string]any{})
	case m.Method == "session/cancel":
		p.cancel(m)
	case m.Method == "" && m.Error != nil:
		p.chunk(p.prompt.Params.SessionID, "refused: "+string(m.Error))
		p.end("end_turn")
	case m.Method == "" && m.Result != nil: // to our question for permission
		p.chunk(p.prompt.Params.SessionID, "permission: "+string(m.Result))
		p.end("end_turn")
	}
}

func (p *player) initialize(m said) {
	version := 1
	if p.mode == "version-2" {
		version = 2
	}
	ways := []any{}
	var can struct {
		Auth        struct{ Terminal bool }
		Elicitation struct{ Form *struct{} }
	}
	_ = json.Unmarshal(m.Params.Capabilities, &can)
	p.asks = can.Elicitation.Form != nil
	switch {
	case p.mode == "signed-out":
		ways = append(ways, map[string]any{"id": "key", "name": "API key", "description": "Set THE_KEY"})
	case p.mode == "signed-out-terminal" && can.Auth.Terminal:
		ways = append(ways, map[string]any{"id": "key", "name": "API key"}, map[string]any{"id": "login",
			"name": "Subscription", "type": "terminal", "args": []string{"auth", "login"}})
	}
	p.answer(m.ID, map[string]any{"protocolVersion": version, "authMethods": ways,
		"agentCapabilities": map[string]any{"mcpCapabilities": map[string]any{"http": p.mode == "http"},
			"promptCapabilities": map[string]any{"image": p.mode == "sees"}}})
}

// end answers the prompt.
func (p *player) end(reason string) {
	p.answer(p.prompt.ID, map[string]any{"stopReason": reason,
		"usage": map[string]any{"inputTokens": 7, "outputTokens": 3, "totalTokens": 10, "cachedReadTokens": 2}})
}

func (p *player) cancel(m said) {
	switch {
	case p.mode == "stubborn":
	case len(m.ID) > 0: // stdiobus
		p.answer(m.ID, map[string]any{})
		p.answer(p.prompt.ID, map[string]any{"text": "half", "stopReason": "cancelled"})
	default:
		p.end("cancelled")
	}
}

var product = regexp.MustCompile(`(\d+)\s*\*\s*(\d+)`)

func (p *player) busPrompt(m said) {
	p.prompt = m
	id := m.Params.SessionID
	p.turns[id]++
	switch p.mode {
	case "bus-stateful":
		p.answer(m.ID, map[string]any{"text": fmt.Sprintf("Echo[%d]: %s", p.turns[id], m.Params.Input),
			"stopReason": "end_turn", "requestId": "r1", "usage": map[string]int{"inputTokens": 4, "outputTokens": 5}})
	case "bus-math":
		f := product.FindStringSubmatch(m.Params.Input)
		a, _ := strconv.Atoi(f[1])
		b, _ := strconv.Atoi(f[2])
		p.answer(m.ID, map[string]any{"text": fmt.Sprintf("Result: %d", a*b), "stopReason": "end_turn"})
	case "bus-failing":
		p.refuse(m.ID, -32603, "Intentional failure in "+os.Getenv("PLACE"))
	case "bus-malformed":
		p.say(json.RawMessage(m.Params.Input + string(m.ID) + "}"))
	case "bus-hang":
	default:
		p.answer(m.ID, map[string]any{"text": "Echo: " + m.Params.Input, "stopReason": "end_turn"})
	}
}

func (p *player) acpPrompt(m said) {
	p.prompt = m
	id := m.Params.SessionID
	switch what := m.text(); what {
	case "crash":
		p.chunk(id, "I began")
		fmt.Fprintln(os.Stderr, "panic: out of ideas")
		os.Exit(7)
	case "hang":
		p.chunk(id, "I began")
		p.update(id, map[string]any{"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Thinking",
			"status": "in_progress"})
	case "permission":
		p.say(map[string]any{"jsonrpc": "2.0", "id": "q1", "method": "session/request_permission",
			"params": map[string]any{"sessionId": id, "toolCall": map[string]any{"toolCallId": "c1",
				"title": "Remove a file", "kind": "delete", "content": []any{
					map[string]any{"type": "content", "content": map[string]any{"type": "text", "text": "It is old."}},
					map[string]any{"type": "diff", "path": "b.txt", "newText": "Nothing."}},
				"rawInput": map[string]any{"path": "a.txt"}, "locations": []any{map[string]any{"path": "/tmp/a.txt"}}},
				"options": []any{map[string]any{"kind": "allow_always", "name": "Always", "optionId": "always"},
					map[string]any{"kind": "allow_once", "name": "Yes", "optionId": "yes"},
					map[string]any{"kind": "reject_once", "name": "No", "optionId": "no"}}}})
	case "question", "question by address":
		if !p.asks {
			p.chunk(id, "nobody can be asked")
			p.end("end_turn")
			return
		}
		mode := "form"
		if what != "question" {
			mode = "url"
		}
		p.say(map[string]any{"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create",
			"params": map[string]any{"sessionId": id, "mode": mode, "message": "Which colour?",
				"url": "http://127.0.0.1:1/", "elicitationId": "e1",
				"requestedSchema": map[string]any{"type": "object", "properties": map[string]any{
					"colour": map[string]any{"type": "string"}}}}})
	case "trace":
		p.chunk(id, string(m.Params.Meta))
		p.end("end_turn")
	case "garbage":
		for range 3 {
			fmt.Println("loading the model…")
		}
	case "one garbage line":
		fmt.Println("loading the model…")
		p.chunk(id, "fine")
		p.end("end_turn")
	case "long update":
		p.chunk(id, strings.Repeat("x", maxLine))
		p.chunk(id, "the rest")
		p.end("end_turn")
	case "long answer":
		p.say(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": map[string]any{"stopReason": "end_turn",
			"_meta": strings.Repeat("x", maxLine)}})
	case "draw": // what it got, and what nobody should get
		for _, b := range append(m.Params.Prompt[1:], block{"image", "", "image/svg+xml", "PHN2Zy8+"},
			block{"image", "", "image/png", "PHN2Zy8+"}, block{"image", "", "image/png", "*"},
			block{"image", "", "image/png", strings.Repeat("A", 8<<20)}) {
			p.update(id, map[string]any{"sessionUpdate": "agent_message_chunk", "content": b})
		}
		p.end("end_turn")
	case "file":
		p.say(map[string]any{"jsonrpc": "2.0", "id": "f1", "method": "fs/read_text_file",
			"params": map[string]any{"sessionId": id, "path": "/etc/passwd"}})
		p.in.Scan()
		p.chunk(id, p.in.Text())
		p.end("end_turn")
	case "last words":
		p.chunk(id, "done")
		p.end("end_turn")
		os.Exit(0)
	case "burst":
		for range 3000 {
			p.chunk(id, "x")
		}
		p.end("end_turn")
	case "what did you get":
		p.chunk(id, string(p.asked))
		p.end("end_turn")
	case "environment":
		p.chunk(id, strings.Join(os.Environ(), "\n"))
		p.end("end_turn")
	case "close output":
		_ = os.Stdout.Close()
		_, _ = io.Copy(io.Discard, os.Stdin)
		time.Sleep(time.Hour)
	default:
		p.play(id, what)
	}
}

// play does something with a tool, and says what it was asked.
func (p *player) play(id, what string) {
	p.chunk(id, "Let me ")
	p.chunk(id, "look.")
	p.update(id, map[string]any{"sessionUpdate": "plan", "entries": []any{map[string]any{"content": "look",
		"priority": "high", "status": "in_progress"}}})
	p.update(id, map[string]any{"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Reading",
		"status": "pending"})
	p.update(id, map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"})
	p.chunk(id, "You said: "+what)
	p.end("end_turn")
}
