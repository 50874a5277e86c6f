package provider_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/capability/delegation/provider/providertest"
)

const all = `"temperature": 0.5, "maxTokens": 9, "topP": 0.25, "topK": 3, "stopSequences": ["END"]`

// mapped is what a server was sent besides messages and tools.
func mapped(t *testing.T, kind provider.Kind, params string) map[string]any {
	t.Helper()
	s := providertest.New(t, kind, providertest.Step{Text: "ok"})
	r := ask("x")
	r.Params = read(t, params)
	complete(t, s.Provider(), r)
	return s.Requests()[0].Params
}

func TestOpenAIParameters(t *testing.T) {
	const longer, shorter = "max_completion_tokens", "max_tokens"
	for model, limit := range map[string]string{
		"gpt-4o": shorter, "gpt-4o-mini": shorter, "GPT-4O": shorter, "gpt-4": shorter, "gpt-4-turbo": shorter,
		"gpt-4.1": shorter, "gpt-4.1-nano": shorter, "gpt-3.5": shorter, "gpt-3.5-turbo": shorter,
		"gpt-4omni": longer, "gpt-45": longer, "gpt-5": longer, "gpt-5-mini": longer, "o1": longer, "o3": longer,
		"o3-mini": longer, "o4-mini": longer, "my-gpt-4": longer, "qwen3": longer,
	} {
		got := mapped(t, provider.OpenAI, `{"model": "`+model+`", `+all+`}`)
		want := map[string]any{"temperature": 0.5, limit: 9.0, "top_p": 0.25, "stop": []any{"END"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", model, diff)
		}
	}
	got := mapped(t, provider.OpenAI, `{"temperature": 1,
		"providerSpecific": {"temperature": 0, "seed": 7, "metadata": {"a": "b"}, "stream": false}}`)
	if diff := cmp.Diff(map[string]any{"temperature": 0.0, "seed": 7.0, "metadata": map[string]any{"a": "b"}},
		got); diff != "" {
		t.Error(diff)
	}
	if got := mapped(t, provider.OpenAI, `{}`); len(got) != 0 {
		t.Errorf("without parameters: %v", got)
	}
}

// stops asks once for each of a wire's own words.
func stops(t *testing.T, kind provider.Kind, words map[string]string) {
	t.Helper()
	for word, want := range words {
		s := providertest.New(t, kind, providertest.Step{Text: "ok", Stop: word})
		if got := complete(t, s.Provider(), ask("x")).StopReason; got != want {
			t.Errorf("%s is %q, want %q", word, got, want)
		}
	}
}

func TestOpenAIStopReasons(t *testing.T) {
	stops(t, provider.OpenAI, map[string]string{"stop": provider.EndTurn, "length": provider.MaxTokens,
		"content_filter": provider.ContentFilter, "insufficient_system_resource": "insufficient_system_resource"})
}

// whole answers a question with a body.
func whole(t *testing.T, kind provider.Kind, body string) provider.Completion {
	t.Helper()
	s := providertest.New(t, kind, providertest.Step{Status: 200, Body: body})
	return complete(t, s.Provider(), ask("x"))
}

// TestCompatibleServers answer in their own ways.
func TestCompatibleServers(t *testing.T) {
	call := func(id, arguments string) provider.ToolCall {
		return provider.ToolCall{ID: id, Name: "read", Arguments: json.RawMessage(arguments)}
	}
	for _, test := range []struct {
		name, body, text, stop string
		calls                  []provider.ToolCall
	}{
		{"without streams", `{"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}`, "whole",
			provider.EndTurn, nil},
		{"arguments as an object, and stop after a call", `{"choices": [{"message": {"content": null, "tool_calls":
			[{"id": "a", "function": {"name": "read", "arguments": {"x": 1}}}]}, "finish_reason": "stop"}]}`, "",
			provider.ToolUse, []provider.ToolCall{call("a", `{"x": 1}`)}},
		{"calls that all have index 0", `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a",
data: "function":{"name":"read","arguments":"{}"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b",
data: "function":{"name":"read","arguments":"{\"x\":"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"arguments":"2}"}}]},
data: "finish_reason":"tool_calls"}]}

data: [DONE]

`, "", provider.ToolUse, []provider.ToolCall{call("a", `{}`), call("b", `{"x":2}`)}},
		{"without a reason to stop", "data: {\"choices\":[{\"delta\":{\"content\":\"hm\"}}]}\n\ndata: [DONE]\n\n", "hm",
			provider.UnknownStop, nil},
		{"without a mark, an empty line or LF", "data:{\"choices\":[{\"delta\":{\"content\":\"hm\"}}]}\r\n\r\n" +
			"event: x\r\nid: 1\r\ndata:{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}", "hm",
			provider.EndTurn, nil},
		{"with a byte order mark", "\ufeff: hello\n\ndata: {\"choices\":[],\ndata: \"usage\":null}\n\n" +
			"data: {\"choices\":[{\"delta\":{\"content\":\"hm\"},\"finish_reason\":\"stop\"}]}\n\n", "hm",
			provider.EndTurn, nil},
		{"with a refusal", `{"choices": [{"message": {"refusal": "I will not."}, "finish_reason": "stop"}]}`,
			"I will not.", provider.EndTurn, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			done := whole(t, provider.OpenAI, test.body)
			want := provider.Message{Role: provider.Assistant, Text: test.text, Calls: test.calls}
			if diff := cmp.Diff(want, done.Message); diff != "" || done.StopReason != test.stop {
				t.Error(done.StopReason, diff)
			}
		})
	}
	done := whole(t, provider.OpenAI, `{"choices": [{"message": {"tool_calls": [{"function": {"name": "read"}},
		{"function": {"name": "read"}}]}}, {"message": {"content": "another choice"}}], "usage": {}, "error": null}
		`+strings.Repeat(" ", 5000))
	if c := done.Message.Calls; len(c) != 2 || c[0].ID == "" || c[0].ID == c[1].ID || string(c[1].Arguments) != "{}" {
		t.Errorf("calls without ids: %+v", done)
	}
}

