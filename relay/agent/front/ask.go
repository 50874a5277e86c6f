package front

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/random"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// Input is something the server asks a client for while it carries out a request of that client.
type Input struct {
	// Key names it within the request. A client of the modern era answers under it, and may do so in advance, before it
	// was asked. Empty where only an answer to the question asked will do; then a name is made up.
	Key    string
	Method string          // one of the three below
	Params json.RawMessage // of that method; empty means {}
}

// append encodes the input as a member of inputRequests.
func (in *Input) append(b []byte, name string) []byte {
	b = append(rawjson.AppendText(b, name), `:{"method":`...)
	b = append(rawjson.AppendText(b, in.Method), `,"params":`...)
	return append(append(b, oneLine(in.Params)...), '}')
}

// The requests of the server to a client.
const (
	Elicitation = string(mcp.MethodElicitationCreate)     // form mode: what a person says
	Sampling    = string(mcp.MethodSamplingCreateMessage) // what a model says
	Roots       = string(mcp.MethodListRoots)             // which folders a person works in
)

// Asker asks the client whose request is being carried out. In the legacy era that is a request of ours on the stream
// of theirs. In the modern era (2026-07-28, "Multi Round-Trip Requests") their request is answered with what is asked
// for, the work stands still, and it goes on when they send the request again with the answers. A client that cannot be
// asked for anything has none: nil.
type Asker struct {
	capabilities clientCapabilities
	ask          func(ctx context.Context, inputs []Input) (map[string]json.RawMessage, error)
}

// Can reports whether the client has said that it can be asked this, or has the extension Tasks.
func (a *Asker) Can(method string) bool { return a != nil && a.capabilities[method] }

// Ask asks for all inputs at once and returns the results by key, as the client sent them. Its error says that there
// are no answers: ctx ended, the client failed, or did not come back in time.
func (a *Asker) Ask(ctx context.Context, inputs ...Input) (map[string]json.RawMessage, error) {
	for i := range inputs {
		if !a.Can(inputs[i].Method) {
			return nil, fmt.Errorf("the client has not said that it can be asked for %s", inputs[i].Method)
		}
		if len(inputs[i].Params) == 0 {
			inputs[i].Params = json.RawMessage("{}")
		}
	}
	return a.ask(ctx, inputs)
}

// clientCapabilities are the methods that a client supports as requests of the server, and its extensions.
type clientCapabilities map[string]bool

func capabilitiesOf(c *mcp.ClientCapabilities) clientCapabilities {
	if c == nil {
		return nil
	}
	a := clientCapabilities{}
	if e := c.Elicitation; e != nil && (e.Form != nil || e.URL == nil) { // {} has always meant forms
		a[Elicitation] = true
	}
	if c.Sampling != nil {
		a[Sampling] = true
	}
	if c.Roots != nil {
		a[Roots] = true
	}
	if c.Extensions[Tasks] != nil {
		a[Tasks] = true
	}
	return a
}

// Question returns a's form elicitation as call.Call.Ask; nil: the client does not support forms.
func (a *Asker) Question() func(context.Context, call.Question) (call.Answer, error) {
	if !a.Can(Elicitation) {
		return nil
	}
	return func(ctx context.Context, q call.Question) (call.Answer, error) {
		if err := flat(q.Schema); err != nil {
			return call.Answer{}, err
		}
		params := rawjson.AppendText([]byte(`{"message":`), q.Message)
		params = append(append(append(params, `,"requestedSchema":`...), oneLine(q.Schema)...), '}')
		answers, err := a.Ask(ctx, Input{Method: Elicitation, Params: params})
		if err != nil {
			return call.Answer{}, err
		}
		return readAnswer(answers[nameOf(Input{}, 0)])
	}
}

// readAnswer checks what a client sent for elicitation/create.
func readAnswer(raw json.RawMessage) (call.Answer, error) {
	var a struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return call.Answer{}, fmt.Errorf("the client's answer is malformed: %w", err)
	}
	switch a.Action {
	case "accept":
		if !rawjson.IsObject(a.Content) {
			return call.Answer{}, errors.New("the client accepted without an object of values")
		}
		return call.Answer{Action: a.Action, Content: a.Content}, nil
	case "decline", "cancel":
		return call.Answer{Action: a.Action}, nil
	}
	return call.Answer{}, fmt.Errorf("the client's answer has the unknown action %q", clip.Runes(a.Action, 40))
}

// flat checks that a schema is one that MCP elicitation allows: an object whose properties are primitive values or
// lists of choices.
func flat(schema json.RawMessage) error {
	var s struct {
		Type       string `json:"type"`
		Properties map[string]struct {
			Type  string `json:"type"`
			Items *struct {
				Enum  []string          `json:"enum"`
				AnyOf []json.RawMessage `json:"anyOf"`
			} `json:"items"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(schema, &s); err != nil || s.Type != "object" || s.Properties == nil {
		return errors.New("the schema of a question is not one of an object with properties")
	}
	for name, p := range s.Properties {
		switch p.Type {
		case "string", "number", "integer", "boolean":
		case "array":
			if p.Items == nil || p.Items.Enum == nil && p.Items.AnyOf == nil {
				return fmt.Errorf("the property %q of a question is a list of something other than choices", name)
			}
		default:
			return fmt.Errorf("the property %q of a question is not a plain value", name)
		}
	}
	return nil
}

// reply is a client's answer to a request of ours.
type reply struct{ result, failure json.RawMessage }

// deliverReply hands a client's reply to the request of ours that it answers. A reply that is late, a duplicate or of
// another client is ignored.
func (p *peer) deliverReply(m *message) {
	id, _ := rawjson.Text(m.id)
	if waiting, open := p.sentRequests.LoadAndDelete(id); open {
		waiting.(chan reply) <- reply{m.result, m.failure}
	}
}

// streamAsker asks a client of the legacy era by requests on the stream of x.
func (f *Front) streamAsker(p *peer, x *exchange, able clientCapabilities) *Asker {
	ask := func(ctx context.Context, inputs []Input) (map[string]json.RawMessage, error) {
		answers := map[string]json.RawMessage{}
		waiting := make([]chan reply, len(inputs))
		for i, in := range inputs {
			id := f.nextName() + "-" + random.Hex(4) // not one that an earlier relay has asked under
			waiting[i] = make(chan reply, 1)
			p.sentRequests.Store(id, waiting[i])
			defer func() {
				if _, open := p.sentRequests.LoadAndDelete(id); open { // it has not answered
					x.cancelRequest(id)
				}
			}()
			if !x.sendRequest(id, in) {
				return nil, errors.New("the request has ended, so its client cannot be asked")
			}
		}
		for i, in := range inputs {
			select {
			case r := <-waiting[i]:
				if r.failure != nil {
					return nil, fmt.Errorf("the client failed to answer: %s", failureMessage(r.failure))
				}
				answers[nameOf(in, i)] = r.result
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-x.gone:
				return nil, errors.New("the client has lost the connection on which it was asked")
			}
		}
		return answers, nil
	}
	return &Asker{capabilities: able, ask: ask}
}

// nameOf is the key of the input at place i.
func nameOf(in Input, i int) string {
	if in.Key != "" {
		return in.Key
	}
	return fmt.Sprintf("question-%d", i+1)
}

func failureMessage(raw json.RawMessage) string {
	var e struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &e) != nil || e.Message == "" {
		return "without saying why"
	}
	return clip.Runes(fault.Sanitize(e.Message), 400)
}
