package draft

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"tabrelay/relay/plugin/build"
	"tabrelay/relay/plugin/trial"
	"tabrelay/relay/road/plugin"
)

// tape writes the events of a recording.
type tape struct {
	events []json.RawMessage
	number int
	at     int64
}

func (r *tape) add(event map[string]any) {
	r.at += 100
	event["at"] = r.at
	r.events = append(r.events, toJSON(event))
}

// asks is one request of a script of the page, and its answer.
func (r *tape) asks(method, url string, headers map[string]string, body string, status int, answer any) {
	r.number++
	began := map[string]any{"kind": "request", "number": r.number, "method": method, "url": url,
		"type": "xmlhttprequest"}
	if body != "" {
		began["body"] = body
	}
	r.add(began)
	var pairs [][]string
	for name, value := range headers {
		pairs = append(pairs, []string{name, value})
	}
	r.add(map[string]any{"kind": "headers", "number": r.number, "headers": pairs})
	r.add(map[string]any{"kind": "response", "number": r.number, "status": status,
		"headers": [][]string{{"content-type", "application/json"}}})
	if answer != nil {
		r.add(map[string]any{"kind": "answer", "method": method, "url": url, "status": status,
			"text": string(toJSON(answer)), "cut": false})
	}
}

func (r *tape) clicks(label string) { r.add(map[string]any{"kind": "click", "label": label}) }

const site = "https://tea.example"

// drafted makes a draft, builds it, checks it and runs its tests.
func drafted(t *testing.T, r *tape) (*Draft, *plugin.Plugin, map[string]plugin.Tool) {
	t.Helper()
	d, err := Make(Read(r.events), "tea", site)
	if err != nil {
		t.Fatal(err, d)
	}
	dir := filepath.Join(t.TempDir(), "tea")
	if err := d.Write(dir, "tea"); err != nil {
		t.Fatal(err)
	}
	built, _, err := build.Build(t.Context(), dir, build.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, d.files["src/index.ts"])
	}
	for _, one := range build.Check(built) {
		t.Errorf("check: %v", one)
	}
	fixtures, err := trial.Read(dir, built)
	if err != nil {
		t.Fatal(err)
	}
	for i := range fixtures {
		result := trial.Run(t.Context(), built, &fixtures[i])
		t.Log(result.Name, result.NeedsPage)
		if len(result.Problems) > 0 {
			t.Errorf("%s: %s\n%s\n%s", result.Name, strings.Join(result.Problems, "\n"), d.files["src/index.ts"],
				d.files["fixtures/"+result.Name+".json"])
		}
	}
	tools := map[string]plugin.Tool{}
	for _, one := range built.Manifest.Tools {
		tools[one.Name] = one
	}
	return d, built, tools
}

func (d *Draft) contains(text string) (file string) {
	for name, content := range d.files {
		if bytes.Contains(content, []byte(text)) {
			return name
		}
	}
	return ""
}

func TestAnAPIBecomesTools(t *testing.T) {
	r := &tape{}
	tea := func(id int, name string) map[string]any {
		return map[string]any{"id": id, "name": name, "price": 4.5, "note": nil, "tags": []any{"green"}}
	}
	r.asks("GET", site+"/api/v1/teas?page=1&sort=price", nil, "", 200, []any{tea(1, "Sencha of Alice"), tea(2,
		"Assam")})
	r.asks("GET", site+"/api/v1/teas/17", nil, "", 200, tea(17, "Sencha"))
	r.asks("GET", site+"/api/v1/teas/18", nil, "", 200, tea(18, "Oolong"))
	r.clicks("Save")
	r.asks("POST", site+"/api/v1/teas", map[string]string{"content-type": "application/json"},
		`{"name":"Gyokuro of Alice","price":9,"kind":"green"}`, 201, tea(19, "Gyokuro"))
	r.asks("DELETE", site+"/api/v1/teas/19", nil, "", 204, nil)
	_, _, tools := drafted(t, r)
	for _, name := range []string{"list_teas", "get_tea", "create_tea", "delete_tea"} {
		if _, ok := tools[name]; !ok {
			t.Errorf("there is no %s among %v", name, tools)
		}
	}
	if got := string(tools["get_tea"].InputSchema); !strings.Contains(got, `"teaId"`) || !strings.Contains(got,
		"integer") {
		t.Error(got)
	}
	if hint := tools["list_teas"].Annotations.ReadOnlyHint; hint == nil || !*hint {
		t.Error("list_teas does not count as reading")
	}
	if hint := tools["delete_tea"].Annotations.DestructiveHint; hint == nil || !*hint {
		t.Error("delete_tea does not count as destructive")
	}
}

func TestNoSecretAndNothingPersonalIsWritten(t *testing.T) {
	r := &tape{}
	secret := "eyJhbGciOi.JIUzI1NiJ9.s3cr3tBearerValue"
	nonce := "a1b2c3d4e5"
	csrf := "csrf-Value-99887766"
	headers := map[string]string{"authorization": "Bearer " + secret, "x-wp-nonce": nonce, "x-csrf-token": csrf,
		"content-type": "application/json"}
	r.add(map[string]any{"kind": "found", "value": secret, "page": site + "/app",
		"places": []any{map[string]any{"in": "local", "name": "auth", "path": []string{"token"}}}})
	r.add(map[string]any{"kind": "found", "value": nonce, "page": site + "/app",
		"places": []any{map[string]any{"in": "script", "name": `var api = {"nonce":"`}}})
	r.asks("GET", site+"/api/session", nil, "", 200, map[string]any{"csrf": csrf, "mail": "alice@mail.example"})
	r.asks("POST", site+"/api/users/alice/notes", headers,
		`{"text":"Dear Bob Miller","email":"bob@mail.example","api_key":"k-123456789"}`, 200,
		map[string]any{"id": 4, "owner": "alice", "ownerMail": "alice@mail.example", "token": "t0k3n-in-answer"})
	r.asks("POST", site+"/api/login", nil, `{"user":"alice","password":"correct horse"}`, 200,
		map[string]any{"token": secret})
	d, p, _ := drafted(t, r)
	for _, text := range []string{secret, nonce, csrf, "alice", "Miller", "mail.example", "k-123456789", "t0k3n",
		"horse"} {
		if file := d.contains(text); file != "" {
			t.Errorf("%s has %q:\n%s", file, text, d.files[file])
		}
	}
	tokens := string(d.files["src/tokens.ts"])
	for _, way := range []string{`getLocalStorage("auth")`, `fromScript(`, `fromAnswer("/api/session"`} {
		if !strings.Contains(tokens, way) {
			t.Errorf("tokens are not read with %s:\n%s", way, tokens)
		}
	}
	if p.Manifest.World == "main" {
		t.Error("the main world is asked for, and not needed")
	}
	if len(d.Left) != 1 || !strings.Contains(d.Left[0].Why, "sign-in") {
		t.Error(d.Left)
	}
}
