package front

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing/synctest"

	"tabrelay/relay/lib/rawjson"
)

// rpcMessage is one message of a server.
type rpcMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Token    json.RawMessage            `json:"progressToken"`
		Progress float64                    `json:"progress"`
		Level    string                     `json:"level"`
		Meta     map[string]json.RawMessage `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// messages are what came back so far, in order.
func (x *httpExchange) messages() []rpcMessage {
	synctest.Wait()
	x.mu.Lock()
	defer x.mu.Unlock()
	return readMessages(x.text.String())
}

func readMessages(text string) (all []rpcMessage) {
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(line, "data: ")
		batch, isBatch := rawjson.Items([]byte(line))
		if !isBatch {
			batch = []json.RawMessage{json.RawMessage(line)}
		}
		for _, text := range batch {
			var m rpcMessage
			if text[0] == '{' && json.Unmarshal(text, &m) == nil {
				all = append(all, m)
			}
		}
	}
	return all
}

// pipe is a client on stdio.
type pipe struct {
	side *side
	in   *io.PipeWriter
	done chan struct{}
	mu   sync.Mutex
	out  bytes.Buffer
}

func (s *side) stdio() *pipe {
	r, w := io.Pipe()
	p := &pipe{side: s, in: w, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = s.serve(context.Background(), r, p)
		_ = r.Close() // what is sent from now on goes nowhere
	}()
	return p
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *pipe) send(lines ...string) {
	for _, line := range lines {
		_, _ = io.WriteString(p.in, line+"\n")
	}
}

// answer waits for the answer to a request, and returns every message up to it; nil when none came.
func (p *pipe) answer(id string) (messages []rpcMessage) {
	p.side.until(func() bool {
		messages = p.messages()
		for i, m := range messages {
			if string(m.ID) == id {
				messages = messages[:i+1]
				return true
			}
		}
		messages = nil
		return false
	})
	return messages
}

func (p *pipe) messages() []rpcMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return readMessages(p.out.String())
}

func (p *pipe) end() {
	_ = p.in.Close()
	<-p.done
}

func stepsCall(id int, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"demo__steps","arguments":%s,`+
		`"_meta":{"progressToken":%d}}}`, id, arguments, id)
}

func waitCall(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"demo__wait"}}`
}

func cancelOf(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
}

// whole reports whether messages are n steps of progress for the request, in order, and then its answer.
func whole(messages []rpcMessage, id, n int) bool {
	if len(messages) != n+1 || string(messages[n].ID) != fmt.Sprint(id) {
		return false
	}
	for i, m := range messages[:n] {
		if m.Method != "notifications/progress" || string(m.Params.Token) != fmt.Sprint(id) ||
			m.Params.Progress != float64(i+1) {
			return false
		}
	}
	return true
}
