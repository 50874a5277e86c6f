package call_test

import (
	"math"
	"testing"
	"time"

	"tabrelay/relay/road/call"
)

// However long a client says that a call may take, it is not over at once.
func TestTimeoutNeverOverflows(t *testing.T) {
	const most = 1e12 * time.Millisecond
	for ms, want := range map[int64]time.Duration{0: 0, 1: time.Millisecond, 999_999_999_999: most - time.Millisecond,
		1e12: most, 1e12 + 1: most, 9_223_372_036_855: most, math.MaxInt64: most} {
		if got := call.Timeout(ms); got != want {
			t.Errorf("%d ms are %v, want %v", ms, got, want)
		}
		if got := call.Timeout(float64(ms)); got != want {
			t.Errorf("%d ms as a float are %v, want %v", ms, got, want)
		}
	}
	if got := call.Timeout(math.Inf(1)); got != most {
		t.Errorf("for ever is %v", got)
	}
}
