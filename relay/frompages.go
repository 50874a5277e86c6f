package relay

import (
	"context"
	"encoding/json"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
)

// toolRun is how a tool of the relay itself runs.
type toolRun = func(context.Context, call.Call, json.RawMessage) (*call.Result, *fault.Error)

// fromPages marks the answers of a tool that repeats what pages said: titles, kept results, errors.
func fromPages(run toolRun) toolRun {
	return func(ctx context.Context, c call.Call, arguments json.RawMessage) (*call.Result, *fault.Error) {
		result, failure := run(ctx, c, arguments)
		if result != nil {
			result.Meta.Untrusted = true
		}
		return result, failure
	}
}
