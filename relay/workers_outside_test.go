package relay

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/capability/delegation"
	"tabrelay/relay/capability/delegation/agentconfig"
)

// scripted is a model that calls the reading tool of the shop once, and then says what that answered.
func scripted(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct{ Function struct{ Name string } }
	}
	_ = json.NewDecoder(r.Body).Decode(&request) // what is none is answered, too
	delta, reason := map[string]any{"role": "assistant", "content": "A title"}, "stop"
	last := request.Messages[len(request.Messages)-1]
	for _, tool := range request.Tools {
		if name := tool.Function.Name; strings.HasSuffix(name, "shop__read") {
			delta, reason = map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"index": 0,
				"id": "call_1", "type": "function", "function": map[string]any{"name": name, "arguments": "{}"}}}},
				"tool_calls"
		}
	}
	if last.Role == "tool" {
		delta, reason = map[string]any{"role": "assistant", "content": "It said " + string(last.Content)}, "stop"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []map[string]any{{"index": 0, "delta": delta},
		{"index": 0, "delta": map[string]any{}, "finish_reason": reason}} {
		text, _ := json.Marshal(map[string]any{"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m",
			"choices": []any{choice}, "usage": map[string]int{"prompt_tokens": 9, "completion_tokens": 1}})
		_, _ = fmt.Fprintf(w, "data: %s\n\n", text) // it left
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n") // as above
}

// opencode, from the npm registry, is a worker: it gets our tools, calls one, and answers. Its model is a script, so it
// needs no network. `make clients` installs it.
func TestOpencodeAsWorker(t *testing.T) {
	found, _ := filepath.Glob("../e2e/outside/clients/node_modules/opencode-linux-x64/bin/opencode")
	if len(found) == 0 {
		t.Skip("make clients installs opencode and runs this")
	}
	binary, err := filepath.Abs(found[0])
	if err != nil {
		t.Fatal(err)
	}
	model := httptest.NewServer(http.HandlerFunc(scripted))
	defer model.Close()
	settings, _ := json.Marshal(map[string]any{"model": "scripted/m", "autoupdate": false, "share": "disabled",
		"provider": map[string]any{"scripted": map[string]any{"npm": "@ai-sdk/openai-compatible", "name": "Scripted",
			"options": map[string]any{"baseURL": model.URL + "/v1", "apiKey": "none"},
			"models":  map[string]any{"m": map[string]any{"name": "M", "tool_call": true}}}}})
	home := t.TempDir()
	world := newWorld(t)
	r, _ := world.relay()
	world.browser(func(c *hubtest.Call) {
		c.Started()
		c.Return(json.RawMessage(`{"total":"42 euros"}`))
	})
	e := newErrandOf(t, r, agentconfig.Worker{Command: binary, Args: []string{"acp"}, Protocol: "auto",
		Timeout: 2 * time.Minute, Env: map[string]string{
			"HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home, "XDG_CACHE_HOME": home,
			"XDG_STATE_HOME":          home,
			"OPENCODE_CONFIG_CONTENT": string(settings), "OPENCODE_DISABLE_MODELS_FETCH": "1",
		}})
	defer e.program.Close(e.session, delegation.Closed)
	answer, did, failure := e.prompt("What is in the cart?")
	if failure != nil {
		t.Fatal(failure, string(failure.Data))
	}
	if !strings.Contains(answer.Text, "42 euros") || answer.StopReason != "end_turn" {
		t.Errorf("answer %+v", answer)
	}
	if len(did.Actions) != 1 || did.Actions[0].Tool != "shop__read" || !did.Actions[0].OK {
		t.Errorf("actions %+v", did.Actions)
	}
}
