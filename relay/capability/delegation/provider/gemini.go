package provider

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"tabrelay/relay/capability/delegation/picture"
	"tabrelay/relay/road/fault"
)

// gemini speaks generateContent of the Gemini API.
type gemini struct{ key string }

var geminiProfiles = profiles{always: profile{rename: map[string]string{"maxTokens": "maxOutputTokens"}, images: true}}

func (*gemini) origin() string { return "https://generativelanguage.googleapis.com" }

func (*gemini) path(base, model string) string {
	return versioned(base, "/v1beta") + "/models/" + url.PathEscape(strings.TrimPrefix(model, "models/")) +
		":streamGenerateContent?alt=sse"
}

func (*gemini) learns(*fault.Error) bool { return false }

func (w *gemini) ask(r Request, model string) (question, error) {
	contents, err := geminiContents(r.Messages)
	if err != nil {
		return question{}, err
	}
	body := object{"contents": contents}
	config := object{}
	geminiProfiles.of(model).put(config, r.Params)
	if len(config) > 0 {
		body["generationConfig"] = config
	}
	if r.System != "" {
		body["systemInstruction"] = object{"parts": []object{{"text": r.System}}}
	}
	if len(r.Tools) > 0 {
		var tools []object
		for _, t := range r.Tools {
			tools = append(tools, object{"name": t.Name, "description": t.Description,
				"parametersJsonSchema": inputSchema(t)})
		}
		body["tools"] = []object{{"functionDeclarations": tools}}
	}
	if err := withSpecific(body, r.Params.ProviderSpecific); err != nil {
		return question{}, err
	}
	if err := geminiSpecific(body, config); err != nil {
		return question{}, err
	}
	if named, given := body["model"]; given { // which is in the address
		if raw, ok := named.(json.RawMessage); ok && json.Unmarshal(raw, &model) != nil {
			return question{}, errSpecific("model", "a text")
		}
		delete(body, "model")
	}
	header := http.Header{}
	if w.key != "" {
		header.Set("X-Goog-Api-Key", w.key)
	}
	return question{model: model, header: header, body: body}, nil
}

// geminiSpecific lays a generationConfig of providerSpecific over the parameters, not in their place: in this API they
// are one level deeper than in the others.
func geminiSpecific(body, config object) error {
	raw, given := body["generationConfig"].(json.RawMessage)
	if !given {
		return nil
	}
	if membersOf(raw) == nil {
		return errSpecific("generationConfig", "an object")
	}
	body["generationConfig"] = config
	return withSpecific(config, raw)
}

func geminiContents(messages []Message) (list []object, err error) {
	for _, m := range messages {
		parts := geminiParts(m)
		if len(m.Provider) > 0 {
			if parts, err = own[[]object](m, Gemini, parts); err != nil {
				return nil, err
			}
		}
		if len(parts) == 0 {
			continue // an empty message is refused
		}
		role := "user"
		if m.Role == Assistant {
			role = "model"
		}
		list = append(list, object{"role": role, "parts": parts})
	}
	return list, nil
}

// geminiParts are the parts of a message. Pictures stand behind what all tools answered, because these have to be
// together.
func geminiParts(m Message) (parts []object) {
	var pictures []object
	for _, r := range m.Results {
		answer := object{"result": r.Text}
		if r.Failed {
			answer = object{"error": r.Text}
		}
		response := object{"name": r.Name, "response": answer}
		if !made(r.ID) {
			response["id"] = r.ID
		}
		parts = append(parts, object{"functionResponse": response})
		pictures = append(pictures, geminiImages(r.Images)...)
	}
	parts = append(append(parts, pictures...), geminiImages(m.Images)...)
	if m.Text != "" {
		parts = append(parts, object{"text": m.Text})
	}
	for _, c := range m.Calls {
		call := object{"name": c.Name, "args": arguments(c)}
		if !made(c.ID) {
			call["id"] = c.ID
		}
		parts = append(parts, object{"functionCall": call})
	}
	return parts
}

func geminiImages(images []Image) (parts []object) {
	for _, i := range images {
		parts = append(parts, object{"inlineData": object{"mimeType": i.MIMEType, "data": i.Data}})
	}
	return parts
}

