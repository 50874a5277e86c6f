package relay

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/state/config"
)

const teaSettings = `{
	"site": {"type": "url", "label": "Address\u202e"},
	"token": {"type": "string", "required": true, "description": "Of your account"},
	"limit": {"type": "number", "default": 20},
	"size": {"type": "select", "options": ["small", "large"]},
	"milk": {"type": "boolean"},
	"odd": {"type": "object"}
}`

// panelOf asks as the side panel of a profile does.
func (v *reviewer) panelOf(method, path string, body any) (status int, answer []byte) {
	v.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		v.t.Fatal(err)
	}
	return v.api.Panel()(v.t.Context(), hub.PanelRequest{ProfileID: "p", Method: method, Path: "/api/v1/" + path,
		Body: text})
}

func (v *reviewer) reaches(name string) []string {
	for _, site := range v.tools.Snapshot().Sites {
		if site.Plugin.Manifest.Name == name {
			return site.Matches
		}
	}
	return nil
}

type values map[string]any

// What a person sets in the panel is checked as at a terminal, is in effect at once, and adds no page that they were
// not shown.
func TestSettingsInThePanel(t *testing.T) {
	w := newWorld(t)
	p := w.put("tea", "1", func(m *plugin.Manifest) { m.ConfigSchema = json.RawMessage(teaSettings) })
	v := w.reviewer(t)
	const path = "plugins/tea/settings"
	put := func(set values, digest string, want int) []byte {
		t.Helper()
		status, answer := v.panelOf("PUT", path, map[string]any{"settings": set, "digest": digest})
		if status != want {
			t.Fatalf("%v: %d %s, want %d", set, status, answer, want)
		}
		return answer
	}
	if status, answer := v.panelOf("GET", path, nil); status != http.StatusConflict ||
		!bytes.Contains(answer, []byte("until it is reviewed")) {
		t.Errorf("before the review: %d %s", status, answer)
	}
	v.decide("tea", p.Hash, "accept", http.StatusOK)
	_, answer := v.panelOf("GET", path, nil)
	var view catalog.SettingsView
	if err := json.Unmarshal(answer, &view); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range view.Settings {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "site token limit size milk odd" {
		t.Errorf("the settings are %s", got)
	}
	if label := view.Settings[0].Label; label != `Address\u{202e}` {
		t.Errorf("the label is %q", label)
	}

	const secret = "sesame-4711"
	var refused httpapi.UnusableSettings
	answer = put(values{"site": "https://*/", "limit": "many", "size": "huge", "odd": 1, "none": 1}, "",
		http.StatusUnprocessableEntity)
	if err := json.Unmarshal(answer, &refused); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"site": "one site", "limit": "expected a number", "size": "small, large",
		"odd": "unknown type", "none": "no such setting", "token": "required"} {
		if !strings.Contains(refused.Fields[key], want) {
			t.Errorf("%s: %q", key, refused.Fields[key])
		}
	}
	before := v.reaches("tea")
	put(values{"token": secret, "limit": 7, "milk": true}, "", http.StatusOK)
	if after := v.reaches("tea"); !slices.Equal(before, after) {
		t.Errorf("the pages are %v, before %v", after, before)
	}

	set := values{"site": map[string]string{"a": "https://a.example/", "b": "https://b.example/x"}}
	var asked httpapi.Unconfirmed
	if err := json.Unmarshal(put(set, "", http.StatusPreconditionRequired), &asked); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(asked.Change.String(), "*://b.example/*") || slices.Contains(v.reaches("tea"),
		"*://b.example/*") {
		t.Errorf("asked about %s; the pages are %v", asked.Change, v.reaches("tea"))
	}
	// What was read about one address is not said about another.
	put(values{"site": "https://c.example/"}, asked.Digest, http.StatusPreconditionRequired)
	answer = put(set, asked.Digest, http.StatusOK)
	if !slices.Contains(v.reaches("tea"), "*://b.example/*") {
		t.Errorf("the pages are %v", v.reaches("tea"))
	}
	if bytes.Contains(answer, []byte(secret)) || !bytes.Contains(answer, []byte(`"name":"token"`)) {
		t.Errorf("the answer is %s", answer)
	}
	put(values{"token": nil}, "", http.StatusUnprocessableEntity)
	put(values{"limit": nil, "site": "https://a.example/"}, "", http.StatusOK) // fewer pages
	text, err := os.ReadFile(w.home.Config())
	if err != nil || strings.Contains(string(text), "limit") || !strings.Contains(string(text), secret) {
		t.Errorf("config.json is %s (%v)", text, err)
	}
	if _, log := v.ask("GET", "audit", nil); bytes.Contains(log, []byte(secret)) ||
		!bytes.Contains(log, []byte("b.example")) {
		t.Errorf("the audit log is %s", log)
	}

	// A program over the socket needs the person for more pages, and only for those.
	res, err := join.HTTP(w.home).Do(request(t, http.MethodPut, "/api/v1/"+path,
		`{"settings":{"site":"https://d.example/"}}`))
	if err != nil || res.StatusCode != http.StatusPreconditionRequired {
		t.Errorf("over the socket: %v %v", res, err)
	}
	if status, answer := v.ask("PUT", path, map[string]any{"settings": values{"limit": 3}}); status != http.StatusOK {
		t.Errorf("over the socket: %d %s", status, answer)
	}
	for _, missing := range []string{"nothing", "%2e%2e", "browser"} {
		body := map[string]any{"settings": values{"a": 1}}
		status, answer := v.panelOf("PUT", "plugins/"+missing+"/settings", body)
		if status != http.StatusNotFound && status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", missing, status, answer)
		}
	}
}

