package front

import (
	"context"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
)

// Audit writes down what was called. Calls that reach the Caller are its business; these are those that do not: refused
// before, or answered here.
type Audit interface {
	// Record does not wait for the disk. The entry's arguments belong to the caller again once it returns.
	Record(e call.Entry)
}

// record writes down the end of a call that the Caller did not see; fail is nil when it succeeded.
func (f *Front) record(c *call.Call, name string, began time.Time, fail *fault.Error) {
	if f.options.Audit == nil {
		return
	}
	e := call.Entry{
		At: time.Now(), Kind: call.EntryCall, Session: c.Session, Tool: name, Plugin: "relay", Arguments: c.Arguments, Outcome: "returned",
		Duration: time.Since(began), CallID: c.ID,
	}
	if fail != nil {
		e.Outcome, e.Code, e.Detail = string(fault.NotExecuted), string(fail.Code), fail.Message
		if findGateway(name) == nil {
			e.Plugin = "" // there is no such tool
		}
	}
	f.options.Audit.Record(e)
}

// passed says that the Caller took a call over.
type passed struct{ yes bool }

// recorded runs a tool of the gateway and writes it down, unless it passed the call on.
func (g *gatewayTool) recorded(ctx context.Context, f *Front, c call.Call) (*call.Result, *fault.Error) {
	began, on := time.Now(), &passed{}
	result, failure := g.run(context.WithValue(ctx, passed{}, on), f, c)
	if !on.yes {
		f.record(&c, g.name, began, failure)
	}
	return result, failure
}

// pass hands a call of the gateway over to the Caller.
func (f *Front) pass(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
	if on, ok := ctx.Value(passed{}).(*passed); ok {
		on.yes = true
	}
	return f.options.Caller.Do(ctx, c)
}
