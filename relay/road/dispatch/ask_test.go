package dispatch_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/fault"
)

// The time a person takes to answer is not the call's, and is bounded.
func TestThePersonsTimeIsNotTheCalls(t *testing.T) {
	for name, test := range map[string]struct {
		answers time.Duration // after which the person does
		action  string
		code    fault.Code
		after   time.Duration
	}{
		"soon":                  {time.Second, "accept", "", time.Second},
		"longer than the call":  {4 * time.Minute, "accept", "", 4 * time.Minute},
		"never":                 {time.Hour, "", fault.ApprovalTimeout, 5 * time.Minute},
		"the tool takes longer": {time.Minute, "hang", fault.TimeoutCode, time.Minute + 3*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := dispatch.New(options(t, nil, &pages{t: t, writing: map[int]bool{}}))
				start := time.Now()
				_, failure := d.Do(t.Context(), call.Call{ID: "000000000000000000000000000000ff", Tool: "relay__ask",
					Timeout: 3 * time.Second,
					Ask: func(ctx context.Context, _ call.Question) (call.Answer, error) {
						select {
						case <-time.After(test.answers):
							return call.Answer{Action: test.action}, nil
						case <-ctx.Done():
							return call.Answer{}, ctx.Err()
						}
					}})
				var code fault.Code
				if failure != nil {
					code = failure.Code
				}
				if took := time.Since(start); code != test.code || took != test.after {
					t.Errorf("%v after %v, want %q after %v", failure, took, test.code, test.after)
				}
			})
		})
	}
}
