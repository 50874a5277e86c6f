package relay

import (
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/relay/road/plugin"
)

// tabs.urlPatterns names the pages that a plugin for every page may read. An empty list is none of them.
func TestNoPagesMeansNone(t *testing.T) {
	w := newWorld(t)
	reader := shop()
	reader.Manifest.URLPatterns = []string{"*://*/*"}
	cfg := openConfig()
	cfg.Listen, cfg.Demo.Listen = "127.0.0.1:0", ""
	cfg.Tabs.URLPatterns = []string{}
	r, err := New(t.Context(), cfg, Options{Home: w.home, Log: zerolog.Nop(), Plugins: []plugin.Plugin{reader}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() // the test is over
	for _, site := range r.tools.Snapshot().Sites {
		if site.EveryPage && len(site.Matches) != 0 {
			t.Errorf("%s works on %q, though no page may be read", site.Plugin.Manifest.Name, site.Matches)
		}
	}
	if !reader.Manifest.EveryPage() {
		t.Error("the plugin is not one for every page")
	}
}
