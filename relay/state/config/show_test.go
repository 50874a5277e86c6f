package config

import (
	"os"
	"strings"
	"testing"
)

// Every setting is shown with its value, and where that is from.
func TestEntriesSayWhereEachValueIsFrom(t *testing.T) {
	home := Home(t.TempDir())
	text := "{\n  // soon\n  \"timeoutMs\": 20000, \"demo\": {\"listen\": \"\"},\n}"
	if err := os.WriteFile(home.Config(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := Entries(home, []string{"TABRELAY_LISTEN=127.0.0.1:7800", "PATH=/bin"})
	if err != nil || len(list) != len(settings) {
		t.Fatalf("%d of %d settings, %v", len(list), len(settings), err)
	}
	want := map[string][2]string{"timeoutMs": {"20000", "config.json"}, "demo.listen": {`""`, "config.json"},
		"listen": {`"127.0.0.1:7800"`, "TABRELAY_LISTEN"}, "allowedOrigins": {"[]", "default"}}
	for _, e := range list {
		if w, ok := want[e.Key]; ok && (string(e.Value) != w[0] || e.From != w[1]) {
			t.Errorf("%s is %s from %s, want %v", e.Key, e.Value, e.From, w)
		}
		if e.About == "" || e.Accepts == "" || e.Twin == "" {
			t.Errorf("%+v", e)
		}
	}
}

func TestPathAndValueComeFromKeyAndText(t *testing.T) {
	for _, c := range []struct{ key, value, path, json string }{
		{"timeoutMs", "20000", "/timeoutMs", "20000"},
		{"demo.listen", "127.0.0.1:1", "/demo/listen", `"127.0.0.1:1"`},
		{"plugins.wiki.settings", "http://127.0.0.1:1/v1", "/plugins/wiki/settings", `"http://127.0.0.1:1/v1"`},
		{"plugins.wiki.urlPatterns", `["https://a.example/*"]`, "/plugins/wiki/urlPatterns", `["https://a.example/*"]`},
	} {
		path, err := Path(c.key)
		value, wrong := Value(c.key, c.value)
		joined := ""
		for _, one := range path {
			joined += "/" + one
		}
		if err != nil || wrong != nil || joined != c.path || string(value) != c.json {
			t.Errorf("%s: %s, %s, %v", c.key, joined, value, err)
		}
	}
	if _, err := Value("timeoutMs", "soon"); err == nil ||
		!strings.Contains(err.Error(), "timeoutMs: expected a whole") {
		t.Errorf("got %v", err)
	}
	if _, err := Path("timeoutMS"); err == nil ||
		err.Error() != `there is no setting "timeoutMS"; did you mean timeoutMs?` {
		t.Errorf("got %v", err)
	}
}