// A site in config.json that waits for the person is no missing setting: the others can be saved, and whoever lacks it
// is told how it takes effect. What a text names by address is asked about as a site is.
func TestSettingsWaitForThePerson(t *testing.T) {
	w := newWorld(t)
	schema := `{"site": {"type": "url", "required": true}, "note": {"type": "string"}}`
	p := w.put("tea", "1", func(m *plugin.Manifest) { m.ConfigSchema, m.URLPatterns = json.RawMessage(schema), nil })
	v := w.reviewer(t)
	v.decide("tea", p.Hash, "accept", http.StatusOK)
	site := config.Edit{Path: []string{"plugins", "tea", "settings", "site"}, Value: []byte(`"https://tea.example/"`)}
	if err := config.Apply(w.home, site); err != nil {
		t.Fatal(err)
	}
	if status, answer := v.ask("POST", "reload", nil); status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	waiting := func() []string {
		t.Helper()
		var now httpapi.Status
		if _, answer := v.ask("GET", "status", nil); json.Unmarshal(answer, &now) != nil {
			t.Fatalf("the status is %s", answer)
		}
		return now.UnappliedKeys
	}
	if got := waiting(); !slices.Equal(got, []string{"plugins.tea.settings.site"}) {
		t.Errorf("%q waits", got)
	}
	const path = "plugins/tea/settings"
	if _, answer := v.panelOf("GET", path, nil); !bytes.Contains(answer, []byte("waits for you: ")) {
		t.Errorf("the form has %s", answer)
	}
	save := func(set values, digest string, want int) (asked httpapi.Unconfirmed) {
		t.Helper()
		status, answer := v.panelOf("PUT", path, map[string]any{"settings": set, "digest": digest})
		if status != want {
			t.Fatalf("%v: %d %s, want %d", set, status, answer, want)
		}
		_ = json.Unmarshal(answer, &asked) // where it is that
		return asked
	}
	save(values{"note": "mild"}, "", http.StatusOK)
	save(values{"site": nil}, "", http.StatusUnprocessableEntity)
	_, answer := v.ask("POST", "tools/tea__read/call", map[string]any{})
	if !bytes.Contains(answer, []byte("which waits for the person")) ||
		!bytes.Contains(answer, []byte("to run: tabrelay config apply")) {
		t.Errorf("a call is told %s", answer)
	}

	asked := save(values{"note": "https://bank.example/"}, "", http.StatusPreconditionRequired)
	if change := asked.Change.String(); !strings.Contains(change, "*://bank.example/*") {
		t.Errorf("asked about %s", change)
	}
	save(values{"note": "https://bank.example/"}, asked.Digest, http.StatusOK)
	if got := waiting(); !slices.Equal(got, []string{"plugins.tea.settings.site"}) {
		t.Errorf("then %q waits", got)
	}
}
