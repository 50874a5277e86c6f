package providertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"tabrelay/relay/capability/delegation/provider"
)

// anthropic speaks the Messages API.
type anthropic struct{}

func (anthropic) base() string { return "" }

type anthropicBlock struct {
	Type      string
	Text      string
	ID        string
	Name      string
	Input     json.RawMessage
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage // of a tool's result
	Source    struct {
		MediaType string `json:"media_type"`
		Data      []byte
	}
}

func (anthropic) understand(r *Request) string {
	var body struct {
		Model     string
		Stream    bool
		MaxTokens int `json:"max_tokens"`
		System    []anthropicBlock
		Messages  []struct {
			Role    provider.Role
			Content []anthropicBlock
		}
		Tools []struct {
			Name, Description string
			InputSchema       json.RawMessage `json:"input_schema"`
		}
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err.Error()
	}
	switch {
	case r.Path != "/v1/messages":
		return "the path is " + r.Path
	case !body.Stream || body.MaxTokens == 0:
		return "it is not to be streamed, or has no limit"
	case r.Header.Get("Anthropic-Version") == "":
		return "it has no version"
	}
	r.Model, r.Params = body.Model, rest(r.Body, "model", "messages", "tools", "stream", "system")
	for _, t := range body.Tools {
		r.Tools = append(r.Tools, provider.Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema})
	}
	for _, b := range body.System {
		r.System += b.Text
	}
	for _, m := range body.Messages {
		said := provider.Message{Role: m.Role}
		if len(m.Content) == 0 {
			return "a message is empty"
		}
		for _, b := range m.Content {
			if wrong := b.into(&said); wrong != "" {
				return wrong
			}
		}
		r.append(said)
	}
	return r.nameResults()
}

func (b anthropicBlock) image() provider.Image {
	return provider.Image{MIMEType: b.Source.MediaType, Data: b.Source.Data}
}

// into adds a block to a message.
func (b anthropicBlock) into(m *provider.Message) (wrong string) {
	switch b.Type {
	case "text":
		if b.Text == "" {
			return "a text is empty"
		}
		m.Text += b.Text
	case "image":
		if m.Role != provider.User {
			return "a picture is not the user's"
		}
		m.Images = append(m.Images, b.image())
	case "tool_use":
		if !isObject(b.Input) {
			return "the input of a call is no object"
		}
		m.Calls = append(m.Calls, provider.ToolCall{ID: b.ID, Name: b.Name, Arguments: b.Input})
	case "tool_result":
		result := provider.ToolResult{ID: b.ToolUseID, Failed: b.IsError}
		var content []anthropicBlock
		if b.Content != nil && json.Unmarshal(b.Content, &content) != nil {
			return "the content of a result is no list"
		}
		for _, c := range content {
			if c.Type == "image" {
				result.Images = append(result.Images, c.image())
				continue
			}
			result.Text += c.Text
		}
		if m.Text != "" {
			return "a text stands before what a tool answered"
		}
		m.Results = append(m.Results, result)
	}
	return ""
}

func (anthropic) speak(s Step) (content, end []string) {
	named := func(kind string, value object) string {
		value["type"] = kind
		return "event: " + kind + "\n" + event(value)
	}
	index := 0
	block := func(begun object, deltas []object) {
		content = append(content, named("content_block_start", object{"index": index, "content_block": begun}))
		for _, delta := range deltas {
			content = append(content, named("content_block_delta", object{"index": index, "delta": delta}))
		}
		content = append(content, named("content_block_stop", object{"index": index}))
		index++
	}
	content = append(content, named("message_start", object{"message": object{"id": "msg_1", "role": "assistant",
		"model": Model + "-2026", "content": []any{}, "usage": object{"output_tokens": 1,
			"input_tokens": s.Usage.InputTokens - s.Usage.CachedTokens, "cache_read_input_tokens": s.Usage.CachedTokens,
			"cache_creation_input_tokens": 0}}}), named("ping", object{}))
	if s.Signature != "" {
		block(object{"type": "thinking", "thinking": "", "signature": ""}, []object{
			{"type": "thinking_delta", "thinking": "Let me "}, {"type": "thinking_delta", "thinking": "see."},
			{"type": "signature_delta", "signature": s.Signature}})
	}
	var deltas []object
	for _, piece := range s.pieces() {
		deltas = append(deltas, object{"type": "text_delta", "text": piece})
	}
	if deltas != nil {
		block(object{"type": "text", "text": ""}, deltas)
	}
	stop := provider.EndTurn
	for _, c := range s.Calls {
		deltas = []object{{"type": "input_json_delta", "partial_json": ""}}
		for _, piece := range inPieces(string(c.Arguments)) {
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": piece})
		}
		block(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}}, deltas)
		stop = provider.ToolUse
	}
	if s.Stop != "" {
		stop = s.Stop
	}
	if s.Holds || s.Cut || s.Ends { // the last block is not over either
		content = slices.Delete(content, len(content)-1, len(content))
	}
	end = []string{named("message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil},
		"usage": object{"output_tokens": s.Usage.OutputTokens}}), named("message_stop", object{})}
	return content, end
}

func (anthropic) failure(word string) string {
	return "event: error\n" + event(object{"type": "error", "error": object{"type": word, "message": "it failed"}})
}

func (anthropic) refusal(status int) any {
	kind := map[int]string{http.StatusBadRequest: "invalid_request_error",
		http.StatusUnauthorized: "authentication_error",
		http.StatusForbidden:    "permission_error", http.StatusNotFound: "not_found_error",
		http.StatusRequestEntityTooLarge: "request_too_large", http.StatusTooManyRequests: "rate_limit_error",
		http.StatusInternalServerError: "api_error", 529: "overloaded_error"}[status]
	return object{"type": "error", "request_id": "req_1",
		"error": object{"type": kind, "message": fmt.Sprintf("this is a %d", status)}}
}

func isObject(raw json.RawMessage) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(raw, &members) == nil && members != nil
}
