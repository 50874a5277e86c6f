package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabrelay/relay/plugin/build"
	"tabrelay/relay/state/config"
)

// What config.json allows a plugin stays there when the plugin is removed, and the person is told: another plugin of
// that name would have it.
func TestRulesOfTheFileThatOutliveAPlugin(t *testing.T) {
	home := config.Home(t.TempDir())
	text := `{"permissions": {"shop": "auto", "shop__pay": {"ann": "auto"}, "shop__sell": "ask", "shopping": "auto"}}`
	if err := os.WriteFile(filepath.Join(string(home), "config.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	said := (&app{home: home}).goneWith(&build.Entry{Name: "shop", Dir: "/src/shop"})
	if !strings.HasSuffix(said, ": permissions.shop, permissions.shop__pay") {
		t.Error(said)
	}
	said = (&app{home: home}).goneWith(&build.Entry{Name: "wiki", Dir: "/src/wiki"})
	if strings.Contains(said, "config.json") {
		t.Error(said)
	}
}
