package metrics

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tabrelay/relay/road/fault"
)

func TestCallsAndErrorsAreCounted(t *testing.T) {
	m := New(func() int { return 1 })
	m.CallDone("demo", "ok", 3*time.Millisecond)
	m.CallDone("demo", "unknown", 30*time.Second)
	m.ErrorRaised(fault.Transient, fault.SourceTransport, fault.ExtensionLost)
	m.ErrorRaised(fault.Tool, fault.SourceUpstream, "MADE_UP_BY_A_PAGE")
	m.ErrorRaised(fault.Tool, fault.SourceUpstream, "MADE_UP_AGAIN")
	m.ErrorRaised(fault.Fatal, fault.SourceTransport, fault.PairingFailed)
	m.Browsers(2)
	m.Retry("succeeded", 1500*time.Millisecond)
	m.Corruption("extension")
	m.LinkRefused()
	m.LateAnswer()
	m.Repaired("demo", 3)
	m.Breaker("demo/p1", 2)

	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	got := w.Body.String()
	for _, line := range []string{
		`tabrelay_calls_total{outcome="ok",plugin="demo"} 1`,
		`tabrelay_calls_total{outcome="unknown",plugin="demo"} 1`,
		`tabrelay_call_seconds_count{plugin="demo"} 2`,
		`tabrelay_call_seconds_bucket{plugin="demo",le="0.005"} 1`,
		`tabrelay_errors_total{class="transient",code="EXTENSION_LOST",source="TRANSPORT"} 1`,
		`tabrelay_errors_total{class="tool",code="other",source="UPSTREAM"} 2`,
		`tabrelay_inflight 1`,
		`tabrelay_browsers 2`,
		`tabrelay_retries_total{result="succeeded"} 1`,
		`tabrelay_retry_seconds_total 1.5`,
		`tabrelay_fatal_total 2`,
		`tabrelay_corruption_total{peer="extension"} 1`,
		`tabrelay_late_outcomes_total 1`,
		`tabrelay_repairs_total{plugin="demo"} 3`,
		`tabrelay_breaker_state{name="demo/p1"} 2`,
		`tabrelay_breaker_trips_total{name="demo/p1"} 1`,
		`go_goroutines`,
	} {
		if !strings.Contains(got, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New(func() int { return 0 })
	}
}

func BenchmarkCallDone(b *testing.B) {
	m := New(func() int { return 0 })
	b.ReportAllocs()
	for b.Loop() {
		m.CallDone("demo", "ok", time.Millisecond)
	}
}
