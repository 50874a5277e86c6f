package provider

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"tabrelay/relay/road/fault"
)

// anthropic speaks the Messages API.
type anthropic struct{ key string }

// anthropicProfiles has one default, because the API wants a limit: that of mcp-agentic.
var anthropicProfiles = profiles{always: profile{
	rename: map[string]string{"maxTokens": "max_tokens", "topP": "top_p", "topK": "top_k",
		"stopSequences": "stop_sequences"},
	defaults: object{"max_tokens": 1024},
	images:   true,
}}

func (*anthropic) origin() string { return "https://api.anthropic.com" }

func (*anthropic) path(base, _ string) string { return versioned(base, "/v1") + "/messages" }

func (*anthropic) learns(*fault.Error) bool { return false }

func (w *anthropic) ask(r Request, model string) (question, error) {
	messages, err := anthropicMessages(r.Messages)
	if err != nil {
		return question{}, err
	}
	body := object{"model": model, "messages": messages}
	anthropicProfiles.of(model).put(body, r.Params)
	if r.System != "" {
		body["system"] = []object{cached(object{"type": "text", "text": r.System})}
	}
	if len(r.Tools) > 0 {
		var tools []object
		for _, t := range r.Tools {
			tools = append(tools, object{"name": t.Name, "description": t.Description, "input_schema": inputSchema(t)})
		}
		cached(tools[len(tools)-1])
		body["tools"] = tools
	}
	if err := withSpecific(body, r.Params.ProviderSpecific); err != nil {
		return question{}, err
	}
	body["stream"] = true
	header := http.Header{"Anthropic-Version": {"2023-06-01"}}
	if w.key != "" {
		header.Set("X-Api-Key", w.key)
	}
	return question{model: model, header: header, body: body}, nil
}

// cached marks a block as the end of what the provider keeps for the next request. Three of the four marks that it
// takes are used: tools, system and messages grow one after the other, and an earlier end stays good when a later part
// changes.
func cached(block object) object {
	block["cache_control"] = object{"type": "ephemeral"}
	return block
}

// anthropicMessages are the messages as lists of blocks. The last block that may have it gets the mark.
func anthropicMessages(messages []Message) (list []object, err error) {
	for i, m := range messages {
		blocks := anthropicBlocks(m)
		if len(m.Provider) > 0 {
			if blocks, err = own[[]object](m, Anthropic, blocks); err != nil {
				return nil, err
			}
		}
		if len(blocks) == 0 {
			continue // an empty message is refused
		}
		if i == len(messages)-1 && m.Role == User {
			cached(blocks[len(blocks)-1])
		}
		list = append(list, object{"role": m.Role, "content": blocks})
	}
	return list, nil
}

func anthropicBlocks(m Message) (blocks []object) {
	for _, r := range m.Results {
		var content []object
		if r.Text != "" {
			content = append(content, object{"type": "text", "text": r.Text})
		}
		content = append(content, anthropicImages(r.Images)...)
		block := object{"type": "tool_result", "tool_use_id": r.ID, "is_error": r.Failed}
		if content != nil {
			block["content"] = content
		}
		blocks = append(blocks, block)
	}
	blocks = append(blocks, anthropicImages(m.Images)...) // before the text that speaks of them, as the API advises
	if m.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": m.Text})
	}
	for _, c := range m.Calls {
		blocks = append(blocks, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": arguments(c)})
	}
	return blocks
}

func anthropicImages(images []Image) (blocks []object) {
	for _, i := range images {
		blocks = append(blocks, object{"type": "image",
			"source": object{"type": "base64", "media_type": i.MIMEType, "data": i.Data}})
	}
	return blocks
}

