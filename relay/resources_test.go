package relay

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/capability/resources"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault/faulttest"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/config"
)

// Reading a tab by its URI is asked about as a tool is.
func TestReadingATabIsAsked(t *testing.T) {
	w := newWorld(t)
	r := w.guarded(nil)
	w.browser(func(*hubtest.Call) {})
	asked := questions(t, r)
	m := w.modern(r)
	answered := make(chan []byte, 1)
	go func() { answered <- m.ask("resources/read", `"uri":"tab://7/text"`) }()
	q := asked()
	if q.Tool != policy.ReadTab || q.Origin != shopOrigin || q.TabID != 7 || !strings.Contains(string(q.Arguments),
		"tab://7/text") {
		t.Errorf("the question is %+v", q)
	}
	w.answers(t, q.ID, `{"answer":"deny"}`, http.StatusOK)
	if answer := string(<-answered); !strings.Contains(answer, "APPROVAL_DENIED") {
		t.Errorf("the agent reads %s", answer)
	}
	if status, said := w.person(t, http.MethodPut, "/api/v1/permissions",
		`{"target":"relay__read_tab","mode":"off"}`); status != http.StatusOK {
		t.Fatal(said)
	}
	if list := string(m.ask("resources/list", "")); strings.Contains(list, "tab://7/text") {
		t.Errorf("what may not be read is listed: %s", list)
	}
}

// Readings are in the audit log, those that fail, too.
func TestReadingsAreWrittenDown(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	w.browser(func(*hubtest.Call) {})
	m := w.modern(r)
	m.ask("resources/read", `"uri":"tab://99/text"`)
	var got []string
	for _, e := range auditOf(t, r, m.token, "?kind=call").Entries {
		got = append(got, brief(e))
	}
	if diff := cmp.Diff([]string{"call bob relay__read_tab not_executed RESOURCE_NOT_FOUND"}, got); diff != "" {
		t.Error(diff)
	}
}

// A client whose scope has no tools of the browser reads no tab by its URI either.
func TestTabsOutsideAScope(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	w.browser(func(*hubtest.Call) {})
	m := w.scopedAgent(t, r, "elsewhere", call.Scope{Plugins: "wiki"})
	if answer := string(m.ask("resources/list", "")); strings.Contains(answer, "tab://") {
		t.Errorf("tabs are listed: %s", answer)
	}
	if answer := string(m.ask("resources/read", `"uri":"tab://7"`)); !strings.Contains(answer, "outside the scope") {
		t.Errorf("a tab is read: %s", answer)
	}
}

// What is wrong with a reading, as a client of either era is told.
func TestSituationsOfReadings(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	a, m := w.agent(nobodyStarts), w.modern(r)
	for id, tt := range []struct{ situation, uri string }{
		{"unknown-resource", "result://00000000000000000000000000000000"},
		{"unknown-resource", "nothing://x"},
		{"resource-unreadable", "file:///etc/passwd"},
	} {
		params := `"uri":"` + tt.uri + `"`
		faulttest.Answered(t, tt.situation, a.says(fmt.Sprintf(
			`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{%s}}`, 100+id, params)), false)
		faulttest.Answered(t, tt.situation, m.ask("resources/read", params), true)
	}
}

// Switched off, nothing is announced, listed or read, and what agents may see of tabs is bounded as before.
func TestWithoutResources(t *testing.T) {
	w := newWorld(t)
	key := resources.Capability.Settings.Key()
	open := config.Edit{Path: []string{"permissions"}, Value: []byte(`{"default":"auto"}`)}
	switchOff := config.Edit{Path: strings.Split(key, "."), Value: []byte("false")}
	if err := config.Apply(w.home, switchOff, open); err != nil {
		t.Fatal(err)
	}
	off, err := config.Load(w.home)
	if err != nil {
		t.Fatal(err)
	}
	off.Listen, off.Demo.Listen, off.Tabs.ExcludePatterns = "127.0.0.1:0", "", []string{shopOrigin + "/*"}
	r, _ := w.relayAs(func(c *config.Config) { *c = off })
	w.browser(func(*hubtest.Call) {})
	m := w.modern(r)
	for _, method := range []string{"resources/list", "resources/templates/list"} {
		if answer := string(m.ask(method, "")); !strings.Contains(answer, "-32601") {
			t.Errorf("%s: %s", method, answer)
		}
	}
	if answer := string(m.ask("server/discover", "")); strings.Contains(answer, `"resources"`) {
		t.Errorf("announced: %s", answer)
	}
	tabs := string(m.ask("tools/call", `"name":"browser__list_tabs"`))
	if !strings.Contains(tabs, "hidden") || strings.Contains(tabs, shopOrigin) {
		t.Errorf("the tabs are %s", tabs)
	}
}
