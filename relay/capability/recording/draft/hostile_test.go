package draft

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
)

func TestGraphQLOperationsAreTools(t *testing.T) {
	r := &tape{}
	ask := func(name, kind, variables string) {
		r.asks("POST", site+"/graphql", map[string]string{"content-type": "application/json"},
			`{"operationName":"`+name+`","query":"`+kind+` `+name+`($id: ID!) { tea(id: $id) { name } }","variables":`+
				variables+`}`, 200, map[string]any{"data": map[string]any{"tea": map[string]any{"name": "Sencha"}}})
	}
	ask("ShowTea", "query", `{"id":"7"}`)
	ask("RenameTea", "mutation", `{"id":"7","name":"Of Alice"}`)
	d, _, tools := drafted(t, r)
	for name, reads := range map[string]bool{"show_tea": true, "rename_tea": false} {
		if hint := tools[name].Annotations.ReadOnlyHint; hint == nil || *hint != reads {
			t.Errorf("%s: %v, want %v", name, hint, reads)
		}
	}
	if index := string(d.files["src/index.ts"]); !strings.Contains(index, "promises that queries only read") {
		t.Error("the author is not told why the query counts as reading")
	}
}

func TestAFormIsReadFromItsPage(t *testing.T) {
	r := &tape{}
	page := site + "/teas/17/edit?_token=zz11yy22xx"
	r.add(map[string]any{"kind": "submit", "page": page, "action": site + "/teas/17", "method": "POST", "label": "Save",
		"fields": []any{
			map[string]any{"name": "_csrf", "type": "hidden"},
			map[string]any{"name": "title", "type": "text", "label": "Title *", "required": true},
			map[string]any{"name": "kind", "type": "select-one", "label": "Kind", "options": []string{"green",
				"black"}},
			map[string]any{"name": "stock", "type": "checkbox", "label": "In stock"},
		}})
	r.number++
	r.add(map[string]any{"kind": "request", "number": r.number, "method": "POST", "url": site + "/teas/17",
		"type": "main_frame", "form": map[string]any{"_csrf": []string{"s3cr3t-99-csrf"}, "title": []string{"Of Alice"},
			"kind": []string{"green"}, "stock": []string{"1"}}})
	r.add(map[string]any{"kind": "response", "number": r.number, "status": 302, "headers": [][]string{}})
	d, _, tools := drafted(t, r)
	input := string(tools["update_tea"].InputSchema)
	for _, part := range []string{`"title"`, `"Title."`, `"enum":["green","black"]`, `"boolean"`, `"teaId"`} {
		if !strings.Contains(strings.ReplaceAll(input, " ", ""), strings.ReplaceAll(part, " ", "")) {
			t.Errorf("the input has no %s: %s", part, input)
		}
	}
	for _, text := range []string{"s3cr3t", "Alice", "zz11yy", "_csrf\":"} {
		if file := d.contains(text); file != "" && text != "_csrf\":" {
			t.Errorf("%s has %q", file, text)
		}
	}
}

func TestWhatIsLeftOut(t *testing.T) {
	r := &tape{}
	for range pollingTimes {
		r.asks("GET", site+"/api/status", nil, "", 200, map[string]any{"ok": true})
		r.at += 5000
	}
	r.asks("POST", site+"/api/telemetry/", nil, `{"a":1}`, 200, nil)
	r.asks("GET", site+"/api/teas/1", nil, "", 404, nil)
	r.asks("GET", site+"/app.js", nil, "", 200, nil)
	d, err := Make(Read(r.events), "tea", site)
	if !errors.Is(err, ErrNothing) || len(d.Left) != 4 {
		t.Error(err, d.Left)
	}
	if _, err := Make(Read(nil), "tea", site); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
}

