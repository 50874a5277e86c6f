package front

import (
	"context"
	"encoding/json"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// Prompts knows the recipes that a person can pick in their client.
type Prompts interface {
	// List returns them in an order that stays the same while the list does.
	List() []call.Prompt
	// Render fills in a recipe. There is none of that name: fault.UnknownPrompt; its arguments are wrong:
	// fault.InvalidParams; anything else is a recipe that could not be rendered. client is nil when it cannot be asked.
	Render(ctx context.Context, name string, args map[string]string, client *Asker) (*call.RenderedPrompt,
		*fault.Error)
	// OnChange calls changed when List would answer something else, until stop. changed does not block.
	OnChange(changed func()) (stop func())
}

// Completer offers values for arguments of prompts and of resource templates.
type Completer interface {
	// Complete returns values that go on from what was typed. known holds the arguments that are filled in already.
	Complete(ctx context.Context, s call.Session, ref Ref, argument, typed string,
		known map[string]string) (call.Completion, *fault.Error)
}

// Ref is what an argument belongs to: one of the two is set.
type Ref struct {
	Prompt   string // name of a prompt
	Template string // URI template of resources, or the URI of one resource
}

// getPrompt carries prompts/get out.
func (f *Front) getPrompt(ctx context.Context, p *peer, m *message, client *Asker) answer {
	name, args, fail := readPrompt(m)
	var rendered *call.RenderedPrompt
	if fail == nil {
		fail = f.refusePrompt(p, name)
	}
	if fail == nil {
		rendered, fail = f.options.Prompts.Render(ctx, name, args, client)
	}
	return func(x *exchange) response {
		if fail != nil {
			return f.failed(x, fail, "Prompt render failed")
		}
		b := f.openResult(x, notCacheable, 1024)
		if rendered.Description != "" {
			b = append(rawjson.AppendText(append(b, `"description":`...), rendered.Description), ',')
		}
		b = append(b, `"messages":[`...)
		for i, message := range rendered.Messages {
			b = rawjson.AppendText(append(appendComma(b, i), `{"role":`...), message.Role)
			b = append(append(append(b, `,"content":`...), oneLine(message.Content)...), '}')
		}
		return response{body: append(b, "]}}"...)}
	}
}

func readPrompt(m *message) (name string, args map[string]string, fail *fault.Error) {
	name, ok := rawjson.Text(m.param("name"))
	if !ok {
		return "", nil, fault.New(fault.InvalidParams, "The params of prompts/get have no name, or it is not a string")
	}
	if raw := m.param("arguments"); raw != nil && json.Unmarshal(raw, &args) != nil {
		return "", nil, fault.New(fault.InvalidParams, "The arguments of prompts/get are not an object of strings")
	}
	return name, args, nil
}

// maxCompletions is how many values one answer may have (MCP, "Completion").
const maxCompletions = 100

// complete answers completion/complete.
func (f *Front) complete(ctx context.Context, p *peer, x *exchange, m *message) response {
	ref, argument, typed, known, fail := readCompletion(m)
	if fail == nil && m.param("cursor") != nil { // some servers page completions; nobody was given a cursor here
		fail = fault.New(fault.InvalidCursor, "Invalid cursor: completions come on one page",
			fault.WithHint("Ask again without a cursor, with more of the value typed."))
	}
	var done call.Completion
	if fail == nil {
		done, fail = f.options.Completer.Complete(ctx, p.session, ref, argument, typed, known)
	}
	if fail != nil {
		return f.failed(x, fail, "Unable to complete")
	}
	done.Total = max(done.Total, len(done.Values))
	if len(done.Values) > maxCompletions {
		done.Values, done.HasMore = done.Values[:maxCompletions], true
	}
	if done.Values == nil {
		done.Values = []string{}
	}
	b := append(f.openResult(x, notCacheable, 512), `"completion":`...)
	return response{body: append(append(b, rawjson.MustEncode(done)...), "}}"...)}
}

func readCompletion(m *message) (ref Ref, argument, typed string, known map[string]string, fail *fault.Error) {
	var to struct {
		Type string  `json:"type"`
		Name *string `json:"name"`
		URI  *string `json:"uri"`
	}
	var about struct {
		Name  *string `json:"name"`
		Value *string `json:"value"`
	}
	var context struct {
		Arguments map[string]string `json:"arguments"`
	}
	for _, part := range []struct {
		name string
		into any
	}{{"ref", &to}, {"argument", &about}, {"context", &context}} {
		if raw := m.param(part.name); raw != nil && json.Unmarshal(raw, part.into) != nil {
			return ref, "", "", nil, fault.New(fault.InvalidParams, "The "+part.name+
				" of completion/complete is malformed")
		}
	}
	switch {
	case to.Type == "ref/prompt" && to.Name != nil:
		ref.Prompt = *to.Name
	case to.Type == "ref/resource" && to.URI != nil:
		ref.Template = *to.URI
	default:
		return ref, "", "", nil, fault.New(fault.InvalidParams,
			"The ref of completion/complete names neither a prompt (ref/prompt, name) nor a resource (ref/resource, "+
				"uri)")
	}
	if about.Name == nil || about.Value == nil {
		return ref, "", "", nil, fault.New(fault.InvalidParams,
			"The argument of completion/complete has no name or no value")
	}
	return ref, *about.Name, *about.Value, context.Arguments, nil
}
