package config

import (
	"path/filepath"
	"runtime"
	"testing"
)

// Agents learn no folders of this machine, and can still say where the extension is.
func TestTheExtensionsFolderIsNamedToAgents(t *testing.T) {
	person := t.TempDir()
	t.Setenv("HOME", person)
	t.Setenv("USERPROFILE", person)
	own := "~"
	if runtime.GOOS == "windows" {
		own = "%USERPROFILE%"
	}
	elsewhere := t.TempDir()
	for _, test := range []struct{ home, set, want string }{
		{filepath.Join(person, ".tabrelay"), "", filepath.Join(own, ".tabrelay", "extension")},
		{filepath.Join(person, ".tabrelay"), filepath.Join(person, "visible"), filepath.Join(own, "visible")},
		{filepath.Join(person, ".tabrelay"), elsewhere, "that extensionDir names in config.json"},
		{filepath.Join(person, ".tabrelay"), person, "that extensionDir names in config.json"},
		{elsewhere, "", "named extension in TABRELAY_HOME"},
		{person + "-2", "", "named extension in TABRELAY_HOME"},
	} {
		cfg := Config{ExtensionDir: test.set}
		if got := cfg.ExtensionShown(Home(test.home)); got != test.want {
			t.Errorf("home %s, extensionDir %q: %q, want %q", test.home, test.set, got, test.want)
		}
	}
}
