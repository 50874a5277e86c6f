package provider

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzStream: whatever a server sends, a message that comes of it has only calls that can be answered, and its text is
// what was heard.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\",\"tool_calls\":[{\"index\":-3,\"function\":{}}]},\n" +
			"data: \"finish_reason\":\"stop\"}]}\n\n",
		"data: {\"type\":\"content_block_start\",\"index\":0,\n" +
			"data: \"content_block\":{\"type\":\"text\",\"text\":\"a\"}}\n\n" +
			"data: {\"type\":\"message_stop\"}\n\n",
		"data: {\"type\":\"content_block_delta\",\"index\":9}\n\n",
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"},{\"functionCall\":{\"name\":\"x\",\n" +
			"data: \"args\":null}}]},\"finishReason\":\"STOP\"}]}\n\n",
		"[", "{}", "<html>", "data", "data: [DONE]", ": \n\n\r\ndata:x\n\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sent string) {
		for kind, w := range map[Kind]wire{OpenAI: &openAI{}, Anthropic: &anthropic{}, Gemini: &gemini{}} {
			s, err := newStream(strings.NewReader(sent))
			if err != nil {
				return
			}
			var heard strings.Builder
			done, err := w.read(s, func(piece string) { heard.WriteString(piece) })
			if err != nil {
				continue
			}
			if done.Message.Text != heard.String() {
				t.Errorf("%s: heard %q, got %q", kind, heard.String(), done.Message.Text)
			}
			for _, c := range done.Message.Calls {
				if c.ID == "" || len(c.Arguments) == 0 || !json.Valid(arguments(c)) {
					t.Errorf("%s: a call %+v", kind, c)
				}
			}
			r := Request{Messages: []Message{done.Message}}
			if _, err := w.ask(r, "m"); err != nil {
				t.Errorf("%s: its own message cannot go back: %v", kind, err)
			}
		}
	})
}
