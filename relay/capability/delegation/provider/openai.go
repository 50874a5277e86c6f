package provider

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/lib/random"
	"tabrelay/relay/road/fault"
)

// openAI speaks Chat Completions, which most other servers speak too.
type openAI struct {
	key     string
	sees    bool        // the person says that all of its models do
	noUsage atomic.Bool // the server refuses stream_options
}

var openAIProfiles = profiles{
	always: profile{
		rename: map[string]string{"maxTokens": "max_completion_tokens", "topP": "top_p", "stopSequences": "stop"},
		leave:  []string{"topK"},
	},
	prefixes: map[string]profile{
		"gpt-4o":  {rename: map[string]string{"maxTokens": "max_tokens"}, images: true},
		"gpt-4.1": {rename: map[string]string{"maxTokens": "max_tokens"}, images: true},
		"gpt-4":   {rename: map[string]string{"maxTokens": "max_tokens"}},
		"gpt-3.5": {rename: map[string]string{"maxTokens": "max_tokens"}},
		"gpt-5":   {images: true},
		"o3":      {images: true},
		"o4-mini": {images: true},
	},
}

func (*openAI) origin() string { return "https://api.openai.com/v1" }

func (*openAI) path(string, string) string { return "/chat/completions" }

func (w *openAI) ask(r Request, model string) (question, error) {
	p := openAIProfiles.of(model)
	p.images = p.images || w.sees
	if !p.images && slices.ContainsFunc(r.Messages, func(m Message) bool { return len(m.Images) > 0 }) {
		return question{}, &blindError{model}
	}
	body := object{"model": model, "messages": openAIMessages(r, p.images)}
	if !w.noUsage.Load() {
		body["stream_options"] = object{"include_usage": true}
	}
	p.put(body, r.Params)
	if len(r.Tools) > 0 {
		var tools []object
		for _, t := range r.Tools {
			tools = append(tools, object{"type": "function", "function": object{
				"name": t.Name, "description": t.Description, "parameters": inputSchema(t)}})
		}
		body["tools"] = tools
	}
	if err := withSpecific(body, r.Params.ProviderSpecific); err != nil {
		return question{}, err
	}
	body["stream"] = true
	header := http.Header{}
	if w.key != "" {
		header.Set("Authorization", "Bearer "+w.key)
	}
	return question{model: model, header: header, body: body}, nil
}

// learns implements wire. Most servers that do not know stream_options pass over it; a few refuse it.
func (w *openAI) learns(refusal *fault.Error) bool {
	return refusal.Code == codes.ProviderBadRequest && strings.Contains(refusal.Message, "stream_options") &&
		w.noUsage.CompareAndSwap(false, true)
}

func openAIMessages(r Request, images bool) (list []object) {
	if r.System != "" {
		list = append(list, object{"role": "system", "content": r.System})
	}
	for _, m := range r.Messages {
		switch {
		case m.Role == User:
			list = append(list, openAIResults(m.Results, images)...)
			if len(m.Images) > 0 {
				parts := openAIImages(m.Images)
				if m.Text != "" {
					parts = append(parts, object{"type": "text", "text": m.Text})
				}
				list = append(list, object{"role": "user", "content": parts})
			} else if m.Text != "" {
				list = append(list, object{"role": "user", "content": m.Text})
			}
		case len(m.Calls) > 0:
			var calls []object
			for _, c := range m.Calls {
				calls = append(calls, object{"id": c.ID, "type": "function",
					"function": object{"name": c.Name, "arguments": string(arguments(c))}})
			}
			list = append(list, object{"role": "assistant", "content": m.Text, "tool_calls": calls})
		case m.Text != "":
			list = append(list, object{"role": "assistant", "content": m.Text})
		}
	}
	return list
}

// openAIResults are messages with what tools answered. Their pictures follow in a message of their own, because one of
// a tool may only have text; a model that is not known to see gets a sentence instead of them.
func openAIResults(results []ToolResult, images bool) (list []object) {
	var parts []object
	for _, r := range results {
		content := r.Text
		if len(r.Images) > 0 && !images {
			content += fmt.Sprintf("\n[%d pictures left out: this model is not known to see any]", len(r.Images))
		}
		list = append(list, object{"role": "tool", "tool_call_id": r.ID, "content": content})
		if len(r.Images) == 0 || !images {
			continue
		}
		parts = append(parts, object{"type": "text", "text": "Pictures that the tool " + r.Name + " answered with:"})
		parts = append(parts, openAIImages(r.Images)...)
	}
	if parts != nil {
		list = append(list, object{"role": "user", "content": parts})
	}
	return list
}

