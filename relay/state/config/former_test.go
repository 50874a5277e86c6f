package config

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// A setting that was called otherwise counts under its former name, and says so. Under both names it is refused.
func TestFormerNames(t *testing.T) {
	const file, variable = `{"resources": {"tabs": {"excludePatterns": ["https://bank.example/*"]}}}`,
		"TABRELAY_RESOURCES_TABS_EXCLUDE_PATTERNS=https://bank.example/*"
	for name, one := range map[string]struct{ text, environ, warning string }{
		"file":        {text: file, warning: "resources.tabs.excludePatterns is called tabs.excludePatterns now"},
		"environment": {text: `{}`, environ: variable, warning: "is called TABRELAY_TABS_EXCLUDE_PATTERNS now"},
	} {
		c, err := read(t, one.text, one.environ)
		if err != nil || !slices.Equal(c.Tabs.ExcludePatterns, []string{"https://bank.example/*"}) ||
			!slices.Equal(c.Tabs.URLPatterns, []string{"*://*/*"}) {
			t.Errorf("%s: %v, %+v", name, err, c.Tabs)
		}
		if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], one.warning) {
			t.Errorf("%s: it says %q", name, c.Warnings)
		}
	}
	for text, environ := range map[string]string{
		`{"tabs": {"excludePatterns": []}, "resources": {"tabs": {"excludePatterns": []}}}`: "",
		`{"resources": {"tabs": {"excludePatterns": []}}, "tabs": {"excludePatterns": []}}`: "",
	} {
		if _, err := read(t, text, environ); err == nil || !strings.Contains(err.Error(),
			"config.json:1: resources.tabs.excludePatterns: is called tabs.excludePatterns now, which is set, too") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := read(t, `{}`, variable, "TABRELAY_TABS_EXCLUDE_PATTERNS="); err == nil ||
		!strings.Contains(err.Error(), "which is set, too") {
		t.Errorf("both variables: %v", err)
	}
	if _, err := read(t, `{"resources": {"tabs": {"excludePatterns": 1}}}`); err == nil ||
		!strings.Contains(err.Error(), "resources.tabs.excludePatterns: expected a list") {
		t.Errorf("a wrong value: %v", err)
	}
}

// A change of such a setting leaves its new name only, and rights that were kept before are compared as they were.
func TestFormerNamesAreReplaced(t *testing.T) {
	home := Home(t.TempDir())
	text := `{"resources": {"tabs": {"urlPatterns": ["https://a.example/*"]}}}`
	if err := os.WriteFile(home.Config(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := Load(home)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Entries(home, nil)
	at := slices.IndexFunc(list, func(e Entry) bool { return e.Key == "tabs.urlPatterns" })
	if err != nil || string(list[at].Value) != `["https://a.example/*"]` || list[at].From != "config.json" {
		t.Errorf("shown as %+v, %v", list[at], err)
	}
	if err := Set(home, []string{"tabs", "urlPatterns"}, []byte(`["*://*/*"]`)); err != nil {
		t.Fatal(err)
	}
	after, err := Load(home)
	if err != nil || len(after.Warnings) > 0 || !slices.Equal(after.Tabs.URLPatterns, []string{"*://*/*"}) {
		t.Errorf("%v %+v", err, after)
	}
	grown := RightsOf(&after).Grown(RightsOf(&before))
	if len(grown) != 1 || grown[0].What != "tabs.urlPatterns" || grown[0].Before != "https://a.example/*" {
		t.Errorf("it lets agents do %+v more", grown)
	}
	if err := Unset(home, []string{"tabs", "urlPatterns"}); err != nil {
		t.Fatal(err)
	}
}
