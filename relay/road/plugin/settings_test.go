package plugin

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Settings name the sites that a plugin would take out of them, however they are written, and lose no more than those
// that they may not name.
func TestSitesOfSettings(t *testing.T) {
	may := map[string][]string{"site": {"*://a.example/*", "*://b.example:8080/*"}}
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	for _, tt := range []struct{ settings, sites, within string }{
		{``, "map[]", ``},
		{`{"limit":7,"odd":null,"list":["https://c.example/"]}`, "map[]",
			`{"limit":7,"odd":null,"list":["https://c.example/"]}`},
		{`{"site":"https://a.example/x"}`, "map[site:[*://a.example/*]]", `{"site":"https://a.example/x"}`},
		{`{"site":"https://c.example/","limit":7}`, "map[site:[*://c.example/*]]", `{"limit":7}`},
		// one site is allowed to one setting
		{`{"other":"https://a.example/"}`, "map[other:[*://a.example/*]]", `{}`},
		{`{"site":{"n":"https://a.example/","s":"HTTP://b.example:8080/","x":"https://c.example/"}}`,
			"map[site:[*://a.example/* *://b.example:8080/* *://c.example/*]]",
			`{"site":{"n":"https://a.example/","s":"HTTP://b.example:8080/"}}`},
		{`{"site":{"x":"https://c.example/"}}`, "map[site:[*://c.example/*]]", `{}`},
		// what is no value for a url names no site, also for the plugin
		{`{"site":{"n":"https://c.example/","s":7}}`, "map[]", `{"site":{"n":"https://c.example/","s":7}}`},
		// what a plugin does not get hides nothing
		{`{"site":{"__proto__":7,"n":"https://c.example/"}}`, "map[site:[*://c.example/*]]", `{}`},
		{`{"site":"https://c.example/","site":"https://a.example/"}`, "map[site:[*://c.example/* *://a.example/*]]",
			`{"site":"https://a.example/"}`},
		{`{"sit\u0065":"https:\/\/c.example\/"}`, "map[site:[*://c.example/*]]", `{}`},
		{`{"site":"https://c.example/","deep":` + deep + `}`, "map[]",
			`{"site":"https://c.example/","deep":` + deep + `}`},
	} {
		if got := fmt.Sprint(Sites(json.RawMessage(tt.settings))); got != tt.sites {
			t.Errorf("%s names %s, want %s", tt.settings, got, tt.sites)
		}
		if got := string(WithinSites(json.RawMessage(tt.settings), may)); got != tt.within {
			t.Errorf("%s becomes %s, want %s", tt.settings, got, tt.within)
		}
	}
}
