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
		if _, err := NameOf("tabrelay-plugin-"+name, false); err == nil || !strings.Contains(err.Error(),
			"reserved") {
			t.Errorf("%s is built: %v", name, err)
		}
		m := Manifest{Name: name, World: Isolated}
		if err := m.validate(false); err == nil || !strings.Contains(err.Error(), "reserved") {
			t.Errorf("%s is loaded: %v", name, err)
		}
	}
	if name, err := NameOf("tabrelay-plugin-defaults", false); err != nil || name != "defaults" {
		t.Errorf("%q, %v", name, err)
	}
}

func TestNameOf(t *testing.T) {
	for name, want := range map[string]string{
		"tabrelay-plugin-slack":               "slack",
		"opentabs-plugin-slack":               "slack",
		"@tabrelay/tabrelay-plugin-slack":     "slack",
		"@opentabs-dev/opentabs-plugin-slack": "slack",
		"@acme/tabrelay-plugin-slack":         "acme-slack",
		"my-site":                             "my-site",
		"tabrelay-plugin-browser":             "",
		"tabrelay-plugin-Über":                "",
		"a__b":                                "",
		"@/x":                                 "",
	} {
		got, err := NameOf(name, false)
		if want == "" && err == nil && name != "@/x" || want != "" && (err != nil || got != want) {
			t.Errorf("NameOf(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
}
