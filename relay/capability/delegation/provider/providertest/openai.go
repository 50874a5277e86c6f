package providertest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"tabrelay/relay/capability/delegation/provider"
)

// openAI speaks Chat Completions.
type openAI struct{}

func (openAI) base() string { return "/v1" }

func (openAI) understand(r *Request) string {
	var body struct {
		Model    string
		Stream   bool
		Messages []struct {
			Role       string
			Content    json.RawMessage
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Tools []struct {
			Function struct {
				Name, Description string
				Parameters        json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err.Error()
	}
	switch {
	case r.Path != "/v1/chat/completions":
		return "the path is " + r.Path
	case !body.Stream:
		return "it is not to be streamed"
	}
	r.Model, r.Params = body.Model, rest(r.Body, "model", "messages", "tools", "stream", "stream_options")
	for _, t := range body.Tools {
		f := t.Function
		r.Tools = append(r.Tools, provider.Tool{Name: f.Name, Description: f.Description, InputSchema: f.Parameters})
	}
	for _, m := range body.Messages {
		var text string
		var images []provider.Image
		if json.Unmarshal(m.Content, &text) != nil {
			var wrong string
			if text, images, wrong = openAIParts(m.Content); wrong != "" {
				return wrong
			}
		}
		switch m.Role {
		case "system":
			r.System += text
		case "tool":
			one := provider.Message{Role: provider.User,
				Results: []provider.ToolResult{{ID: m.ToolCallID, Text: text}}}
			r.append(one)
		case "user":
			r.append(provider.Message{Role: provider.User, Text: text, Images: images})
		case "assistant":
			said := provider.Message{Role: provider.Assistant, Text: text}
			for _, c := range m.ToolCalls {
				if !json.Valid([]byte(c.Function.Arguments)) {
					return "the arguments of a call are no JSON"
				}
				said.Calls = append(said.Calls, provider.ToolCall{ID: c.ID, Name: c.Function.Name,
					Arguments: json.RawMessage(c.Function.Arguments)})
			}
			r.append(said)
		default:
			return "there is no role " + m.Role
		}
	}
	return r.nameResults()
}

// openAIParts reads a message of several parts.
func openAIParts(raw json.RawMessage) (text string, images []provider.Image, wrong string) {
	var parts []struct {
		Type, Text string
		ImageURL   struct{ URL string } `json:"image_url"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return "", nil, "the content of a message is neither a text nor parts"
	}
	for _, p := range parts {
		if text += p.Text; p.Type != "image_url" {
			continue
		}
		kind, data, _ := strings.Cut(strings.TrimPrefix(p.ImageURL.URL, "data:"), ";base64,")
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return "", nil, "a picture is no data: URL"
		}
		images = append(images, provider.Image{MIMEType: kind, Data: raw})
	}
	return text, images, ""
}

func (openAI) speak(s Step) (content, end []string) {
	chunk := func(delta any, finish any) string {
		return event(object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": Model + "-2026",
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	content = append(content, ": keep-alive\n\n", chunk(object{"role": "assistant", "content": ""}, nil))
	for _, piece := range s.pieces() {
		content = append(content, chunk(object{"content": piece}, nil))
	}
	stop := map[string]string{provider.EndTurn: "stop", provider.MaxTokens: "length", provider.ToolUse: "tool_calls",
		"": "stop"}[s.Stop]
	stop = cmp.Or(stop, s.Stop)
	for i, c := range s.Calls {
		content = append(content, chunk(object{"tool_calls": []object{{"index": i, "id": c.ID, "type": "function",
			"function": object{"name": c.Name, "arguments": ""}}}}, nil))
		for _, piece := range inPieces(string(c.Arguments)) {
			content = append(content, chunk(object{"tool_calls": []object{{"index": i,
				"function": object{"arguments": piece}}}}, nil))
		}
		if s.Stop == "" {
			stop = "tool_calls"
		}
	}
	end = append(end, chunk(object{}, stop), event(object{"id": "chatcmpl-1", "choices": []object{}, "usage": object{
		"prompt_tokens": s.Usage.InputTokens, "completion_tokens": s.Usage.OutputTokens,
		"prompt_tokens_details": object{"cached_tokens": s.Usage.CachedTokens}}}), "data: [DONE]\n\n")
	return content, end
}

func (openAI) failure(word string) string {
	return event(object{"error": object{"message": "it failed amid the stream", "type": word, "code": nil}})
}

func (openAI) refusal(status int) any {
	kind := map[int]string{http.StatusUnauthorized: "invalid_request_error", http.StatusTooManyRequests: "tokens",
		http.StatusBadRequest: "invalid_request_error"}[status]
	return object{"error": object{"message": fmt.Sprintf("this is a %d", status), "type": kind, "code": nil}}
}
