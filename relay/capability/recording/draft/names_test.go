package draft

import (
	"strings"
	"testing"
)

// Names of tools, of their variables and of the functions for tokens do not meet, and none is a word of the language.
func TestNamesDoNotMeet(t *testing.T) {
	r := &tape{}
	r.add(map[string]any{"kind": "found", "value": "t0k3nvalue99", "page": site + "/",
		"places": []any{map[string]any{"in": "meta", "name": "csrf"}}})
	for _, path := range []string{"/api/delete", "/api/export", "/api/import", "/api/search"} {
		r.asks("POST", site+path, nil, `{"a":1}`, 200, map[string]any{"ok": true})
	}
	for _, path := range []string{"/api/tea", "/x/api/tea", "/api/tea2", "/api/tea/output", "/rest/tea-2"} {
		r.asks("GET", site+path, map[string]string{"authorization": "Bearer t0k3nvalue99"}, "", 200,
			map[string]any{"ok": true})
	}
	for _, path := range []string{"/authorization", "/authorization-tool"} {
		r.number++
		r.add(map[string]any{"kind": "request", "number": r.number, "method": "GET", "url": site + path,
			"type": "main_frame"})
		r.add(map[string]any{"kind": "response", "number": r.number, "status": 200, "headers": [][]string{}})
	}
	drafted(t, r)
}

// A value that is called a secret and is a piece of the draft's own code does not break it.
func TestSecretsThatAreCodeDoNotBreakTheDraft(t *testing.T) {
	r := &tape{}
	for _, value := range []string{"definePlugin", "additionalProperties", "params.", "100000", `": {`, "fetchFromPage",
		"Promise<string>", "AbortSignal"} {
		r.asks("POST", site+"/api/teas", map[string]string{"x-csrf-token": value}, `{"title":"x","token":`+
			string(toJSON(value))+`}`, 200, map[string]any{"ok": true})
	}
	r.number++
	r.add(map[string]any{"kind": "request", "number": r.number, "method": "GET", "url": site + "/about",
		"type": "main_frame"})
	r.add(map[string]any{"kind": "response", "number": r.number, "status": 200, "headers": [][]string{}})
	drafted(t, r)
}

// An address whose path begins with two slashes stays one of the recorded site.
func TestTwoSlashesStayAtTheSite(t *testing.T) {
	r := &tape{}
	r.asks("GET", site+"//evil.example/teas", map[string]string{"x-token": "t0k3nvalue99"}, "", 200,
		map[string]any{"ok": true})
	r.asks("GET", site+"/?__proto__=1&constructor=2&toString=3", map[string]string{"__proto__": "a"}, "", 200,
		map[string]any{"ok": true})
	d, _, _ := drafted(t, r)
	if index := string(d.files["src/index.ts"]); strings.Contains(index, "`//") || strings.Contains(index, `"//`) ||
		!strings.Contains(index, "evil.example") {
		t.Error(index)
	}
}

// The fixture of a request asks what the tool does, also where the body is no object and names have odd characters.
func TestOddBodiesAndNames(t *testing.T) {
	r := &tape{}
	for n, body := range []string{`"a text"`, `true`, `null`, `[]`, `{}`, `7`, `["a",{"b":null}]`} {
		address := site + "/api/" + string(rune('a'+n)) + "?*=x+y&a~b=c~d&a[]=*"
		r.asks("PUT", address, nil, body, 200, map[string]any{"ok": true})
	}
	drafted(t, r)
}

// What sounds as if it changes something is not taken for reading because it is a GET.
func TestGETsThatChangeSomething(t *testing.T) {
	for _, address := range []string{"/logout", "/account/sign-out", "/teaDelete?id=1", "/teas?delete=5",
		"/x?do=tea.remove", "/tea.php?id=1&do=edit", "/newsletter/unsubscribe", "/teas/5/deactivate"} {
		r := &tape{}
		r.asks("GET", site+address, nil, "", 200, map[string]any{"ok": true})
		d, err := Make(Read(r.events), "tea", site)
		if err != nil || strings.Contains(d.Tools[0].Annotations, "readOnlyHint: true") {
			t.Errorf("%s counts as reading: %v", address, err)
		}
	}
}
