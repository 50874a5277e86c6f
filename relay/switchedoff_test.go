package relay

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"tabrelay/relay/capability"
	"tabrelay/relay/state/config"
)

// attachmentOf is a capability in a relay that has all of them.
func (r *Relay) attachmentOf(name string) capability.Attachment {
	return r.attached[slices.IndexFunc(r.attachedAs, func(on capability.Capability) bool { return on.Name == name })]
}

func toolNames(one capability.Attachment) (names []string) {
	if one.Tools == nil {
		return nil
	}
	for _, tool := range one.Tools() {
		names = append(names, tool.Name)
	}
	return names
}

// A relay is without a capability that is switched off: no tools of its group, no routes, no findings, no figures.
func TestSwitchedOffCapabilities(t *testing.T) {
	for _, one := range capabilities {
		t.Run(one.Name, func(t *testing.T) {
			w := newWorld(t)
			section, switchKey, _ := strings.Cut(one.Settings.Key(), ".")
			text, err := json.Marshal(map[string]any{section: map[string]any{switchKey: false}})
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
			on := newWorld(t)
			full, _ := on.relay()
			attached := full.attachmentOf(one.Name)
			for _, name := range toolNames(attached) {
				if _, there := r.tools.Snapshot().Find(name); there {
					t.Errorf("%s is there", name)
				}
			}
			if len(r.attached) != len(capabilities)-1 || r.instructions()[one.Group] != "" {
				t.Error("it is attached")
			}
			for _, route := range attached.Routes {
				method, path, _ := strings.Cut(route.Pattern, " ")
				path = strings.ReplaceAll(path, "{id}", "x")
				if status, answer := w.person(t, method, path, ""); status != 404 {
					t.Errorf("%s answers %d: %s", route.Pattern, status, answer)
				}
			}
		})
	}
}
