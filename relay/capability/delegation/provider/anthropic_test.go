package provider_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/capability/delegation/provider/providertest"
)

func TestAnthropicParameters(t *testing.T) {
	for params, want := range map[string]map[string]any{
		`{}`: {"max_tokens": 1024.0},
		`{` + all + `}`: {"temperature": 0.5, "max_tokens": 9.0, "top_p": 0.25, "top_k": 3.0,
			"stop_sequences": []any{"END"}},
		`{"maxTokens": 9, "providerSpecific": {"max_tokens": 8, "thinking": {"type": "enabled"}, "top_k": null}}`: {
			"max_tokens": 8.0, "thinking": map[string]any{"type": "enabled"}},
	} {
		if diff := cmp.Diff(want, mapped(t, provider.Anthropic, params)); diff != "" {
			t.Errorf("%s: %s", params, diff)
		}
	}
}

func TestAnthropicStopReasons(t *testing.T) {
	stops(t, provider.Anthropic, map[string]string{"end_turn": provider.EndTurn, "max_tokens": provider.MaxTokens,
		"stop_sequence": provider.StopSequence, "refusal": "refusal", "pause_turn": "pause_turn"})
}

// marks are where a body has the mark of a cache, as paths.
func marks(path string, value any) (list []string) {
	switch v := value.(type) {
	case map[string]any:
		if _, marked := v["cache_control"]; marked {
			list = append(list, path)
		}
		for name, member := range v {
			list = append(list, marks(path+"."+name, member)...)
		}
	case []any:
		for i, item := range v {
			list = append(list, marks(path+"["+string(rune('0'+i))+"]", item)...)
		}
	}
	return list
}

// TestAnthropicIsToldWhatToKeep: the tools, the system prompt, and the conversation up to its last block.
func TestAnthropicIsToldWhatToKeep(t *testing.T) {
	s := providertest.New(t, provider.Anthropic, providertest.Step{Text: "ok"}, providertest.Step{Text: "ok"})
	r := ask("look")
	r.System = "Be brief."
	r.Tools = []provider.Tool{{Name: "a"}, {Name: "b"}}
	p := s.Provider()
	complete(t, p, r)
	r.Messages = append(r.Messages,
		provider.Message{Role: provider.Assistant,
			Calls: []provider.ToolCall{{ID: "1", Name: "a"}, {ID: "2", Name: "b"}}},
		provider.Message{Role: provider.User,
			Results: []provider.ToolResult{{ID: "1", Name: "a"}, {ID: "2", Name: "b"}}})
	complete(t, p, r)
	for i, want := range []map[string]bool{
		{".tools[1]": true, ".system[0]": true, ".messages[0].content[0]": true},
		{".tools[1]": true, ".system[0]": true, ".messages[2].content[1]": true},
	} {
		got := map[string]bool{}
		for _, path := range marks("", plain(t, string(s.Requests()[i].Body))) {
			got[path] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("request %d: %s", i, diff)
		}
	}
}

// TestAnthropicCountsWhatItKept: input is what was read anew, what was kept, and what was read from there.
func TestAnthropicCountsWhatItKept(t *testing.T) {
	done := whole(t, provider.Anthropic, `event: message_start
data: {"type":"message_start","message":{"id":"m",
data: "usage":{"input_tokens":10,"cache_read_input_tokens":200,"cache_creation_input_tokens":30,"output_tokens":1}}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"he"}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"llo"}}

data: {"type":"something_new","of":{"a":"later version"}}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":11,"output_tokens":5}}

data: {"type":"message_stop"}

data: {"type":"ignored after the end"}

`)
	want := provider.Completion{Message: provider.Message{Role: provider.Assistant, Text: "hello"},
		StopReason: provider.EndTurn, RequestID: "m", Model: providertest.Model,
		Usage: provider.Usage{InputTokens: 241, OutputTokens: 5, CachedTokens: 200}}
	if diff := cmp.Diff(want, done); diff != "" {
		t.Error(diff)
	}
}

// signed has a model reason and call a tool, and returns the message that the server gets back.
func signed(t *testing.T, kind provider.Kind) (sent string, done provider.Completion) {
	t.Helper()
	s := providertest.New(t, kind, providertest.Step{Text: "I look.", Signature: "signed==",
		Calls: []provider.ToolCall{{ID: "1", Name: "a", Arguments: json.RawMessage(`{"x":1}`)}}},
		providertest.Step{Text: "ok"})
	p, r := s.Provider(), ask("look")
	done = complete(t, p, r)
	if done.Message.Text != "I look." || len(done.Message.Calls) != 1 || done.StopReason != provider.ToolUse {
		t.Errorf("%+v", done)
	}
	raw, err := json.Marshal(done.Message) // as a transcript is kept
	if err != nil {
		t.Fatal(err)
	}
	var back provider.Message
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	r.Messages = append(r.Messages, back, provider.Message{Role: provider.User,
		Results: []provider.ToolResult{{ID: "1", Name: "a", Text: "done"}}})
	complete(t, p, r)
	return string(s.Requests()[1].Body), done
}

func TestAnthropicGetsItsReasoningBack(t *testing.T) {
	sent, _ := signed(t, provider.Anthropic)
	const want = `{"content":[{"signature":"signed==","thinking":"Let me see.","type":"thinking"},` +
		`{"text":"I look.","type":"text"},{"id":"1","input":{"x":1},"name":"a","type":"tool_use"}],"role":"assistant"}`
	if !strings.Contains(sent, want) {
		t.Error(sent)
	}
}

func TestAnthropicSeesPictures(t *testing.T) {
	const want = `"content":[{"text":"taken","type":"text"},{"source":{"data":"cG5n","media_type":"image/png",` +
		`"type":"base64"},"type":"image"}]`
	if body := pictured(t, provider.Anthropic, "claude"); !strings.Contains(body, want) {
		t.Error(body)
	}
}

func TestABaseMayHaveItsVersion(t *testing.T) {
	for kind, version := range map[provider.Kind]string{provider.Anthropic: "/v1/", provider.Gemini: "/v1beta"} {
		s := providertest.New(t, kind, providertest.Step{Text: "ok"})
		c := s.Config()
		c.BaseURL += version
		p, err := provider.New(c)
		if err != nil {
			t.Fatal(err)
		}
		complete(t, p, ask("x"))
	}
}

// TestWhatAnotherProviderKeptIsPassedOver, and what is damaged is said.
func TestWhatAnotherProviderKeptIsPassedOver(t *testing.T) {
	each(t, func(t *testing.T, kind provider.Kind) {
		s := providertest.New(t, kind, providertest.Step{Text: "ok"})
		r := ask("a")
		r.Messages = append(r.Messages, provider.Message{Role: provider.Assistant, Text: "said",
			Provider: json.RawMessage(`{"another": [1]}`)}, provider.Message{Role: provider.User, Text: "b"})
		complete(t, s.Provider(), r)
		if got := s.Requests()[0].Messages[1].Text; got != "said" {
			t.Errorf("sent %q", got)
		}
		if kind == provider.OpenAI {
			return // which keeps nothing
		}
		r.Messages[1].Provider = json.RawMessage(`{"` + kind + `": 7}`)
		if _, failed := s.Provider().Complete(t.Context(), r); failed == nil || s.HTTPCalls() != 1 {
			t.Errorf("%v after %d calls", failed, s.HTTPCalls())
		}
	})
}
