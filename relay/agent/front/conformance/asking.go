package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"tabrelay/relay/agent/front"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// A question asks for values; the schemas are those the suite looks for.
const (
	nameSchema    = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`
	colorSchema   = `{"type":"object","properties":{"color":{"type":"string"}},"required":["color"]}`
	contextSchema = `{"type":"object","properties":{"context":{"type":"string"}},"required":["context"]}`
	confirmSchema = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`
	personSchema  = `{"type":"object","properties":{"username":{"type":"string","description":"User's response"},` +
		`"email":{"type":"string","description":"User's email address"}},"required":["username","email"]}`
	defaultsSchema = `{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},` +
		`"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},` +
		`"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},` +
		`"verified":{"type":"boolean","default":true}}}`
	choices = `[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},` +
		`{"const":"value3","title":"Third Option"}]`
	enumsSchema = `{"type":"object","properties":{"untitledSingle":{"type":"string","enum":["option1","option2",` +
		`"option3"]},"titledSingle":{"type":"string","oneOf":` + choices + `},` +
		`"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option ` +
		`Three"]},` +
		`"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},` +
		`"titledMulti":{"type":"array","items":{"anyOf":` + choices + `}}}}`
)

// askingTools are those that ask with a call's own Ask, and the one that wants a model.
func (x *fixture) askingTools() []tool {
	withMessage := `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`
	withPrompt := `{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`
	return []tool{
		{"test_elicitation", "Asks the person.", withMessage, asks(personSchema)},
		{"test_elicitation_sep1034_defaults", "Asks with values filled in.", anything, asks(defaultsSchema)},
		{"test_elicitation_sep1330_enums", "Asks for choices.", anything, asks(enumsSchema)},
		{"test_sampling", "Asks the model.", withPrompt, func(ctx context.Context, c toolCall) (*call.Result,
			*fault.Error) {
			answer, fail := request(ctx, c.client, sample("question", argument(c, "prompt"), 100))
			if fail != nil {
				return nil, fail
			}
			return content(text("LLM response: " + saidBy(answer["question"]))), nil
		}},
	}
}

// asks puts a form before the person and repeats what they said.
func asks(schema string) run {
	return func(ctx context.Context, c toolCall) (*call.Result, *fault.Error) {
		if c.Ask == nil {
			return nil, incapable(front.Elicitation)
		}
		message := cmp.Or(argument(c, "message"), "Please fill in the form.")
		answer, err := c.Ask(ctx, call.Question{Message: message, Schema: json.RawMessage(schema)})
		if err != nil {
			return nil, fault.New(fault.InternalError, err.Error())
		}
		return content(text(fmt.Sprintf("User response: action=%s, content=%s", answer.Action, answer.Content))), nil
	}
}

// request asks the client, which must have said that it can be.
func request(
	ctx context.Context, client *front.Asker, inputs ...front.Input,
) (map[string]json.RawMessage, *fault.Error) {
	for _, in := range inputs {
		if !client.Can(in.Method) {
			return nil, incapable(in.Method)
		}
	}
	answers, err := client.Ask(ctx, inputs...)
	if err != nil {
		return nil, fault.New(fault.InternalError, err.Error())
	}
	return answers, nil
}

func form(key, message, schema string) front.Input {
	return front.Input{Key: key, Method: front.Elicitation,
		Params: rawjson.MustEncode(map[string]any{"message": message, "requestedSchema": json.RawMessage(schema)})}
}

func sample(key, prompt string, tokens int) front.Input {
	return front.Input{Key: key, Method: front.Sampling, Params: rawjson.MustEncode(map[string]any{
		"messages": []any{map[string]any{"role": "user", "content": text(prompt)}}, "maxTokens": tokens,
	})}
}

func roots(key string) front.Input { return front.Input{Key: key, Method: front.Roots} }

// stateTools are those of multi round-trip requests.
func (x *fixture) stateTools() []tool {
	confirm := form("confirm", "Please confirm", confirmSchema)
	greet := func(ctx context.Context, c toolCall) (*call.Result, *fault.Error) {
		answers, fail := request(ctx, c.client, form("user_name", "What is your name?", nameSchema))
		if fail != nil {
			return nil, fail
		}
		return content(text("Hello, " + value(answers["user_name"], "name") + "!")), nil
	}
	say := func(words string, inputs ...front.Input) run {
		return func(ctx context.Context, c toolCall) (*call.Result, *fault.Error) {
			answers, fail := request(ctx, c.client, inputs...)
			if fail != nil {
				return nil, fail
			}
			return content(text(words + " " + string(rawjson.MustEncode(answers)))), nil
		}
	}
	return []tool{
		{"test_input_required_result_elicitation", "Asks for a name.", anything, greet},
		{"test_streaming_elicitation", "Asks for a name.", anything, greet},
		{"test_input_required_result_sampling", "Asks the model.", anything,
			say("answer", sample("capital_question", "What is the capital of France?", 100))},
		{"test_input_required_result_list_roots", "Asks for folders.", anything, say("roots", roots("client_roots"))},
		{"test_input_required_result_request_state", "Asks for a confirmation.", anything, say("state-ok", confirm)},
		{"test_input_required_result_tampered_state", "Asks for a confirmation.", anything, say("state-ok", confirm)},
		{"test_input_required_result_multiple_inputs", "Asks for three things at once.", anything,
			say("all", form("user_name", "What is your name?", nameSchema), sample("greeting", "Generate a greeting",
				50), roots("client_roots"))},
		{"test_input_required_result_multi_round", "Asks twice.", anything,
			func(ctx context.Context, c toolCall) (*call.Result, *fault.Error) {
				name := form("step1", "Step 1: What is your name?", nameSchema)
				color := form("step2", "Step 2: What is your favorite color?", colorSchema)
				if _, fail := request(ctx, c.client, name); fail != nil {
					return nil, fail
				}
				answers, fail := request(ctx, c.client, color)
				if fail != nil {
					return nil, fail
				}
				return content(text("color " + value(answers["step2"], "color"))), nil
			}},
		{"test_input_required_result_capabilities", "Asks for what the client can be asked.", anything,
			func(ctx context.Context, c toolCall) (*call.Result, *fault.Error) {
				var inputs []front.Input
				for _, in := range []front.Input{sample("model", "hi", 10),
					form("person", "What is your name?", nameSchema)} {
					if c.client.Can(in.Method) {
						inputs = append(inputs, in)
					}
				}
				return say("asked", inputs...)(ctx, c)
			}},
		{"test_missing_capability", "Wants a model.", anything, say("ok", sample("model", "hi", 10))},
	}
}

// argument is one of a call's arguments, when it is text.
func argument(c toolCall, name string) string { return textOf(c.Arguments, name) }

// value is one value of what a person filled in.
func value(answer json.RawMessage, name string) string {
	var a struct {
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(answer, &a)
	return textOf(a.Content, name)
}

// saidBy is the text of what a model said.
func saidBy(answer json.RawMessage) string {
	var a struct {
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(answer, &a)
	return textOf(a.Content, "text")
}

func textOf(object json.RawMessage, name string) string {
	var members map[string]any
	_ = json.Unmarshal(object, &members)
	s, _ := members[name].(string)
	return s
}
