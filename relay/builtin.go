package relay

import (
	"context"
	"encoding/json"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/metrics"
	"tabrelay/relay/registry"
)

var yes, no = true, false

// builtins are the tools that need no page.
func (r *Relay) builtins() []registry.Tool {
	return []registry.Tool{
		r.healthTool(), r.doctorTool(), r.readResultTool(), r.deadLettersTool(),
		r.listTabsTool(), r.openTabTool(),
	}
}

// builtin makes a tool of a function from its arguments to its answer.
func builtin[A, B any](do func(context.Context, A) (B, *fault.Error)) func(context.Context, call.Call, json.RawMessage) (*call.Result, *fault.Error) {
	return func(ctx context.Context, _ call.Call, raw json.RawMessage) (*call.Result, *fault.Error) {
		var args A
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &args); err != nil {
				return nil, fault.New(fault.ValidationError, "The arguments cannot be read: "+err.Error())
			}
		}
		answer, failure := do(ctx, args)
		if failure != nil {
			return nil, failure
		}
		output, err := json.Marshal(answer)
		if err != nil {
			return nil, fault.New(fault.InternalError, "The answer cannot be encoded", fault.WithCause(err))
		}
		return &call.Result{Output: output}, nil
	}
}

func pointers(tools []registry.Tool) (list []*registry.Tool) {
	for i := range tools {
		list = append(list, &tools[i])
	}
	return list
}

// linkMeter counts what the hub sees.
type linkMeter struct{ *metrics.Metrics }

// LateAnswer counts an outcome that nobody waited for.
func (m linkMeter) LateAnswer() { m.LateOutcome() }