func openAIImages(images []Image) (parts []object) {
	for _, i := range images {
		address := "data:" + i.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
		parts = append(parts, object{"type": "image_url", "image_url": object{"url": address}})
	}
	return parts
}

// openAIChunk is one event of an answer.
type openAIChunk struct {
	ID      string `json:"id"`
	Model   string `json:"model"`
	Choices []struct {
		Delta        openAIDelta `json:"delta"`
		Message      openAIDelta `json:"message"` // of a server that does not stream
		FinishReason string      `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		Details          struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Error *trouble `json:"error"`
}

type openAIDelta struct {
	Content   string `json:"content"`
	Refusal   string `json:"refusal"`
	ToolCalls []struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"` // a text; of some servers the object itself
		} `json:"function"`
	} `json:"tool_calls"`
}

var openAIStops = map[string]string{
	"stop": EndTurn, "length": MaxTokens, "content_filter": ContentFilter, "tool_calls": ToolUse,
	"function_call": ToolUse,
}

func (*openAI) read(s *stream, hear func(string)) (done Completion, err error) {
	a := assembly{places: map[int]int{}}
	marked := false
	err = each(s, func(c *openAIChunk) (bool, error) {
		if c.Error != nil {
			return true, c.Error.answered()
		}
		done.RequestID, done.Model = cmp.Or(done.RequestID, c.ID), cmp.Or(done.Model, c.Model)
		if c.Usage != nil {
			done.Usage = Usage{c.Usage.PromptTokens, c.Usage.CompletionTokens, c.Usage.Details.CachedTokens}
		}
		for _, choice := range c.Choices[:min(len(c.Choices), 1)] {
			a.add(choice.Delta, hear)
			a.add(choice.Message, hear)
			if choice.FinishReason != "" {
				marked = true
				done.StopReason = cmp.Or(openAIStops[choice.FinishReason], choice.FinishReason)
			}
		}
		return false, nil
	})
	if err == nil && !marked && !s.marked {
		err = errCut
	}
	done.Message = a.message()
	return done, err
}

// assembly puts a message together from pieces.
type assembly struct {
	text   strings.Builder
	calls  []ToolCall
	places map[int]int // of a call's index in the stream, in calls
}

func (a *assembly) add(d openAIDelta, hear func(string)) {
	for _, piece := range []string{d.Content, d.Refusal} {
		if piece != "" {
			a.text.WriteString(piece)
			hear(piece)
		}
	}
	for i, piece := range d.ToolCalls {
		index := i
		if piece.Index != nil {
			index = *piece.Index
		}
		place, begun := a.places[index]
		// some servers give every call the index 0: another id is another call
		if !begun || piece.ID != "" && a.calls[place].ID != "" && piece.ID != a.calls[place].ID {
			place = len(a.calls)
			a.places[index] = place
			a.calls = append(a.calls, ToolCall{})
		}
		call := &a.calls[place]
		call.ID = cmp.Or(call.ID, piece.ID)
		call.Name = cmp.Or(call.Name, piece.Function.Name)
		var text string
		if raw := piece.Function.Arguments; len(raw) > 0 && json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		call.Arguments = append(call.Arguments, text...)
	}
}

func (a *assembly) message() Message {
	for i := range a.calls {
		complete(&a.calls[i])
	}
	return Message{Role: Assistant, Text: a.text.String(), Calls: a.calls}
}

// complete gives a call what its server left out.
func complete(c *ToolCall) {
	if c.ID == "" {
		c.ID = madeID + random.Hex(12)
	}
	if len(c.Arguments) == 0 || string(c.Arguments) == "null" {
		c.Arguments = json.RawMessage("{}")
	}
}

// madeID begins the ids of calls whose server gave none; such a server does not want them back.
const madeID = "tabrelay_"

func made(id string) bool { return strings.HasPrefix(id, madeID) }
