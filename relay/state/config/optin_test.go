package config

import (
	"testing"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/plugin"

	"github.com/google/go-cmp/cmp"
)

// The tools for developers are off in every configuration that does not switch them on, and switching them on is
// something that a person confirms, whatever an earlier version knew of them.
func TestDeveloperToolsAreOffUntilTheyAreSwitchedOn(t *testing.T) {
	read := func(file string) Config {
		c, err := read(t, file)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, file := range []string{`{}`, `{"plugins": {"browser-dev": {}}}`,
		`{"plugins": {"browser-dev": {"urlPatterns": []}}}`, `{"plugins": {"browser-dev": {"enabled": false}}}`,
		`{"plugins": {"demo": {"enabled": true}}}`} {
		if c := read(file); c.Plugin(plugin.OptIn).Enabled {
			t.Errorf("%s switches them on", file)
		}
	}
	off, on := read(`{}`), read(`{"plugins": {"browser-dev": {"enabled": true}}}`)
	if !on.Plugin(plugin.OptIn).Enabled || !off.Plugin("demo").Enabled {
		t.Fatal("they cannot be switched on, or another plugin is off")
	}
	want := []call.Difference{{What: "plugins.browser-dev.enabled", Before: "false", After: "true"}}
	for name, before := range map[string]Rights{"now": RightsOf(&off), "an earlier version": {}} {
		if name != "now" {
			before = RightsOf(&off)
			delete(before.Plugins, plugin.OptIn)
		}
		if diff := cmp.Diff(want, RightsOf(&on).Grown(before)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if bounded := on.Within(before); bounded.Plugin(plugin.OptIn).Enabled {
			t.Errorf("%s: on before a person has confirmed it", name)
		}
	}
	if grown := RightsOf(&off).Grown(RightsOf(&on)); len(grown) > 0 {
		t.Errorf("switching them off asks: %v", grown)
	}
}
