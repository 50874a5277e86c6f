//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// worker is a program that speaks the dialect of stdiobus. Its first argument says what it does with a prompt.
func worker() {
	prompts := map[string]int{}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ SessionID, Input string }
		}
		must(json.Unmarshal(in.Bytes(), &m))
		id, result := m.Params.SessionID, any(map[string]any{})
		var failure any
		switch m.Method {
		case "session/new":
			result = map[string]string{"sessionId": "s" + strconv.Itoa(len(prompts)+1)}
			prompts["s"+strconv.Itoa(len(prompts)+1)] = 0
		case "session/prompt":
			prompts[id]++
			var text string
			if text, failure = worked(os.Args[1], prompts[id], m.Params.Input); failure == nil {
				result = map[string]any{"text": text, "stopReason": "end_turn",
					"usage": map[string]int{"inputTokens": len(m.Params.Input), "outputTokens": len(text)}}
			}
		}
		answer := map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result}
		if failure != nil {
			delete(answer, "result")
			answer["error"] = failure
		}
		line, err := json.Marshal(answer)
		must(err)
		fmt.Println(string(line))
	}
}

// acpAgent is a program that speaks the Agent Client Protocol. Its first argument says what becomes of a session.
func acpAgent() {
	if os.Args[1] == "broken" {
		fmt.Fprintln(os.Stderr, "This program needs a newer runtime")
		os.Exit(1)
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		must(json.Unmarshal(in.Bytes(), &m))
		answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
		switch {
		case m.Method == "initialize":
			answer["result"] = map[string]any{"protocolVersion": 1, "authMethods": []any{map[string]any{
				"id": "login", "name": "Subscription", "type": "terminal", "args": []string{"login"}}}}
		case m.Method == "session/new" && os.Args[1] == "signed-out":
			answer["error"] = map[string]any{"code": -32000, "message": "Authentication required"}
		case m.Method == "session/new":
			answer["result"] = map[string]any{"sessionId": "s"}
		case m.Method == "session/prompt":
			fmt.Println(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` +
				`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ready"}}}}`)
			answer["result"] = map[string]any{"stopReason": "end_turn"}
		default:
			continue
		}
		line, err := json.Marshal(answer)
		must(err)
		fmt.Println(string(line))
	}
}

var product = regexp.MustCompile(`(\d+) \* (\d+)`)

// worked is what a worker of a kind answers to its nth prompt of a session.
func worked(kind string, n int, input string) (text string, failure any) {
	switch kind {
	case "echo":
		return fmt.Sprintf("Echo[%d]: %s", n, input), nil
	case "stateful":
		return fmt.Sprintf("Turn %d: %s, with %s", n, input, os.Getenv("WORKER_WORD")), nil
	case "math":
		found := product.FindStringSubmatch(input)
		a, _ := strconv.Atoi(found[1])
		b, _ := strconv.Atoi(found[2])
		return fmt.Sprintf("Result: %d", a*b), nil
	}
	return "", map[string]any{"code": -32000, "message": "Intentional failure in /home/somebody/secret/agent.ts:12"}
}

// delegator is an MCP client of the tools of delegation. It sends the calls of the file that is its first argument, one
// a line: a tool and its arguments, in which $NAME stands for a session id that a line "NAME = tool arguments" got. It
// prints the first text of each answer, as JSON on one line, with what differs from run to run left out.
func delegator() {
	file, err := os.ReadFile(os.Args[1])
	must(err)
	cmd := exec.Command("tabrelay", "mcp", "--toolset", "agents", "--client", "seed")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(err)
	out, err := cmd.StdoutPipe()
	must(err)
	must(cmd.Start())
	answers := bufio.NewScanner(out)
	answers.Buffer(nil, 1<<20)
	c := conversation{in: in, answers: answers, names: map[string]string{}}
	c.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"seed","version":"1"}}`)
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	must(err)
	for line := range strings.Lines(string(file)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			c.line(line)
		}
	}
	must(in.Close())
	must(cmd.Wait())
}

type conversation struct {
	in      io.Writer
	answers *bufio.Scanner
	n       int
	names   map[string]string // of sessions
}

// ask sends a request and returns the result.
func (c *conversation) ask(method, params string) json.RawMessage {
	c.n++
	_, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.n, method, params)
	must(err)
	for c.answers.Scan() {
		var m struct {
			ID     int
			Result json.RawMessage
		}
		must(json.Unmarshal(c.answers.Bytes(), &m))
		if m.ID == c.n {
			return m.Result
		}
	}
	must(io.ErrUnexpectedEOF)
	return nil
}

var (
	changing   = regexp.MustCompile(`"(createdAt|lastActivityAt|uptime)":\d+`)
	sessionIDs = regexp.MustCompile(`[0-9a-f]{32}`)
)

func (c *conversation) line(line string) {
	name, rest, named := strings.Cut(line, " = ")
	if !named {
		rest = line
	}
	tool, arguments, _ := strings.Cut(rest, " ")
	if tool == "tools/list" {
		var list struct{ Tools []struct{ Name string } }
		must(json.Unmarshal(c.ask(tool, "{}"), &list))
		for _, t := range list.Tools {
			fmt.Println(t.Name)
		}
		return
	}
	for known, id := range c.names {
		arguments = strings.ReplaceAll(arguments, "$"+known, id)
	}
	var result struct {
		Content           []struct{ Text string }
		IsError           bool
		StructuredContent json.RawMessage
	}
	if arguments == "" {
		arguments = "{}"
	}
	must(json.Unmarshal(c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments)), &result))
	text := result.Content[0].Text
	if !strings.HasPrefix(text, "{\n  \"") {
		must(fmt.Errorf("it is not indented by two blanks: %s", text))
	}
	var value map[string]any
	must(json.Unmarshal([]byte(text), &value))
	if id, ok := value["sessionId"].(string); ok && named {
		c.names[name] = id
	}
	shown, err := json.Marshal(value)
	must(err)
	failed := ""
	if result.IsError {
		failed = "failed "
	}
	still := changing.ReplaceAllString(string(shown), `"$1":0`)
	fmt.Println(failed + tool + " " + sessionIDs.ReplaceAllString(still, "ID"))
}
