package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

func tools(t *testing.T) *registry.Snapshot {
	t.Helper()
	yes := true
	schema := json.RawMessage(`{"type":"object"}`)
	reads := plugin.Annotations{ReadOnlyHint: &yes}
	built := func(name string, a plugin.Annotations) registry.Tool {
		return registry.Tool{Name: name, Spec: plugin.Tool{InputSchema: schema, Annotations: a}}
	}
	ofClients := built("sessions_create", plugin.Annotations{})
	ofClients.Group, ofClients.ForClients = "agents", true
	r := registry.New([]registry.Tool{
		built("bridge_health", reads), built("relay__doctor", reads),
		built("relay__dead_letters", plugin.Annotations{}),
		built("browser__list_tabs", reads), built("browser__open_tab", plugin.Annotations{}),
		ofClients,
	})
	var plugins []plugin.Plugin
	for _, name := range []string{"wiki", "mail"} {
		plugins = append(plugins, plugin.Plugin{Hash: name, Manifest: plugin.Manifest{Name: name,
			URLPatterns: []string{"*://x.example/*"}, Tools: []plugin.Tool{
				{Name: "read", InputSchema: schema, Annotations: reads}, {Name: "write", InputSchema: schema},
			}}})
	}
	if err := r.Replace(plugins, nil); err != nil {
		t.Fatal(err)
	}
	return r.Snapshot()
}

// What each scope lets a client call, of all the tools there are.
func TestScopeCovers(t *testing.T) {
	const everything = "bridge_health browser__list_tabs browser__open_tab mail__read mail__write " +
		"relay__dead_letters " +
		"relay__doctor sessions_create wiki__read wiki__write"
	for name, test := range map[string]struct {
		scope call.Scope
		want  string
	}{
		"none":        {call.Scope{}, everything},
		"all by name": {call.Scope{Toolset: "all", Plugins: "all"}, everything},
		"read-only": {call.Scope{ReadOnly: true},
			"bridge_health browser__list_tabs mail__read relay__doctor wiki__read"},
		"one plugin": {call.Scope{Plugins: "wiki"},
			"bridge_health relay__dead_letters relay__doctor wiki__read wiki__write"},
		"one plugin, read-only": {call.Scope{Plugins: "wiki", ReadOnly: true},
			"bridge_health relay__doctor wiki__read"},
		"the browser": {call.Scope{Plugins: "browser"},
			"bridge_health browser__list_tabs browser__open_tab relay__dead_letters relay__doctor"},
		"gateway reaches everything": {call.Scope{Toolset: "gateway"}, everything},
		"gateway and one plugin": {call.Scope{Toolset: "gateway", Plugins: "mail"},
			"bridge_health mail__read mail__write relay__dead_letters relay__doctor"},
		"toolset of one plugin": {call.Scope{Toolset: "mail"},
			"bridge_health mail__read mail__write relay__dead_letters relay__doctor"},
		"delegation": {call.Scope{Toolset: "agents"},
			"bridge_health relay__dead_letters relay__doctor sessions_create"},
		"a plugin that is not there": {call.Scope{Plugins: "notes", ReadOnly: true}, "bridge_health relay__doctor"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := ReadScope(test.scope)
			if err != nil {
				t.Fatal(err)
			}
			var covered []string
			for _, tool := range tools(t).Tools {
				if s.Covers(tool) {
					covered = append(covered, tool.Name)
				}
				if refused := s.Refuse("ann", tool); (refused == nil) != s.Covers(tool) {
					t.Errorf("%s: covered %t, refused with %v", tool.Name, s.Covers(tool), refused)
				}
			}
			if got := strings.Join(covered, " "); got != test.want {
				t.Errorf("covers %s\nwant   %s", got, test.want)
			}
		})
	}
}

func TestNormalScope(t *testing.T) {
	for _, test := range []struct {
		given, want call.Scope
		wrong       string
	}{
		{given: call.Scope{Toolset: "all", Plugins: " "}},
		{given: call.Scope{Plugins: "wiki, mail,wiki"}, want: call.Scope{Plugins: "mail,wiki"}},
		{given: call.Scope{Toolset: "wiki gateway", ReadOnly: true}, want: call.Scope{Toolset: "gateway,wiki",
			ReadOnly: true}},
		{given: call.Scope{Toolset: "../x"}, wrong: "toolset"},
		{given: call.Scope{Plugins: "a;b"}, wrong: "plugins"},
	} {
		got, err := NormalScope(test.given)
		if (err != nil) != (test.wrong != "") || err != nil && !strings.HasPrefix(err.Error(), test.wrong) ||
			got != test.want {
			t.Errorf("%+v became %+v, %v; want %+v %s", test.given, got, err, test.want, test.wrong)
		}
	}
}

func TestScopeWords(t *testing.T) {
	if got := ScopeWords(call.Scope{Toolset: "gateway", Plugins: "mail,wiki", ReadOnly: true}) + "; " +
		ScopeWords(call.Scope{}); got != "toolset gateway; plugins mail,wiki; read-only; everything" {
		t.Errorf("%s", got)
	}
}

func TestClosedScopeSaysWhyAndWhatNext(t *testing.T) {
	s := closedScope("its token was renewed", "the client needs the new one")
	failure := s.Refuse("ann", &registry.Tool{Name: "shop__read",
		Plugin: &plugin.Plugin{Manifest: plugin.Manifest{Name: "shop"}}})
	if failure == nil || failure.Message != "shop__read cannot be used by the client ann: its token was renewed" ||
		!strings.Contains(failure.Hint, "the client needs the new one.") {
		t.Errorf("refused with %v", failure)
	}
}
