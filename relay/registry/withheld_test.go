package registry_test

import (
	"strings"
	"testing"

	"tabrelay/relay/plugin"
	"tabrelay/relay/registry"
)

// What no person accepted is not there, and it is known why.
func TestWithheld(t *testing.T) {
	off := &registry.Withheld{Tools: []string{"pay", "read"}, Why: "nobody has reviewed it"}
	shop := plugin.Plugin{Manifest: plugin.Manifest{Name: "shop", URLPatterns: []string{"https://shop.example/*"},
		Tools: []plugin.Tool{{Name: "read", InputSchema: []byte(`{"type":"object"}`)}}}}
	for _, c := range []struct {
		name    string
		plugins []plugin.Plugin
		given   registry.Configured
		pay     bool // off
		reads   bool // there
	}{
		{"a new plugin", nil, registry.Configured{Withheld: off}, true, false},
		{"a newer content", []plugin.Plugin{shop}, registry.Configured{Withheld: off}, true, true},
		{"switched off", nil, registry.Configured{Withheld: off, Disabled: true}, false, false},
		{"accepted", []plugin.Plugin{shop}, registry.Configured{}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := registry.New(nil)
			if err := r.Replace(c.plugins, map[string]registry.Configured{"shop": c.given}); err != nil {
				t.Fatal(err)
			}
			s := r.Snapshot()
			if _, there := s.Find("shop__read"); there != c.reads {
				t.Errorf("read is there: %v", there)
			}
			if failure := s.Withheld("shop__pay"); (failure != nil) != c.pay || c.pay &&
				!strings.HasSuffix(failure.Message, off.Why) {
				t.Errorf("pay fails with %v", failure)
			}
			if len(s.Problems) > 0 {
				t.Errorf("problems: %v", s.Problems)
			}
			if tool, ok := s.Find("shop__read"); ok {
				r.Reject(tool, "its schema does not compile")
			}
			if failure := r.Snapshot().Withheld("shop__pay"); (failure != nil) != c.pay {
				t.Error("a later snapshot does not know it")
			}
		})
	}
}
