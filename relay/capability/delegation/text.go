package delegation

import (
	"encoding/json"
	"fmt"
	"strings"

	"tabrelay/relay/capability/delegation/picture"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/lib/clip"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/untrusted"
)

// failed is a failure as the model reads it: the text that every agent gets.
func failed(c provider.ToolCall, f *fault.Error) provider.ToolResult {
	text := strings.Join(f.Text(), "\n")
	if len(f.Warnings) > 0 {
		text += "\nWarning: " + strings.Join(f.Warnings, " ")
	}
	return provider.ToolResult{ID: c.ID, Name: c.Name, Text: text, Failed: true}
}

// answered is a result as the model reads it: as every agent does, the words of pages between markers, and not longer
// than the model is to read.
func (l *loop) answered(c provider.ToolCall, r *call.Result) provider.ToolResult {
	result := provider.ToolResult{ID: c.ID, Name: c.Name}
	var texts []string
	if r.Content == nil {
		texts = []string{string(r.Output)}
		if len(r.Output) == 0 {
			texts[0] = "null"
		}
	}
	for _, block := range r.Content {
		if text := l.block(&result, block); text != "" {
			texts = append(texts, text)
		}
	}
	text := strings.Join(texts, "\n")
	if most := 2 * l.options.ResultBytes; len(text) > most {
		text = clip.Bytes(text, most) + fmt.Sprintf("\n(cut: the answer has %d bytes)", len(text))
	}
	if r.Meta.Untrusted {
		text = untrusted.Wrap(untrusted.Nonce(), r.Meta.Origin, text)
	}
	if len(r.Warnings) > 0 {
		text += "\nWarning: " + strings.Join(r.Warnings, " ")
	}
	result.Text = text + l.handed.marks(result.Images) // outside what pages said: this is ours
	return result
}

// block takes one content block: a picture into the result, anything else as text.
func (l *loop) block(result *provider.ToolResult, block call.Content) string {
	var b struct{ Type, Text, MIMEType, Data string }
	if err := json.Unmarshal(block, &b); err != nil {
		return ""
	}
	switch b.Type {
	case "text":
		return b.Text
	case "image":
		p, err := picture.Read(b.MIMEType, b.Data)
		if err == nil && len(result.Images) == picture.Most {
			err = fmt.Errorf("there may be %d pictures", picture.Most)
		}
		if err != nil { // a provider would refuse the whole conversation for it
			return picture.Mark(0, err)
		}
		result.Images = append(result.Images, p)
		return ""
	}
	return string(block)
}
