package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/agent/front"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// fixture stands in for everything behind a front.
type fixture struct {
	tools   *registry.Registry
	run     map[string]run
	prompts prompts
	memory  memory

	mu    lock.Mutex
	added int // tools that appeared while the server ran
}

// run carries one tool out.
// toolCall is a call, and whom it may ask.
type toolCall struct {
	call.Call
	client *front.Asker // nil: nobody
}

type run func(ctx context.Context, c toolCall) (*call.Result, *fault.Error)

// The smallest image and sound there are.
const (
	pixel   = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	silence = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
)

var image = map[string]any{"type": "image", "data": pixel, "mimeType": "image/png"}

// anything is the schema of a tool that takes no arguments, or whose arguments do not matter.
const anything = `{"type":"object"}`

func newFixture() *fixture {
	x := &fixture{run: map[string]run{}}
	var tools []registry.Tool
	for _, t := range slices.Concat(x.contentTools(), x.askingTools(), x.stateTools(), x.taskTools()) {
		tools = append(tools, registry.Tool{Name: t.name, Task: isTask(t.name), Spec: plugin.Tool{Description: t.about,
			InputSchema: json.RawMessage(t.schema)}})
		x.run[t.name] = t.run
	}
	x.tools = registry.New(tools)
	return x
}

type tool struct {
	name, about, schema string
	run                 run
}

// Do implements front.Caller.
func (x *fixture) Do(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
	return x.DoAsking(ctx, c, nil)
}

// DoAsking implements front.AskingCaller.
func (x *fixture) DoAsking(ctx context.Context, c call.Call, client *front.Asker) (*call.Result, *fault.Error) {
	if do := x.run[c.Tool]; do != nil {
		return do(ctx, toolCall{c, client})
	}
	return content(text("a tool that appeared later")), nil
}

// Reserve and Withdraw implement front.Caller: nothing waits here.
func (*fixture) Reserve(string) call.Position { return 0 }

func (*fixture) Withdraw(call.Position) {}

// contentTools are those that answer without asking anything.
func (x *fixture) contentTools() []tool {
	mixed := embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`)
	return []tool{
		{"test_simple_text", "Answers with text.", anything,
			always(text("This is a simple text response for testing."))},
		{"test_image_content", "Answers with an image.", anything, always(image)},
		{"test_audio_content", "Answers with a sound.", anything,
			always(map[string]any{"type": "audio", "data": silence, "mimeType": "audio/wav"})},
		{"test_embedded_resource", "Answers with a resource.", anything,
			always(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."))},
		{"test_multiple_content_types", "Answers with several kinds of content.", anything,
			always(text("Multiple content types test:"), image, mixed)},
		{"test_error_handling", "Always fails.", anything, func(context.Context, toolCall) (*call.Result,
			*fault.Error) {
			return nil, fault.New(fault.InternalError, "This tool intentionally returns an error for testing")
		}},
		{"test_reconnection", "Takes a moment.", anything, always(text("Reconnection test completed"))},
		{"test_tool_with_logging", "Logs three lines.", anything, logs("Tool execution started", "Tool processing data",
			"Tool execution completed")},
		{"test_logging_tool", "Logs a line.", anything, logs("hello")},
		{"test_tool_with_progress", "Reports progress.", anything, progress},
		{"json_schema_2020_12_tool", "Has a schema with words of JSON Schema 2020-12.", schema202012,
			always(text("ok"))},
		{"test_custom_headers", "Has arguments that are headers too.",
			`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},` +
				`"query":{"type":"string"},"priority":{"type":"integer","x-mcp-header":"Priority"}},` +
				`"required":["region","query"]}`, always(text("ok"))},
		{"test_trigger_tool_change", "Makes another tool appear.", anything,
			func(context.Context, toolCall) (*call.Result, *fault.Error) {
				x.addTool()
				return content(text("ok")), nil
			}},
		{"test_trigger_prompt_change", "Makes another prompt appear.", anything,
			func(context.Context, toolCall) (*call.Result, *fault.Error) {
				x.prompts.add()
				return content(text("ok")), nil
			}},
	}
}

const schema202012 = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
	`"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},` +
	`"city":{"type":"string"}}}},` +
	`"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string",` +
	`"enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},` +
	`"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],` +
	`"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},` +
	`"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`

// addTool has a plugin with one more tool than before.
func (x *fixture) addTool() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.added++
	later := plugin.Plugin{Hash: fmt.Sprint(x.added), Manifest: plugin.Manifest{Name: "later", Version: "1.0.0",
		URLPatterns: []string{"*://later.example/*"}, World: plugin.Isolated}}
	for i := range x.added {
		later.Manifest.Tools = append(later.Manifest.Tools, plugin.Tool{Name: fmt.Sprintf("tool_%d", i+1),
			Description: "Appeared later.", InputSchema: json.RawMessage(anything)})
	}
	if err := x.tools.Replace([]plugin.Plugin{later}, nil); err != nil {
		panic(err)
	}
}

// pause lies between two lines of a log, or two steps of progress.
const pause = 50 * time.Millisecond

func logs(lines ...string) run {
	return func(_ context.Context, c toolCall) (*call.Result, *fault.Error) {
		for i, line := range lines {
			if i > 0 {
				time.Sleep(pause)
			}
			if c.Log != nil {
				c.Log(call.LogEntry{Level: "info", Message: line})
			}
		}
		return content(text("ok")), nil
	}
}

func progress(_ context.Context, c toolCall) (*call.Result, *fault.Error) {
	total := 100.0
	for i, step := range []float64{0, 50, 100} {
		if i > 0 {
			time.Sleep(pause)
		}
		if c.Progress != nil {
			c.Progress(call.Progress{Progress: step, Total: &total, Message: fmt.Sprintf("Completed step %v of 100",
				step)})
		}
	}
	return content(text("ok")), nil
}

func always(items ...map[string]any) run {
	return func(context.Context, toolCall) (*call.Result, *fault.Error) { return content(items...), nil }
}

func content(items ...map[string]any) *call.Result {
	r := &call.Result{}
	for _, item := range items {
		r.Content = append(r.Content, rawjson.MustEncode(item))
	}
	return r
}

func text(s string) map[string]any { return map[string]any{"type": "text", "text": s} }

func embedded(uri, kind, s string) map[string]any {
	return map[string]any{"type": "resource", "resource": map[string]any{"uri": uri, "mimeType": kind, "text": s}}
}

// incapable says that the client cannot be asked for something.
func incapable(method string) *fault.Error {
	name, _, _ := strings.Cut(method, "/")
	return fault.New(fault.ClientCapabilityMissing, "The client has not said that it can be asked for "+method,
		fault.WithData(rawjson.MustEncode(
			map[string]any{"requiredCapabilities": map[string]any{name: map[string]any{}}})))
}

var _ front.Caller = (*fixture)(nil)
