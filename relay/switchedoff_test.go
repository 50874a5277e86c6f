package relay

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"tabrelay/relay/state/config"
)

// A relay is without a capability that is switched off: no tools of its group, no routes, no findings, no figures.
func TestSwitchedOffCapabilities(t *testing.T) {
	for _, one := range capabilities {
		t.Run(one.Name, func(t *testing.T) {
			w := newWorld(t)
			text, err := json.Marshal(map[string]any{"capabilities": map[string]any{one.Name: false}})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(w.home.Config(), text, 0o600); err != nil {
				t.Fatal(err)
			}
			off, err := config.Load(w.home)
			if err != nil {
				t.Fatal(err)
			}
			off.Listen, off.Demo.Listen = "127.0.0.1:0", ""
			r, _ := w.relayAs(func(c *config.Config) { *c = off })
			for _, tool := range one.Tools() {
				if _, there := r.tools.Snapshot().Find(tool.Name); there {
					t.Errorf("%s is there", tool.Name)
				}
			}
			if len(r.attached) != len(capabilities)-1 || r.instructions()[one.Group] != "" {
				t.Error("it is attached")
			}
			on := newWorld(t)
			full, _ := on.relay()
			for _, route := range full.attached.routes() {
				method, path, _ := strings.Cut(route.Pattern, " ")
				path = strings.ReplaceAll(path, "{id}", "x")
				if status, answer := w.person(t, method, path, ""); status != 404 {
					t.Errorf("%s answers %d: %s", route.Pattern, status, answer)
				}
			}
		})
	}
}
