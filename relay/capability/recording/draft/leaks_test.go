package draft

import (
	"strings"
	"testing"
)

// Signing in is no tool, wherever in a request the password is.
func TestNoSignInBecomesATool(t *testing.T) {
	asJSON := map[string]string{"content-type": "application/json"}
	asForm := map[string]string{"content-type": "application/x-www-form-urlencoded"}
	for _, one := range []struct {
		url, body string
		headers   map[string]string
	}{
		{"/users/sign_in", `{"user":{"login":"alice","password":"correct horse"}}`, asJSON},
		{"/graphql", `{"query":"mutation E { e(p: $p) { id } }","variables":{"password":"x"}}`, asJSON},
		{"/rpc", `{"method":"enter","params":[{"passphrase":"correct horse"}]}`, asJSON},
		{"/enter", "user=alice&user%5Bpwd%5D=horse", asForm},
		{"/enter?user_pass=horse", "", nil},
		{"/enter", `{"kennwort":"correct horse"}`, asJSON},
		{"/second", `{"user_pin":"1234"}`, asJSON},
		{"/second", `{"otpCode":"123456"}`, asJSON},
		{"/custom", `{"geheim":"correct horse"}`, asJSON}, // a form of the recording says that it is a password
	} {
		r := &tape{}
		r.add(map[string]any{"kind": "submit", "page": site + "/", "action": site + "/x", "method": "POST",
			"fields": []any{map[string]any{"name": "geheim", "type": "password"}}})
		r.asks("POST", site+one.url, one.headers, one.body, 200, map[string]any{"ok": true})
		if d, err := Make(Read(r.events), "tea", site); err == nil {
			t.Errorf("%s with %s became %s", one.url, one.body, d.Tools[0].Name)
		}
	}
}

// What a person typed or a site answered is in no file, also where it is a plain word or a small number.
func TestWordsOfPeopleAreNotWritten(t *testing.T) {
	r := &tape{}
	asJSON := map[string]string{"content-type": "application/json", "x-user": "henrietta", "x-mode": "fast"}
	for _, name := range []string{"henrietta", "henrietta", "wilhelmina", "wilhelmina"} {
		r.clicks("Save")
		r.asks("POST", site+"/api/tasks", asJSON, `{"reviewer":"`+name+`","title":"`+name+`"}`, 200,
			map[string]any{"list": []any{map[string]any{"state": name}, map[string]any{"state": name}}})
		r.asks("POST", site+"/api/call", nil, `{"method":"object.execute","params":["db","`+name+`","`+name+`"]}`, 200,
			map[string]any{"result": name})
	}
	r.asks("GET", site+"/api/find?keyword=henrietta&to=wilhelmina&code=7391&page=2", nil, "", 200, []any{"henrietta"})
	r.asks("POST", site+"/graphql", nil, `{"query":"mutation M { a(t: \"\"\"to \"henrietta\" now\"\"\") { id } }"}`,
		200, map[string]any{"data": map[string]any{"id": 1}})
	r.add(map[string]any{"kind": "submit", "page": site + "/users/henrietta/edit", "action": site + "/save",
		"method": "POST", "fields": []any{
			map[string]any{"name": "kind", "type": "text", "label": "Answer to henrietta@mail.example"}}})
	r.number++
	r.add(map[string]any{"kind": "request", "number": r.number, "method": "POST", "url": site + "/save",
		"type": "main_frame", "form": map[string]any{"kind": []string{"x"}}})
	r.add(map[string]any{"kind": "response", "number": r.number, "status": 302, "headers": [][]string{}})
	d, _, tools := drafted(t, r)
	for _, text := range []string{"henrietta", "wilhelmina", "7391"} {
		if file := d.contains(text); file != "" {
			t.Errorf("%s has %q:\n%s", file, text, d.files[file])
		}
	}
	if index := string(d.files["src/index.ts"]); !strings.Contains(index, `"x-mode": "fast"`) || len(tools) != 5 {
		t.Errorf("%d tools:\n%s", len(tools), index)
	}
}

// Tokens and names in addresses are in no file, in whatever part of it they are.
func TestAddressesHaveNoSecrets(t *testing.T) {
	r := &tape{}
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"
	token := "zq81kd93mv02"
	for _, path := range []string{"/invite/" + jwt, "/list;jsessionid=1A2B3C4D5E6F", "/reset/ab12cd34ef56%3D%3D/now",
		"/go?rest_route=/invite/" + jwt, "/open?action=go&sig=" + jwt + "&access_key=" + token} {
		r.asks("GET", site+path, nil, "", 200, map[string]any{"ok": true})
	}
	for _, place := range []map[string]any{
		{"in": "local", "name": "Identity.zx81kd93mv.alice@mail.example.token"},
		{"in": "script", "name": `{"owner":"Alice Miller","key":"`},
		{"in": "meta", "name": "csrf"},
	} {
		value := token + place["in"].(string)
		r.add(map[string]any{"kind": "found", "value": value, "page": site + "/users/alice/edit?action=ab12cd34ef56",
			"places": []any{place}})
		r.asks("POST", site+"/api/"+place["in"].(string), map[string]string{"x-csrf-token": value}, "", 200,
			map[string]any{"ok": true})
	}
	d, _, _ := drafted(t, r)
	for _, text := range []string{"eyJ", "1A2B3C", "ab12cd", token, "Miller", "alice", "zx81"} {
		if file := d.contains(text); file != "" {
			t.Errorf("%s has %q:\n%s", file, text, d.files[file])
		}
	}
}

// Names that only sound like those of secrets are arguments as others are.
func TestAuthorsAreNoSecrets(t *testing.T) {
	r := &tape{}
	for _, author := range []string{"u12", "u13"} {
		r.asks("POST", site+"/api/articles", nil, `{"title":"x","authorId":"`+author+
			`","max_tokens":100,"secretary":true,"authToken":"t0k3nvalue99"}`, 200, map[string]any{"ok": true})
	}
	d, _, _ := drafted(t, r)
	index := string(d.files["src/index.ts"])
	for _, name := range []string{"authorId", "max_tokens", "secretary"} {
		if !strings.Contains(index, name) {
			t.Errorf("%s is no argument:\n%s", name, index)
		}
	}
	if strings.Contains(index, "t0k3nvalue99") {
		t.Error("the token is written")
	}
}