// TestAServerWithoutStreamOptions is asked again, once in its life.
func TestAServerWithoutStreamOptions(t *testing.T) {
	s := providertest.NewFunc(t, provider.OpenAI, func(r providertest.Request) providertest.Step {
		if strings.Contains(string(r.Body), "stream_options") {
			return providertest.Step{Status: 422, Body: `{"message": "extra field: stream_options"}`}
		}
		return providertest.Step{Text: "ok"}
	})
	p := s.Provider()
	complete(t, p, ask("x"))
	complete(t, p, ask("y"))
	if s.HTTPCalls() != 3 {
		t.Errorf("%d HTTP calls", s.HTTPCalls())
	}
	s = providertest.New(t, provider.OpenAI, providertest.Step{Status: 400, Body: `{"message": "stream_options"}`},
		providertest.Step{Status: 400, Body: `{"message": "stream_options"}`})
	_, failed := s.Provider().Complete(t.Context(), ask("x"))
	if failed == nil || failed.Code != codes.ProviderBadRequest {
		t.Errorf("%v", failed)
	}
	if s.HTTPCalls() != 2 {
		t.Errorf("%d HTTP calls", s.HTTPCalls())
	}
}

// pictured asks with a tool that answered with a picture.
func pictured(t *testing.T, kind provider.Kind, model string) string {
	t.Helper()
	s := providertest.New(t, kind, providertest.Step{Text: "ok"})
	r := ask("look")
	r.Params = read(t, `{"model": "`+model+`"}`)
	r.Messages = append(r.Messages,
		provider.Message{Role: provider.Assistant, Calls: []provider.ToolCall{{ID: "a", Name: "shot"}}},
		provider.Message{Role: provider.User, Results: []provider.ToolResult{{ID: "a", Name: "shot", Text: "taken",
			Images: []provider.Image{{MIMEType: "image/png", Data: []byte("png")}}}}})
	complete(t, s.Provider(), r)
	return string(s.Requests()[0].Body)
}

func TestOpenAIShowsPicturesToModelsThatSee(t *testing.T) {
	if body := pictured(t, provider.OpenAI, "gpt-4o-mini"); !strings.Contains(body, `"data:image/png;base64,cG5n"`) {
		t.Error(body)
	}
	body := pictured(t, provider.OpenAI, "qwen3")
	if strings.Contains(body, "cG5n") || !strings.Contains(body, "taken\\n[1 pictures left out") {
		t.Error(body)
	}
}
