package plugin

import (
	"strings"
	"testing"
)

// A plugin cannot be called what rules and commands mean something else by: neither when it is built, nor when built
// files of it are loaded.
func TestReservedNames(t *testing.T) {
	for _, name := range []string{"default", "all", "cli", "relay", "agents", "web", "browser", "browser-dev",
		"browser-tools", "none", "gateway", "stdio"} {
		if _, err := pluginName("tabrelay-plugin-"+name, false); err == nil || !strings.Contains(err.Error(),
			"reserved") {
			t.Errorf("%s is built: %v", name, err)
		}
		m := Manifest{Name: name, World: Isolated}
		if err := m.validate(false); err == nil || !strings.Contains(err.Error(), "reserved") {
			t.Errorf("%s is loaded: %v", name, err)
		}
	}
	if name, err := pluginName("tabrelay-plugin-defaults", false); err != nil || name != "defaults" {
		t.Errorf("%q, %v", name, err)
	}
}
