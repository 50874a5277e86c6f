package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"tabrelay/relay/agent/front"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

var (
	_ front.Resources = (*fixture)(nil)
	_ front.Completer = (*fixture)(nil)
	_ front.Prompts   = (*prompts)(nil)
)

// List implements front.Resources.
func (x *fixture) List(context.Context, call.Session) ([]call.Resource, *fault.Error) {
	return []call.Resource{
		{URI: "test://static-text", Name: "static-text", Description: "Text.", MIMEType: "text/plain"},
		{URI: "test://static-binary", Name: "static-binary", Description: "An image.", MIMEType: "image/png"},
		{URI: "test://watched-resource", Name: "watched-resource", Description: "Can be subscribed to.",
			MIMEType: "text/plain"},
	}, nil
}

// Templates implements front.Resources.
func (x *fixture) Templates() []call.ResourceTemplate {
	return []call.ResourceTemplate{{URITemplate: "test://template/{id}/data", Name: "template",
		Description: "Data by id.", MIMEType: "application/json"}}
}

// Read implements front.Resources.
func (x *fixture) Read(
	_ context.Context, _ call.Session, uri string, _ *front.Asker,
) ([]call.ResourceContents, *fault.Error) {
	c := call.ResourceContents{URI: uri, MIMEType: "text/plain"}
	rest, isTemplate := strings.CutPrefix(uri, "test://template/")
	switch id, isData := strings.CutSuffix(rest, "/data"); {
	case uri == "test://static-text":
		c.Text = "This is the content of the static text resource."
	case uri == "test://watched-resource":
		c.Text = "Nothing has changed."
	case uri == "test://static-binary":
		c.MIMEType = "image/png"
		c.Blob, _ = base64.StdEncoding.DecodeString(pixel)
	case isTemplate && isData:
		c.MIMEType = "application/json"
		c.Text = string(rawjson.MustEncode(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " +
			id}))
	default:
		return nil, fault.New(fault.ResourceNotFound, "There is no resource "+uri)
	}
	return []call.ResourceContents{c}, nil
}

// Watch implements front.Resources. Nothing changes.
func (x *fixture) Watch(_ call.Session, uri string, _ func()) (stop func(), failure *fault.Error) {
	if _, fail := x.Read(context.Background(), call.Session{}, uri, nil); fail != nil {
		return nil, fail
	}
	return func() {}, nil
}

// Complete implements front.Completer.
func (x *fixture) Complete(_ context.Context, _ call.Session, ref front.Ref, _, typed string,
	_ map[string]string) (call.Completion, *fault.Error) {
	done := call.Completion{Values: []string{}}
	for _, v := range []string{"paris", "park", "party"} {
		if ref.Prompt == "test_prompt_with_arguments" && strings.HasPrefix(v, typed) {
			done.Values = append(done.Values, v)
		}
	}
	return done, nil
}

// prompts is the recipes of the suite.
type prompts struct {
	mu      lock.Mutex
	added   int
	changed map[int]func()
	next    int
}

// List implements front.Prompts.
func (p *prompts) List() []call.Prompt {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := []call.Prompt{
		{Name: "test_simple_prompt", Description: "Has no arguments."},
		{Name: "test_prompt_with_arguments", Description: "Has two arguments.",
			Arguments: []call.PromptArgument{{Name: "arg1", Required: true}, {Name: "arg2", Required: true}}},
		{Name: "test_prompt_with_embedded_resource", Description: "Embeds a resource.",
			Arguments: []call.PromptArgument{{Name: "resourceUri", Required: true}}},
		{Name: "test_prompt_with_image", Description: "Has an image."},
		{Name: "test_input_required_result_prompt", Description: "Asks for something first."},
	}
	for i := range p.added {
		all = append(all, call.Prompt{Name: fmt.Sprintf("later_%d", i+1), Description: "Appeared later."})
	}
	return all
}

// Render implements front.Prompts.
func (p *prompts) Render(
	ctx context.Context, name string, args map[string]string, client *front.Asker,
) (*call.RenderedPrompt, *fault.Error) {
	switch name {
	case "test_simple_prompt":
		return says(text("This is a simple prompt for testing.")), nil
	case "test_prompt_with_arguments":
		return says(text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"]))), nil
	case "test_prompt_with_embedded_resource":
		return says(embedded(args["resourceUri"], "text/plain", "Embedded resource content for testing."),
			text("Please process the embedded resource above.")), nil
	case "test_prompt_with_image":
		return says(image, text("Please analyze the image above.")), nil
	case "test_input_required_result_prompt":
		answers, fail := request(ctx, client,
			form("user_context", "What context should the prompt use?", contextSchema))
		if fail != nil {
			return nil, fail
		}
		return says(text("Context: " + value(answers["user_context"], "context"))), nil
	}
	return nil, fault.New(fault.UnknownPrompt, "There is no prompt named "+name)
}

func says(items ...map[string]any) *call.RenderedPrompt {
	r := &call.RenderedPrompt{}
	for _, item := range items {
		r.Messages = append(r.Messages, call.PromptMessage{Role: "user", Content: rawjson.MustEncode(item)})
	}
	return r
}

// OnChange implements front.Prompts.
func (p *prompts) OnChange(changed func()) (stop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed == nil {
		p.changed = map[int]func(){}
	}
	id := p.next
	p.next++
	p.changed[id] = changed
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.changed, id)
	}
}

// add makes one more prompt appear.
func (p *prompts) add() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.added++
	for _, changed := range p.changed {
		changed()
	}
}
