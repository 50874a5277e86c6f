package fault

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestTraceLine(t *testing.T) {
	for line, keep := range map[string]bool{
		"/adapters/demo-1a.js:12:34":            true,
		"/:1:2":                                 true,
		"/a%20b/x.js:1:2":                       true,
		"/static/app.js?token=geheim:1:2":       false,
		"/static/app.js#x:1:2":                  false,
		"/static/app.js":                        false,
		"/static/app.js:1":                      false,
		"https://app.example/a.js:1:2":          false,
		"/home/me/work/a.js:1:2":                false,
		"//home/me/a.js:1:2":                    false,
		"/Users/me/a.js:1:2":                    false,
		"/C:/Users/me/a.js:1:2":                 false,
		"C:\\Users\\me\\a.js:1:2":               false,
		"/a b.js:1:2":                           false,
		"/a.js:1:2\n[ERROR code=X] y":           false,
		"/" + strings.Repeat("a", 400) + ":1:2": false,
	} {
		raw, err := json.Marshal(map[string]any{"code": "X", "message": "m", "retryable": false, "traceLine": line})
		if err != nil {
			t.Fatal(err)
		}
		e, repairs := FromPage(raw)
		if got := e.TraceLine == line; got != keep || len(repairs) == 0 != keep || e.Message != "m" {
			t.Errorf("%q became %q, repairs %v", line, e.TraceLine, repairs)
		}
	}
	for _, raw := range []string{`{"code":"X","message":"m","retryable":false,"traceLine":7}`,
		`{"code":"X","message":"m","retryable":false,"traceLine":{}}`} {
		if e, repairs := FromPage(json.RawMessage(raw)); e.TraceLine != "" || len(repairs) != 1 {
			t.Errorf("%s: %q, repairs %v", raw, e.TraceLine, repairs)
		}
	}
	if e,
		repairs := FromPage(json.RawMessage(`{"code":"X","message":"m","retryable":false,` +
		`"traceLine":null}`)); e.TraceLine != "" || len(repairs) != 0 {
		t.Errorf("null: %q, repairs %v", e.TraceLine, repairs)
	}
}
