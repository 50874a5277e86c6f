package providertest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"tabrelay/relay/capability/delegation/provider"
)

// gemini speaks generateContent. Its calls have ids only where a step gives some.
type gemini struct{}

func (gemini) base() string { return "" }

type geminiPart struct {
	Text         string
	FunctionCall *struct {
		ID, Name string
		Args     json.RawMessage
	}
	FunctionResponse *struct {
		ID, Name string
		Response struct{ Result, Error *string }
	}
	InlineData *struct {
		MIMEType string
		Data     []byte
	}
}

func (gemini) understand(r *Request) string {
	var body struct {
		SystemInstruction struct{ Parts []geminiPart }
		Contents          []struct {
			Role  string
			Parts []geminiPart
		}
		Tools []struct {
			FunctionDeclarations []struct {
				Name, Description    string
				ParametersJSONSchema json.RawMessage
			}
		}
		GenerationConfig map[string]any
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err.Error()
	}
	model, found := strings.CutPrefix(r.Path, "/v1beta/models/")
	model, streamed := strings.CutSuffix(model, ":streamGenerateContent?alt=sse")
	if !found || !streamed {
		return "the path is " + r.Path
	}
	r.Model, r.Params = model, rest(r.Body, "contents", "tools", "systemInstruction", "generationConfig")
	maps.Copy(r.Params, body.GenerationConfig)
	for _, t := range body.Tools {
		for _, f := range t.FunctionDeclarations {
			r.Tools = append(r.Tools,
				provider.Tool{Name: f.Name, Description: f.Description, InputSchema: f.ParametersJSONSchema})
		}
	}
	for _, p := range body.SystemInstruction.Parts {
		r.System += p.Text
	}
	for _, c := range body.Contents {
		role, known := map[string]provider.Role{"user": provider.User, "model": provider.Assistant}[c.Role]
		if !known || len(c.Parts) == 0 {
			return "there is no role " + c.Role + ", or a message is empty"
		}
		said := provider.Message{Role: role}
		for _, p := range c.Parts {
			if wrong := p.into(&said); wrong != "" {
				return wrong
			}
		}
		r.append(said)
	}
	return ""
}

// into adds a part to a message.
func (p geminiPart) into(m *provider.Message) (wrong string) {
	m.Text += p.Text
	if c := p.FunctionCall; c != nil {
		if !isObject(c.Args) {
			return "the arguments of a call are no object"
		}
		m.Calls = append(m.Calls, provider.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Args})
	}
	if f := p.FunctionResponse; f != nil {
		result := provider.ToolResult{ID: f.ID, Name: f.Name}
		if f.Response.Error != nil {
			result.Text, result.Failed = *f.Response.Error, true
		}
		if f.Response.Result != nil {
			result.Text = *f.Response.Result
		}
		m.Results = append(m.Results, result)
	}
	if i := p.InlineData; i != nil {
		image := provider.Image{MIMEType: i.MIMEType, Data: i.Data}
		if len(m.Results) == 0 {
			m.Images = append(m.Images, image)
		} else {
			last := &m.Results[len(m.Results)-1]
			last.Images = append(last.Images, image)
		}
	}
	return ""
}

func (gemini) speak(s Step) (content, end []string) {
	chunk := func(parts []object, finish string) string {
		candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
		if finish != "" {
			candidate["finishReason"] = finish
		}
		return event(object{"candidates": []object{candidate}, "modelVersion": Model + "-2026", "responseId": "resp-1",
			"usageMetadata": object{"promptTokenCount": s.Usage.InputTokens,
				"cachedContentTokenCount": s.Usage.CachedTokens, "thoughtsTokenCount": s.Usage.OutputTokens / 2,
				"candidatesTokenCount": s.Usage.OutputTokens - s.Usage.OutputTokens/2}})
	}
	if s.Signature != "" {
		content = append(content, chunk([]object{{"text": "Let me see.", "thought": true}}, ""))
	}
	for _, piece := range s.pieces() {
		content = append(content, chunk([]object{{"text": piece}}, ""))
	}
	for _, i := range s.Images {
		picture := object{"mimeType": i.MIMEType, "data": i.Data}
		content = append(content, chunk([]object{{"inlineData": picture}}, ""))
	}
	for i, c := range s.Calls {
		call := object{"name": c.Name, "args": c.Arguments}
		if c.ID != "" {
			call["id"] = c.ID
		}
		part := object{"functionCall": call}
		if i == 0 && s.Signature != "" {
			part["thoughtSignature"] = s.Signature
		}
		content = append(content, chunk([]object{part}, ""))
	}
	stop := map[string]string{provider.EndTurn: "STOP", provider.ToolUse: "STOP", "": "STOP",
		provider.MaxTokens: "MAX_TOKENS", provider.ContentFilter: "SAFETY"}[s.Stop]
	stop = cmp.Or(stop, s.Stop)
	return content, []string{chunk([]object{{"text": ""}}, stop)}
}

func (gemini) failure(word string) string {
	return event(object{"error": object{"code": nil, "status": word, "message": "it failed"}})
}

func (gemini) refusal(status int) any {
	word := map[int]string{http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusUnauthorized: "UNAUTHENTICATED",
		http.StatusForbidden: "PERMISSION_DENIED", http.StatusNotFound: "NOT_FOUND",
		http.StatusTooManyRequests: "RESOURCE_EXHAUSTED", http.StatusInternalServerError: "INTERNAL",
		http.StatusServiceUnavailable: "UNAVAILABLE"}[status]
	return object{"error": object{"code": status, "status": word, "message": fmt.Sprintf("this is a %d", status)}}
}