// geminiChunk is one event of an answer.
type geminiChunk struct {
	Candidates []struct {
		Content struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"content"`
		FinishReason string `json:"finishReason"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	UsageMetadata *struct {
		Prompt     int `json:"promptTokenCount"`
		Tools      int `json:"toolUsePromptTokenCount"`
		Candidates int `json:"candidatesTokenCount"`
		Thoughts   int `json:"thoughtsTokenCount"`
		Cached     int `json:"cachedContentTokenCount"`
	} `json:"usageMetadata"`
	ModelVersion string   `json:"modelVersion"`
	ResponseID   string   `json:"responseId"`
	Error        *trouble `json:"error"`
}

type geminiPart struct {
	Text             string `json:"text"`
	Thought          bool   `json:"thought"`
	ThoughtSignature string `json:"thoughtSignature"`
	InlineData       *struct {
		MIMEType string `json:"mimeType"`
		Data     string `json:"data"`
	} `json:"inlineData"`
	FunctionCall *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
}

var geminiStops = map[string]string{"STOP": EndTurn, "MAX_TOKENS": MaxTokens, "SAFETY": ContentFilter}

func (*gemini) read(s *stream, hear func(string)) (done Completion, err error) {
	var m geminiAnswer
	ended := false
	err = each(s, func(c *geminiChunk) (bool, error) {
		if c.Error != nil {
			return true, c.Error.answered()
		}
		done.RequestID, done.Model = cmp.Or(done.RequestID, c.ResponseID), cmp.Or(done.Model, c.ModelVersion)
		if u := c.UsageMetadata; u != nil {
			done.Usage = Usage{u.Prompt + u.Tools, u.Candidates + u.Thoughts, u.Cached}
		}
		if c.PromptFeedback.BlockReason != "" {
			ended, done.StopReason = true, ContentFilter
		}
		for _, candidate := range c.Candidates[:min(len(c.Candidates), 1)] {
			for _, part := range candidate.Content.Parts {
				if !m.add(part, hear) {
					return true, errGarbage
				}
			}
			if reason := candidate.FinishReason; reason != "" {
				ended, done.StopReason = true, cmp.Or(geminiStops[reason], reason)
			}
		}
		return false, nil
	})
	if err == nil && !ended {
		err = errCut
	}
	if err == nil {
		done.Message, err = m.message()
	}
	return done, err
}

// geminiAnswer puts a message together from parts.
type geminiAnswer struct {
	text  strings.Builder
	calls []ToolCall
	drawn picture.List
	parts []object        // those that go back, texts without a signature joined
	open  strings.Builder // what the last of them will have been joined of; empty: it is not one of these
	kept  bool            // a part is signed: the provider wants all of them back
}

func (a *geminiAnswer) add(raw json.RawMessage, hear func(string)) bool {
	var part geminiPart
	var whole object
	if json.Unmarshal(raw, &part) != nil || json.Unmarshal(raw, &whole) != nil {
		return false
	}
	if part.ThoughtSignature != "" {
		a.kept = true
	}
	switch {
	case part.Thought:
		return true // a summary for people
	case part.FunctionCall != nil:
		c := ToolCall{ID: part.FunctionCall.ID, Name: part.FunctionCall.Name, Arguments: part.FunctionCall.Args}
		complete(&c)
		a.calls = append(a.calls, c)
	case part.InlineData != nil:
		a.draw(part.InlineData.MIMEType, part.InlineData.Data, hear)
	case part.Text != "":
		a.text.WriteString(part.Text)
		hear(part.Text)
		if len(whole) == 1 {
			a.open.WriteString(part.Text)
			return true
		}
	case part.ThoughtSignature == "":
		return true // nothing that this program reads
	}
	a.close()
	a.parts = append(a.parts, whole)
	return true
}

// draw takes a picture. Its place in the text is marked, also where it cannot be passed on.
func (a *geminiAnswer) draw(mimeType, data string, hear func(string)) {
	p, err := picture.Read(mimeType, data)
	if err == nil {
		err = a.drawn.Add(p)
	}
	mark := picture.Mark(len(a.drawn.All()), err)
	a.text.WriteString(mark)
	hear(mark)
}

// close ends the text that is being joined. It is put together once: each time would take a copy of the whole.
func (a *geminiAnswer) close() {
	if a.open.Len() > 0 {
		a.parts = append(a.parts, object{"text": a.open.String()})
		a.open.Reset()
	}
}

func (a *geminiAnswer) message() (m Message, err error) {
	m = Message{Role: Assistant, Text: a.text.String(), Images: a.drawn.All(), Calls: a.calls}
	if a.close(); a.kept {
		m.Provider, err = json.Marshal(map[Kind]any{Gemini: a.parts})
	}
	return m, err
}
