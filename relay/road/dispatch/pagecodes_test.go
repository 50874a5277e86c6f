package dispatch_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
)

// throwing is a page that throws an error with the code.
type throwing struct {
	oneTab
	code      fault.Code
	retryable bool
}

func (b throwing) Send(_ context.Context, _ call.Target, r call.Invocation) (*call.Reply, *fault.Error) {
	r.Started()
	thrown, _ := json.Marshal(map[string]any{"code": b.code, "message": "m", "retryable": b.retryable})
	failure, _ := fault.FromPage(thrown)
	return nil, failure
}

// TestCodesOfPages: whatever code a page throws, it reaches the agent as it is, and nothing is done about it here.
func TestCodesOfPages(t *testing.T) {
	for _, row := range fault.Table() {
		for _, retryable := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				o := options(t, nil, throwing{code: row.Code, retryable: retryable})
				told := 0
				o.Events = func(event.Owner, event.Kind, string, map[string]any) { told++ }
				began := time.Now()
				_, f := dispatch.New(o).Do(t.Context(), call.Call{ID: "00", Tool: "demo__read",
					Arguments: json.RawMessage(`{"id":1}`)})
				if f == nil || f.Code != row.Code || f.Retryable != retryable || f.RetryAfterMs != nil || !f.FromPage {
					t.Errorf("%s, retryable %t: the agent is told %+v", row.Code, retryable, f)
				}
				want := time.Duration(0)
				if retryable {
					want = 3 * time.Second // two pauses
				}
				if took := time.Since(began); took != want {
					t.Errorf("%s, retryable %t: took %s, want %s", row.Code, retryable, took, want)
				}
				if told == 0 {
					t.Errorf("%s, retryable %t: no event tells of it", row.Code, retryable)
				}
			})
		}
	}
}