// anthropicEvent is one event of an answer.
type anthropicEvent struct {
	Type    string `json:"type"`
	Message struct {
		ID    string         `json:"id"`
		Model string         `json:"model"`
		Usage anthropicUsage `json:"usage"`
	} `json:"message"`
	Index        int                        `json:"index"`
	ContentBlock map[string]json.RawMessage `json:"content_block"`
	Delta        struct {
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage anthropicUsage `json:"usage"`
	Error *trouble       `json:"error"`
}

// anthropicUsage counts; what was kept is apart from the rest of the input. Later counts stand for earlier ones.
type anthropicUsage struct {
	Input   *int `json:"input_tokens"`
	Read    *int `json:"cache_read_input_tokens"`
	Written *int `json:"cache_creation_input_tokens"`
	Output  *int `json:"output_tokens"`
}

func (u *anthropicUsage) update(with anthropicUsage) {
	first(&with.Input, u.Input)
	first(&with.Read, u.Read)
	first(&with.Written, u.Written)
	first(&with.Output, u.Output)
	*u = with
}

func (u *anthropicUsage) usage() Usage {
	return Usage{InputTokens: given(u.Input) + given(u.Read) + given(u.Written), OutputTokens: given(u.Output),
		CachedTokens: given(u.Read)}
}

func (*anthropic) read(s *stream, hear func(string)) (done Completion, err error) {
	var usage anthropicUsage
	var blocks anthropicAnswer
	ended := false
	err = each(s, func(e *anthropicEvent) (bool, error) {
		switch e.Type {
		case "error":
			if e.Error == nil {
				return true, errGarbage
			}
			return true, e.Error.answered()
		case "message_start":
			done.RequestID, done.Model = e.Message.ID, e.Message.Model
			usage.update(e.Message.Usage)
		case "content_block_start", "content_block_delta":
			piece, known := blocks.add(e)
			if !known {
				return true, errGarbage
			}
			if piece != "" {
				hear(piece)
			}
		case "message_delta":
			done.StopReason = cmp.Or(e.Delta.StopReason, done.StopReason)
			usage.update(e.Usage)
		case "message_stop":
			ended = true
		case "": // every event of the wire has one
			return true, errGarbage
		}
		return ended, nil
	})
	if err == nil && !ended && done.StopReason == "" {
		err = errCut
	}
	done.Usage = usage.usage()
	if err == nil {
		done.Message, err = blocks.message()
	}
	return done, err
}

// anthropicAnswer is the blocks of an answer as they come.
type anthropicAnswer struct{ blocks []*anthropicBlock }

type anthropicBlock struct {
	begun             map[string]json.RawMessage // the block as it began
	kind              string
	text, input       strings.Builder
	thinking, signing strings.Builder
}

// add takes what an event brings, and returns the text among it. Blocks come in their order.
func (a *anthropicAnswer) add(e *anthropicEvent) (text string, known bool) {
	if e.Type == "content_block_start" {
		b := &anthropicBlock{begun: e.ContentBlock, kind: member[string](e.ContentBlock, "type")}
		a.blocks = append(a.blocks, b)
		b.thinking.WriteString(member[string](e.ContentBlock, "thinking"))
		b.signing.WriteString(member[string](e.ContentBlock, "signature"))
		return b.say(member[string](e.ContentBlock, "text")), e.Index == len(a.blocks)-1 && e.ContentBlock != nil
	}
	if e.Index < 0 || e.Index >= len(a.blocks) {
		return "", false
	}
	b := a.blocks[e.Index]
	b.input.WriteString(e.Delta.PartialJSON)
	b.thinking.WriteString(e.Delta.Thinking)
	b.signing.WriteString(e.Delta.Signature)
	return b.say(e.Delta.Text), true
}

// say adds to the text of a block that has one.
func (b *anthropicBlock) say(text string) string {
	if b.kind != "text" {
		return ""
	}
	b.text.WriteString(text)
	return text
}

// message puts the blocks together. When there are some besides texts and calls, such as signed reasoning, all of them
// are kept for the next request as they came.
func (a *anthropicAnswer) message() (m Message, err error) {
	var kept []map[string]json.RawMessage
	others := false
	for _, b := range a.blocks {
		switch b.kind {
		case "text":
			m.Text += b.text.String()
			b.begun["text"] = quoted(b.text.String())
		case "tool_use":
			c := ToolCall{ID: member[string](b.begun, "id"), Name: member[string](b.begun, "name"),
				Arguments: json.RawMessage(b.input.String())}
			if len(c.Arguments) == 0 {
				c.Arguments = b.begun["input"]
			}
			complete(&c)
			m.Calls = append(m.Calls, c)
			b.begun["input"] = arguments(c)
		default:
			others = true
			if b.thinking.Len() > 0 {
				b.begun["thinking"] = quoted(b.thinking.String())
			}
			if b.signing.Len() > 0 {
				b.begun["signature"] = quoted(b.signing.String())
			}
			if b.input.Len() > 0 {
				b.begun["input"] = arguments(ToolCall{Arguments: json.RawMessage(b.input.String())})
			}
		}
		if string(b.begun["text"]) != `""` { // which is refused
			kept = append(kept, b.begun)
		}
	}
	if others {
		m.Provider, err = json.Marshal(map[Kind]any{Anthropic: kept})
	}
	return m, err
}

func quoted(text string) json.RawMessage {
	raw, _ := json.Marshal(text) // of a text
	return raw
}

// member is that of an object, or nothing when it is another kind of value.
func member[T any](of map[string]json.RawMessage, name string) (value T) {
	if json.Unmarshal(of[name], &value) != nil {
		var nothing T
		return nothing
	}
	return value
}

// own is what a provider of a kind kept with its message; another kind's is passed over.
func own[T any](m Message, kind Kind, otherwise T) (T, error) {
	var all map[Kind]json.RawMessage
	if err := json.Unmarshal(m.Provider, &all); err != nil {
		return otherwise, fmt.Errorf("what it kept with a message is damaged")
	}
	raw, kept := all[kind]
	if !kept {
		return otherwise, nil
	}
	var value T
	if err := json.Unmarshal(raw, &value); err != nil {
		return otherwise, fmt.Errorf("what it kept with a message is damaged")
	}
	return value, nil
}
