package script

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// toolName is the tool's.
const toolName = "relay__run"

const about = "Runs JavaScript that calls tools and returns one value: for loops and long errands. " +
	"await tools.<plugin>.<toolName>({…}), browser.<tool>({…}), Promise.all for reads; args, log(), sleep(ms). " +
	"A failed call throws a ToolError (code, outcome, retryable). " +
	"relay__describe_tool with as: \"types\" declares a tool."

const input = `{"type":"object","properties":{` +
	`"script":{"type":"string","minLength":1,"description":"Top-level await; return, or end with, the value."},` +
	`"args":{"type":"object","description":"The script's args."},` +
	`"id":{"type":"string","minLength":1,"maxLength":100,` +
	`"description":"Sent again with it, a script does not run twice."},` +
	`"timeoutMs":{"type":"integer","minimum":1}},"required":["script"],"additionalProperties":false}`

// longest is longer than any call may take: the script has a clock of its own.
const longest = 10 * time.Minute

// Tools are relay__run.
func (s *Scripts) Tools() []registry.Tool {
	no, yes := false, true
	return []registry.Tool{{
		Name: toolName, Group: Group, Unqueued: true, ForClients: true, Task: true, Run: s.call,
		Spec: plugin.Tool{
			Name: toolName, DisplayName: "Run a script", Description: about, InputSchema: json.RawMessage(input),
			Annotations: plugin.Annotations{ReadOnlyHint: &no, IdempotentHint: &no, OpenWorldHint: &yes},
			TimeoutMs:   int(longest.Milliseconds()),
		},
	}}
}

// arguments are those of the tool.
type arguments struct {
	Script    string          `json:"script"`
	Args      json.RawMessage `json:"args,omitempty"`
	ID        string          `json:"id,omitempty"`
	TimeoutMs int64           `json:"timeoutMs,omitempty"`
}

// call carries a call of the tool out.
func (s *Scripts) call(ctx context.Context, c call.Call, raw json.RawMessage) (*call.Result, *fault.Error) {
	var a arguments
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fault.New(fault.ValidationError, "The arguments cannot be read: "+err.Error())
	}
	limits := *s.settings.Load()
	if len(a.Script) > limits.ScriptBytes {
		return nil, fault.New(fault.InputTooLarge, fmt.Sprintf("The script has %d bytes; at most %d are taken "+
			"(scripts.scriptBytes)", len(a.Script), limits.ScriptBytes),
			fault.WithHint("Put data into args, or run several scripts."))
	}
	if len(a.Args) == 0 {
		a.Args = json.RawMessage("null")
	}
	if a.TimeoutMs > 0 {
		limits.Time = min(call.Timeout(a.TimeoutMs), s.core.Config.MaxTimeout)
	}
	run := &run{Scripts: s, asked: c, args: a, limits: limits}
	if a.ID == "" {
		return run.do(ctx)
	}
	return s.kept.once(ctx, run)
}
