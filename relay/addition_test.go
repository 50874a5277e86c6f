package relay

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tabrelay/relay/plugin/build"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/plugin/install"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
)

const teaSource = `import { definePlugin, defineTool } from '@tabrelay/plugin-sdk';
const read = defineTool({
  name: 'read', description: 'Reads.', annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false }, handle: () => ({}),
});
export default definePlugin({ tools: [read] });
`

func pluginSources(t *testing.T, index string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "tea")
	for file, text := range map[string]string{
		"package.json": `{"name": "tabrelay-plugin-tea", "version": "1.0.0", "type": "module",
			"tabrelay": {"displayName": "Tea", "urlPatterns": ["https://tea.example/*"]}}`,
		"src/index.ts": index,
	} {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// over asks until nothing is being added any more.
func (v *reviewer) over() (view httpapi.AdditionView) {
	v.t.Helper()
	for v.t.Context().Err() == nil {
		view = httpapi.AdditionView{} // an answer leaves out what is empty
		_, answer := v.panelOf("GET", "addition", nil)
		if json.Unmarshal(answer, &view) == nil && view.Addition != nil && view.Addition.Step == "" {
			return view
		}
		v.ask("GET", "status", nil) // the time of a request
	}
	v.t.Fatal("it is still being added")
	return view
}

// A plugin is added from the panel and from nowhere else, waits for its review, and says where it does not build.
func TestPluginsAreAddedInThePanel(t *testing.T) {
	w := newWorld(t)
	v := w.reviewer(t)
	add := func(from string, want int) []byte {
		t.Helper()
		status, answer := v.panelOf("POST", "addition", map[string]string{"from": from})
		if status != want {
			t.Fatalf("%s: %d %s, want %d", from, status, answer, want)
		}
		return answer
	}
	if status, answer := v.ask("POST", "addition", map[string]string{"from": "/tmp"}); status != http.StatusForbidden {
		t.Errorf("over the socket: %d %s", status, answer)
	}
	for _, from := range []string{"", " ", "tea/", "./tea", "../tea", "~ann/tea", "tea.tgz", "/nowhere/tea",
		"a\x00b", strings.Repeat("a", 1001)} {
		add(from, http.StatusBadRequest)
	}

	add(pluginSources(t, "export const = 1;\n"), http.StatusOK)
	if a := v.over().Addition; !strings.Contains(a.Problem, "src/index.ts:1:") || a.Plugin != "" {
		t.Errorf("a broken one: %+v", a)
	}
	if list, _ := v.catalog.Reviews(); len(list) != 0 {
		t.Errorf("after a broken one: %+v", list)
	}

	good := pluginSources(t, teaSource)
	add(good, http.StatusOK)
	a := v.over().Addition
	if a.Plugin != "tea" || a.State != review.Waiting || a.Problem != "" {
		t.Fatalf("the addition is %+v", a)
	}
	if v.serving("tea") != "" {
		t.Error("it runs before its review")
	}
	v.decide("tea", v.sheet("tea").Hash, "accept", http.StatusOK)
	if v.serving("tea") == "" {
		t.Error("it does not run after its review")
	}
	add(pluginSources(t, teaSource), http.StatusOK)
	if a := v.over().Addition; !strings.Contains(a.Problem, "already a plugin tea") {
		t.Errorf("a second one of the name: %+v", a)
	}
	if status, answer := v.panelOf("DELETE", "addition", nil); status != http.StatusOK ||
		string(answer) != `{"addition":null}` {
		t.Errorf("forgotten: %d %s", status, answer)
	}

	if status, answer := v.panelOf("DELETE", "plugins/tea", nil); status != http.StatusOK {
		t.Errorf("removed: %d %s", status, answer)
	}
	if _, err := os.Stat(filepath.Join(good, "src/index.ts")); err != nil || v.serving("tea") != "" {
		t.Errorf("after removing: %v, %q runs", err, v.serving("tea"))
	}
	for name, want := range map[string]int{"tea": http.StatusNotFound, "demo": http.StatusNotFound} {
		if status, answer := v.panelOf("DELETE", "plugins/"+name, nil); status != want {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
}

// A folder with the name of a plugin of tabrelay is refused in the panel, which has no way to say that name; once the
// person said it in a terminal, the panel builds it again.
func TestThePanelReplacesNoShippedPlugin(t *testing.T) {
	w := newWorld(t)
	v := w.reviewer(t)
	dir := pluginSources(t, teaSource)
	file := filepath.Join(dir, "package.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.Replace(string(text), "plugin-tea", "plugin-wordpress", 1))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	add := func() *catalog.Addition {
		t.Helper()
		if status, answer := v.panelOf("POST", "addition", map[string]string{"from": dir}); status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
		return v.over().Addition
	}
	if a := add(); !strings.Contains(a.Problem, "is called wordpress, as one that comes with tabrelay") ||
		!strings.Contains(a.Hint, "tabrelay plugin add --replace wordpress "+dir) || a.Plugin != "" {
		t.Errorf("the addition is %+v", a)
	}
	if list, err := build.List(w.home.Plugins()); err != nil || len(list) != 0 {
		t.Errorf("added are %+v, %v", list, err)
	}
	source := install.Source{From: dir, Shipped: []string{"wordpress"}, Replace: "wordpress"}
	silent := func(string) func() { return func() {} }
	if _, _, err := install.Add(t.Context(), w.home.Plugins(), source, silent); err != nil {
		t.Fatal(err)
	}
	if a := add(); a.Plugin != "wordpress" || a.Problem != "" {
		t.Errorf("once it was added: %+v", a)
	}
}

// What a person removed does not run because another plugin of its name is added.
func TestARemovedPluginStandsInForNothing(t *testing.T) {
	w := newWorld(t)
	first := w.put("tea", "1", nil)
	v := w.reviewer(t)
	v.decide("tea", first.Hash, "accept", http.StatusOK)
	if status, answer := v.panelOf("DELETE", "plugins/tea", nil); status != http.StatusOK {
		t.Fatalf("removed: %d %s", status, answer)
	}
	w.put("tea", "2", nil)
	v.again()
	if hash := v.serving("tea"); hash != "" {
		t.Errorf("after another one was added, %q runs; the one that was removed is %q", hash, first.Hash)
	}
}

// What was allowed for a removed plugin does not hold for the next one of its name; what was forbidden stays.
func TestARemovedPluginLeavesNoPermission(t *testing.T) {
	w := newWorld(t)
	w.put("tea", "1", nil)
	v := w.reviewer(t)
	rules := func() (targets []string) {
		for _, r := range v.policy.Permissions().Rules {
			if strings.HasPrefix(r.Target, "tea") {
				targets = append(targets, r.Target+" "+string(r.Mode))
			}
		}
		return targets
	}
	for _, r := range []call.Rule{{Target: "tea", Mode: call.Auto},
		{Target: "tea__pour", Client: "ann", Mode: call.Auto}, {Target: "tea__drop", Mode: call.Off},
		{Target: "teapot", Mode: call.Auto}} {
		if err := v.policy.Set(t.Context(), r, 0); err != nil {
			t.Fatal(err)
		}
	}
	if status, answer := v.panelOf("DELETE", "plugins/tea", nil); status != http.StatusOK {
		t.Fatalf("removed: %d %s", status, answer)
	}
	left := rules()
	slices.Sort(left)
	if want := []string{"tea__drop off", "teapot auto"}; !slices.Equal(left, want) {
		t.Errorf("after the removal there are %v, want %v", left, want)
	}
}

// A plugin that was off when it was removed is on when it is added again, and nobody is asked about the settings that
// went with it.
func TestARemovedPluginIsNotOffAnyMore(t *testing.T) {
	w := newWorld(t)
	w.put("tea", "1", nil)
	v := w.reviewer(t)
	if err := config.Set(w.home, []string{"plugins", "tea", "enabled"}, json.RawMessage("false")); err != nil {
		t.Fatal(err)
	}
	v.again()
	if status, answer := v.panelOf("DELETE", "plugins/tea", nil); status != http.StatusOK {
		t.Fatalf("removed: %d %s", status, answer)
	}
	if waiting := v.policy.Changes(); len(waiting) != 0 {
		t.Errorf("after the removal these wait for the person: %+v", waiting)
	}
}
