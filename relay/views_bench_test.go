package relay

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
)

// BenchmarkView is what it takes to know whether the list of a client that was made before still holds ("kept"), and to
// decide for each of 2 000 tools whether it is shown ("anew").
func BenchmarkView(b *testing.B) {
	w := newWorld(b)
	big := shop()
	big.Manifest.Tools = nil
	for i := range 2000 {
		big.Manifest.Tools = append(big.Manifest.Tools, plugin.Tool{Name: fmt.Sprintf("tool_%d", i),
			InputSchema: json.RawMessage(`{"type":"object"}`)})
	}
	cfg := config.Default()
	cfg.Listen, cfg.Demo.Listen, cfg.Review.Required = "127.0.0.1:0", "", false
	r, err := New(b.Context(), cfg, Options{Home: w.home, Log: zerolog.Nop(), Plugins: []plugin.Plugin{big}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := r.Close(); err != nil {
			b.Error(err)
		}
	})
	if _, err := r.secrets.AddWithin("ann", call.Scope{Plugins: "shop"}); err != nil {
		b.Fatal(err)
	}
	ann := call.Session{Client: "ann", Via: "stdio"}
	var view registry.View
	b.Run("kept", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			view = r.policy.View(ann)
		}
	})
	b.Run("anew", func(b *testing.B) {
		var shown *registry.Tool
		for b.Loop() {
			for _, t := range r.tools.Snapshot().Tools {
				if view.Shows(t) {
					shown = t
				}
			}
		}
		_ = shown
	})
}
