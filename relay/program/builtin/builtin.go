// Package builtin is the relay's own tools, which need no plugin: how the relay is, what the doctor finds, results that
// were kept, dead letters, and the tabs of the browsers. The HTTP API answers people with the same.
package builtin

import (
	"context"
	"encoding/json"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/program/doctor"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/metrics"
	"tabrelay/relay/state/store"
)

// Sources are what the tools tell of. Everything is there before the first call; the tools can be listed without.
type Sources struct {
	Version string
	Began   time.Time
	Hub     *hub.Hub
	Tools   *registry.Registry
	Calls   *dispatch.Dispatcher
	Store   *store.Store
	Meter   *metrics.Metrics
	Notices *event.Notices
	Policy  *policy.Policy
	Catalog *catalog.Catalog
	Letters *DeadLetters

	// Agents is how the agents are that act for clients.
	Agents func() AgentHealth

	// Unwritable reports whether the database cannot be written at the moment.
	Unwritable func() bool

	Findings func(ctx context.Context) []doctor.Finding // of the doctor, with folders

	MaxBytes    int // of an answer, where the call does not say
	ResultBytes int // of any answer
}

// List is the tools.
func (s *Sources) List() []registry.Tool {
	return []registry.Tool{
		s.healthTool(), s.doctorTool(), s.readResultTool(), s.deadLettersTool(), s.listTabsTool(), s.openTabTool(),
	}
}

var yes, no = true, false

// run is how a tool runs.
type run = func(context.Context, call.Call, json.RawMessage) (*call.Result, *fault.Error)

// answering makes a tool of a function from its arguments to its answer.
func answering[A, B any](do func(context.Context, call.Call, A) (B, *fault.Error)) run {
	return func(ctx context.Context, c call.Call, raw json.RawMessage) (*call.Result, *fault.Error) {
		var args A
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &args); err != nil {
				return nil, fault.New(fault.ValidationError, "The arguments cannot be read: "+err.Error())
			}
		}
		answer, failure := do(ctx, c, args)
		if failure != nil {
			return nil, failure
		}
		return encoded(answer)
	}
}

func encoded(v any) (*call.Result, *fault.Error) {
	output, err := json.Marshal(v)
	if err != nil {
		return nil, fault.New(fault.InternalError, "The answer cannot be encoded", fault.WithCause(err))
	}
	return &call.Result{Output: output}, nil
}

// fromPages marks the answers of a tool that repeats what pages said: titles, kept results, errors.
func fromPages(do run) run {
	return func(ctx context.Context, c call.Call, arguments json.RawMessage) (*call.Result, *fault.Error) {
		answer, failure := do(ctx, c, arguments)
		if answer != nil {
			answer.Meta.Untrusted = true
		}
		return answer, failure
	}
}
