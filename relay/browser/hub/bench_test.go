package hub_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/schedule"
)

// loopback is a hub on a real port, and a browser that answers at once.
func loopback(tb testing.TB) *hub.Hub {
	tb.Helper()
	h := hub.New(hub.Config{Secret: func() string { return secret }, ExtensionIDs: []string{extension},
		Log: zerolog.Nop()})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	server := &http.Server{Handler: h.Handler()}
	go func() { _ = server.Serve(listener) }()
	b, err := hubtest.Connect(tb.Context(), hubtest.Options{
		Address: listener.Addr().String(), Secret: secret, ExtensionID: extension, Tabs: []wire.Tab{demoTab(1)},
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		h.Close(tb.Context())
		<-b.Gone()
		_ = server.Close()
	})
	return h
}

// invoke runs one attempt.
func invoke(ctx context.Context, h *hub.Hub, r call.Invocation) (*call.Reply, *fault.Error) {
	return attempt(ctx, h, schedule.New(schedule.Limits{}), r, nil)
}

func TestOverLoopback(t *testing.T) {
	h := loopback(t)
	for _, size := range []int{1, 1000, 100_000, 5 << 20} {
		value := json.RawMessage(`"` + strings.Repeat("x", size) + `"`)
		reply, failure := invoke(t.Context(), h, request(func(r *call.Invocation) { r.Arguments = value }))
		if failure != nil {
			t.Fatal(failure)
		}
		if string(reply.Output) != string(value) {
			t.Errorf("%d bytes came back changed", size)
		}
	}
}

func BenchmarkInvoke(b *testing.B) {
	h := loopback(b)
	r, waits := request(), schedule.New(schedule.Limits{})
	b.ReportAllocs()
	for b.Loop() {
		if _, failure := attempt(b.Context(), h, waits, r, nil); failure != nil {
			b.Fatal(failure)
		}
	}
}

func BenchmarkInvokeParallel(b *testing.B) {
	h := loopback(b)
	b.ReportAllocs()
	waits := schedule.New(schedule.Limits{})
	b.SetParallelism(16) // 32 in flight on two cores
	b.RunParallel(func(pb *testing.PB) {
		r := request()
		for pb.Next() {
			if _, failure := attempt(b.Context(), h, waits, r, nil); failure != nil {
				b.Error(failure)
				return
			}
		}
	})
}

func BenchmarkInvokeMiB(b *testing.B) {
	h := loopback(b)
	r := request(func(r *call.Invocation) { r.Arguments = json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`) })
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		if _, failure := invoke(b.Context(), h, r); failure != nil {
			b.Fatal(failure)
		}
	}
}