func TestPathsAreGeneralised(t *testing.T) {
	for _, one := range []struct {
		paths []string
		want  string
	}{
		{[]string{"/api/teas/1", "/api/teas/22"}, "GET /api/teas/*"},
		{[]string{"/api/v2/teas"}, "GET /api/v2/teas"},
		{[]string{"/t/0f8fad5b-d9cb-469f-a165-70867728950e/x"}, "GET /t/*/x"},
		{[]string{"/api/collections/books/records", "/api/collections/authors/records"},
			"GET /api/collections/*/records"},
		{[]string{"/api/users/alice"}, "GET /api/users/*"},
	} {
		r := &tape{}
		for _, path := range one.paths {
			r.asks("GET", site+path, nil, "", 200, map[string]any{"items": 1})
		}
		found := endpoints(Read(r.events).requests)
		if len(found) != 1 || strings.TrimSpace(found[0].key()) != one.want {
			t.Errorf("%v became %d endpoints, the first %q", one.paths, len(found), found[0].key())
		}
	}
	r := &tape{}
	r.asks("GET", site+"/api/teas", nil, "", 200, map[string]any{"items": 1})
	r.asks("GET", site+"/api/orders", nil, "", 200, map[string]any{"items": 1})
	if found := endpoints(Read(r.events).requests); len(found) != 2 {
		t.Errorf("two resources became %d", len(found))
	}
}

// Whatever a site sends, the draft builds, and no secret is in it.
func TestNamesOfASiteCannotBecomeCode(t *testing.T) {
	r := &tape{}
	evil := "*/ ${alert(1)} `+alert(2)+` \" ' \\ </script> \u2028 {{.}}"
	r.clicks(evil)
	r.add(map[string]any{"kind": "found", "value": "t0k3nvalue99", "page": site + "/" + evil,
		"places": []any{map[string]any{"in": "global", "name": evil}, map[string]any{"in": "script", "name": evil +
			`"`}}})
	r.asks("POST", site+"/api/"+"%60%24%7Balert(3)%7D/teas", map[string]string{"x-" + evil: "a1b2c3d4e5f6",
		"x-token": "t0k3nvalue99", "content-type": "application/json"},
		string(toJSON(map[string]any{evil: evil, "__proto__": 1, "constructor": 2, "tabId": 3, "ok": "fine"})), 200,
		map[string]any{evil: evil, "__proto__": map[string]any{"a": 1}, "name": evil})
	r.asks("GET", site+"/api/teas?"+"%60%24%7B1%7D=2&toString=3&signal=4", nil, "", 200, []any{evil})
	d, _, _ := drafted(t, r)
	for _, text := range []string{"${alert", "`+alert", "t0k3nvalue99", "a1b2c3d4e5f6"} {
		if file := d.contains(text); file != "" && !strings.Contains(string(d.files[file]), `\${alert`) {
			t.Errorf("%s has %q:\n%s", file, text, d.files[file])
		}
	}
}

// toolName is what a tool of a plugin can be called.
var toolName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,58}$`)

func FuzzMake(f *testing.F) {
	f.Add(`{"kind":"request","number":1,"method":"GET","url":"https://tea.example/api/teas/1","type":"xmlhttprequest"}`,
		`{"kind":"response","number":1,"status":200,"headers":[]}`,
		`{"kind":"answer","method":"GET","url":"https://tea.example/api/teas/1","status":200,"text":"{\"id\":1}"}`)
	f.Add(`{"kind":"request","number":1,"method":"POST","url":"https://tea.example/a?action=x&t=1",`+
		`"type":"main_frame","form":{"a[]":["1","2"],"token":["abcdef123456"]}}`,
		`{"kind":"response","number":1,"status":302}`,
		`{"kind":"click"}`)
	f.Add(`{"kind":"request","number":1,"method":"POST","url":"https://tea.example/rpc",`+
		`"body":"{\"method\":\"a.b\",\"params\":[1,{}]}"}`, `{"kind":"response","number":1,"status":200}`, `[]`)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		d, err := Make(Read([]json.RawMessage{json.RawMessage(a), json.RawMessage(b), json.RawMessage(c)}), "tea", site)
		if err != nil {
			return
		}
		names := map[string]bool{}
		for _, one := range d.Tools {
			if names[one.Name] || !toolName.MatchString(one.Name) {
				t.Errorf("the name %q is no name, or there twice", one.Name)
			}
			names[one.Name] = true
			for _, schema := range []string{one.Input, one.Output} {
				if !json.Valid([]byte(schema)) {
					t.Errorf("%s is no JSON", schema)
				}
			}
		}
		for file, text := range d.files {
			if strings.HasSuffix(file, ".json") && !json.Valid(text) {
				t.Errorf("%s is no JSON: %s", file, text)
			}
		}
	})
}
