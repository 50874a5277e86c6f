package relay

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/extension"
	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/lib/random"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/plugin"
)

// metric waits until a line of /metrics is there. Counting happens beside the call, so it may be a moment later.
func (w *world) metric(t *testing.T, lines ...string) {
	t.Helper()
	var text []byte
	for _, line := range lines {
		for deadline := time.Now().Add(time.Minute); ; {
			res, err := join.HTTP(w.home).Get("http://127.0.0.1/metrics")
			if err != nil {
				t.Fatal(err)
			}
			text, err = io.ReadAll(res.Body)
			_ = res.Body.Close() // only read from
			if err != nil || res.StatusCode != http.StatusOK {
				t.Fatal(res.StatusCode, err)
			}
			if strings.Contains("\n"+string(text), "\n"+line+"\n") {
				break
			}
			if time.Now().After(deadline) {
				t.Errorf("/metrics lacks %s\n%s", line, ours(string(text)))
				break
			}
		}
	}
}

func ours(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "tabrelay_") && !strings.Contains(line, "_bucket") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// Every metric is provoked in a relay that runs, and read where Prometheus reads it.
func TestMetricsOfARelay(t *testing.T) {
	w := newWorld(t)
	cfg := openConfig()
	cfg.Listen, cfg.Demo.Listen = "127.0.0.1:0", ""
	cfg.Errors.Transient.Retry.InitialDelay, cfg.Breaker.Failures = time.Millisecond, 2
	r, err := New(t.Context(), cfg, Options{Home: w.home, Log: zerolog.Nop(), Plugins: []plugin.Plugin{shop()}})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- r.Run(context.Background()) }()
	defer func() { r.Stop(); <-ended }()

	reached, goOn := make(chan struct{}), make(chan struct{})
	b := w.browser(func(c *hubtest.Call) {
		c.Started()
		switch {
		case strings.Contains(string(c.Arguments), "wait"):
			close(reached)
			<-goOn
			c.Return(json.RawMessage(`{}`))
		case strings.Contains(string(c.Arguments), "busy"):
			c.Throw(json.RawMessage(`{"code":"NETWORK","message":"Too busy","category":"internal","retryable":true,` +
				`"odd":1}`))
		case strings.Contains(string(c.Arguments), "hung"): // a breaker counts it
			c.Refuse(wire.Refusal{Code: "TAB_UNRESPONSIVE", Outcome: "not_executed", Message: "A dialog is open"})
		case strings.Contains(string(c.Arguments), "bad"):
			c.Throw(json.RawMessage(`{"code":"made up","message":"No","category":"nonsense"}`))
		default:
			c.Return(json.RawMessage(`{}`))
		}
	})
	do := func(what string) {
		_, _ = r.calls.Do(t.Context(), call.Call{ID: call.ID(random.Hex(16)),
			Session: call.Session{ID: "l", Client: "ann"}, Tool: "shop__read",
			Arguments: json.RawMessage(`{"what":"` + what + `"}`)})
	}
	do("x")
	w.metric(t, `tabrelay_browsers 1`, `tabrelay_calls_total{outcome="ok",plugin="shop"} 1`,
		`tabrelay_call_seconds_count{plugin="shop"} 1`, `tabrelay_inflight 0`)
	done := make(chan struct{})
	go func() { defer close(done); do("wait") }()
	<-reached
	w.metric(t, `tabrelay_inflight 1`)
	close(goOn)
	<-done
	do("bad")
	w.metric(t, `tabrelay_errors_total{class="tool",code="other",source="UPSTREAM"} 1`,
		`tabrelay_calls_total{outcome="executed",plugin="shop"} 1`, `tabrelay_repairs_total{plugin="shop"} 2`)
	do("busy")
	w.metric(t, `tabrelay_retries_total{result="failure"} 1`)
	do("hung")
	do("hung")
	w.metric(t, `tabrelay_breaker_state{name="plugin:shop@`+b.ProfileID()+`"} 2`,
		`tabrelay_breaker_trips_total{name="plugin:shop@`+b.ProfileID()+`"} 1`)
	b.SendRaw([]byte("nonsense"))
	w.metric(t, `tabrelay_corruption_total{peer="extension"} 1`)
	if got := r.meter.Corruptions()["extension"]; got != 1 {
		t.Errorf("health counts %d", got)
	}
	news, stop := r.events.Subscribe()
	defer stop()
	if _, err := hubtest.Connect(t.Context(), hubtest.Options{Address: r.Address(), Secret: strings.Repeat("0", 64),
		ExtensionID: extension.ID}); err == nil {
		t.Fatal("a stranger connected")
	}
	for e := range news { // after that of the nonsense
		if e.Kind == event.Fatal {
			break
		}
	}
	w.metric(t, `tabrelay_fatal_total 1`)
	b.Close()
	w.metric(t, `tabrelay_browsers 0`)
}
