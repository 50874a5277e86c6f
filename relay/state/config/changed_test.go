package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChangedNamesSettingsThatDiffer(t *testing.T) {
	a, b := Default(), Default()
	if got := Changed(a, b); len(got) != 0 {
		t.Errorf("nothing changed, but %v", got)
	}
	b.Listen, b.Logging.Level, b.AllowedOrigins = "127.0.0.1:1", "debug", []string{"http://localhost:1"}
	b.Plugins = map[string]Plugin{"a": {Enabled: true}}
	if diff := cmp.Diff([]string{"listen", "allowedOrigins", "logging.level", "plugins"}, Changed(a, b)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
