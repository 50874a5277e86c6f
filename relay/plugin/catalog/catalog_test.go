package catalog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/plugin/build"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

// browsers are what browsers were told last.
type browsers struct{ plugins []wire.Plugin }

func (b *browsers) SetPlugins(list []wire.Plugin) { b.plugins = list }
func (b *browsers) Tabs() []hub.Tab               { return nil }

// world is a home folder in which catalogs come and go, and what the last one told.
type world struct {
	t        *testing.T
	home     config.Home
	store    *store.Store
	tools    *registry.Registry
	browsers *browsers
	refused  []*Refusal
	accepted []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, home: config.Home(filepath.Join(t.TempDir(), "home"))}
	if err := w.home.Create(); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.store, err = store.Open(t.Context(), w.home.Database(), store.Limits{}, zerolog.Nop()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// open makes a catalog, as a relay that starts does.
func (w *world) open() *Catalog {
	w.t.Helper()
	cfg, err := config.Load(w.home)
	if err != nil {
		w.t.Fatal(err)
	}
	w.tools, w.browsers, w.refused, w.accepted = registry.New(nil), &browsers{}, nil, nil
	p, err := policy.New(w.t.Context(), policy.Options{Store: w.store, Config: cfg, Log: zerolog.Nop(),
		Audit: func(call.Entry) {}, Events: func(*call.Session, string, map[string]any) {},
		Changed: func(string) {}, Notice: func(string) {}, Reconfigured: func(bool) {},
		Known: func(string) (bool, string) { return true, "" }})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(p.Close)
	c, err := New(w.t.Context(), Options{
		Home: w.home, Config: p.Config(), Store: w.store, Tools: w.tools, Policy: p, Log: zerolog.Nop(),
		Browsers: w.browsers, Mode: p.ToolMode, Changed: func(...string) {}, Audit: func(call.Entry) {},
		Problem: func(registry.Problem) {}, Notice: func(string) {},
		ReloadRefused:  func(_ *fault.Error, public *Refusal) { w.refused = append(w.refused, public) },
		ReloadAccepted: func(message string) { w.accepted = append(w.accepted, message) },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Close)
	if err := c.Load(); err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *world) write(file, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// put adds a built plugin with one tool that reads, and returns the hash of its content, of which code is a part.
func (w *world) put(name, code string) string {
	w.t.Helper()
	yes := true
	manifest, err := json.Marshal(plugin.Manifest{Name: name, Version: "1.0.0", DisplayName: name,
		URLPatterns: []string{"https://" + name + ".example/*"}, World: plugin.Isolated,
		Tools: []plugin.Tool{{Name: "read", DisplayName: "Read", Description: "Reads.",
			Annotations: plugin.Annotations{ReadOnlyHint: &yes}, InputSchema: json.RawMessage(`{"type":"object"}`)}}})
	if err != nil {
		w.t.Fatal(err)
	}
	dir := filepath.Join(filepath.Dir(string(w.home)), name)
	w.write(filepath.Join(dir, "dist/manifest.json"), string(manifest))
	w.write(filepath.Join(dir, "dist/adapter.js"), "var tabrelayPlugin = {default: {tools: []}}; // "+code+"\n")
	p, err := build.Load(dir)
	if err == nil {
		_, err = build.Register(w.home.Plugins(), p)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return p.Hash
}

// has reports whether agents get a tool.
func (w *world) has(tool string) bool {
	_, ok := w.tools.Snapshot().Find(tool)
	return ok
}

// wantReview checks how far the plugin tea is with its review, and which content of it runs; empty: none.
func (w *world) wantReview(c *Catalog, state review.State, serving string) {
	w.t.Helper()
	list, required := c.Reviews()
	if len(list) != 1 || !required || list[0].State != state || list[0].Serving != serving {
		w.t.Errorf("the review is %+v, want %s with %q", list, state, serving)
	}
	told := slices.ContainsFunc(w.browsers.plugins, func(p wire.Plugin) bool { return p.Hash == serving })
	if w.has("tea__read") != (serving != "") || told != (serving != "") {
		w.t.Errorf("agents have it: %t, browsers have it: %t, want %q", w.has("tea__read"), told, serving)
	}
}

func reload(t *testing.T, c *Catalog) {
	t.Helper()
	if _, failure := c.Reload(); failure != nil {
		t.Fatal(failure)
	}
}

// What a person decided holds for that content alone, also after a restart.
func TestReviewDecidesWhichContentRuns(t *testing.T) {
	w := newWorld(t)
	person := call.Session{Client: config.LocalClient, Via: call.ViaSocket}
	first := w.put("tea", "1")
	c := w.open()
	w.wantReview(c, review.Waiting, "")
	var second string
	for _, step := range []struct {
		name         string
		before       func()
		plugin, hash string
		verdict      store.Verdict
		want         fault.Code // empty: it is written down
		state        review.State
		serving      *string
	}{
		{"no such plugin", nil, "coffee", first, store.Accepted, noPlugin("coffee").Code,
			review.Waiting, new(string)},
		{"another content than was looked at", nil, "tea", strings.Repeat("0", 64), store.Accepted,
			Stale("tea").Code, review.Waiting, new(string)},
		{"accepted", nil, "tea", first, store.Accepted, "", review.Accepted, &first},
		{"changed and refused", func() {
			second = w.put("tea", "2")
			reload(t, c)
			w.wantReview(c, review.Waiting, first)
		}, "tea", "", store.Refused, "", review.Refused, &first},
		{"accepted after all", nil, "tea", "", store.Accepted, "", review.Accepted, &second},
		{"refused again", nil, "tea", "", store.Refused, "", review.Refused, new(string)},
	} {
		if step.before != nil {
			step.before()
		}
		hash := step.hash
		if hash == "" {
			hash = second
		}
		_, failure := c.Decide(step.plugin, hash, step.verdict, policy.ByTerminal, person)
		if (failure == nil) != (step.want == "") || failure != nil && failure.Code != step.want {
			t.Errorf("%s: %v, want %q", step.name, failure, step.want)
		}
		w.wantReview(c, step.state, *step.serving)
		c.Close()
		c = w.open()
		w.wantReview(c, step.state, *step.serving)
	}
}

// What cannot be used is refused as a whole and told once; what was in effect stays.
func TestReloadIsRefused(t *testing.T) {
	list := config.Home.PluginList
	for _, test := range []struct {
		name, text string
		file       func(config.Home) string
		want       fault.Code
		reason     string
	}{
		{"settings that do not exist", `{"listn":"x"}`, config.Home.Config, fault.ConfigError, "did you mean listen?"},
		{"an empty configuration", "", config.Home.Config, fault.ConfigError, "the file is empty"},
		{"an empty list of plugins", "", list, fault.RegistryError, "plugins.json"},
		{"half a list of plugins", `{"plugins":[`, list, fault.RegistryError, "plugins.json"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.put("tea", "1")
			w.write(w.home.Config(), `{"review":{"required":false}}`)
			c := w.open()
			good, err := os.ReadFile(test.file(w.home))
			if err != nil {
				t.Fatal(err)
			}
			w.write(test.file(w.home), test.text)
			for range 2 {
				if _, failure := c.Reload(); failure == nil || failure.Code != test.want {
					t.Errorf("got %v, want %s", failure, test.want)
				}
			}
			said := c.Refused()
			if said == nil || said.Code != string(test.want) || !strings.Contains(said.Reason, test.reason) ||
				said.Next == "" && test.want == fault.RegistryError || strings.Contains(said.Reason, string(w.home)) {
				t.Errorf("it says %+v", said)
			}
			if len(w.refused) != 1 || !w.has("tea__read") {
				t.Errorf("told %d times; the tool is there: %t", len(w.refused), w.has("tea__read"))
			}
			w.write(test.file(w.home), string(good))
			reload(t, c)
			if c.Refused() != nil || len(w.accepted) != 1 {
				t.Errorf("afterwards: %+v, told %q", c.Refused(), w.accepted)
			}
		})
	}
}

// A key of a plugin is in effect at once, but what gives agents more waits for the person; other keys wait for a
// restart, and are named.
func TestReloadNamesWhatWaitsForARestart(t *testing.T) {
	w := newWorld(t)
	w.put("tea", "1")
	w.write(w.home.Config(), `{"review":{"required":false}}`)
	c := w.open()
	for _, step := range []struct {
		text    string
		restart []string
		has     bool
	}{
		{`{"review":{"required":false},"plugins":{"tea":{"enabled":true}}}`, nil, true},
		{`{"review":{"required":false},"plugins":{"tea":{"enabled":false}}}`, nil, false},
		{`{"review":{"required":false},"pingMs":7000}`, []string{"pingMs"}, false},
		{`{"review":{"required":false}}`, nil, false},
	} {
		w.write(w.home.Config(), step.text)
		restart, failure := c.Reload()
		if failure != nil || !slices.Equal(restart, step.restart) || w.has("tea__read") != step.has ||
			!slices.Equal(c.Restart(), step.restart) {
			t.Errorf("%s: %q, %v; the tool is there: %t", step.text, restart, failure, w.has("tea__read"))
		}
	}
}

// Rules and scopes can name what exists in whatever state, and hear what was probably meant.
func TestNamesThatExist(t *testing.T) {
	w := newWorld(t)
	w.put("tea", "1") // and not reviewed
	c := w.open()
	tools := w.tools.Snapshot().Tools
	for _, test := range []struct {
		name                   string
		target, plugin         bool
		meantTarget, meantName string
	}{
		{"tea", true, true, "", ""}, {"tea__read", true, false, "", ""}, {"relay", true, true, "", ""},
		{"tea__signIn", true, false, "", ""}, {"tea__signin", false, false, "tea__signIn", ""},
		{"browser__signIn", false, false, "", ""},
		{"browser", true, true, "", ""}, {policy.ReadTab, true, false, "", ""}, {"gateway", false, true, "", ""},
		{"tea__raed", false, false, "tea__read", ""}, {"browsr", false, false, "browser", "browser"},
	} {
		exists, meant := RuleTarget(w.home, tools, test.name)
		if exists != test.target || !exists && test.meantTarget != "" && meant != test.meantTarget {
			t.Errorf("a rule about %s: %t, %q", test.name, exists, meant)
		}
		missing, meant := c.UnknownName(test.name)
		if missing == test.plugin || missing && test.meantName != "" && meant != test.meantName {
			t.Errorf("a scope with %s: missing %t, %q", test.name, missing, meant)
		}
	}
}

// What could be added for open pages is offered, the page in front first, but nothing that is here already.
func TestOffersForOpenPages(t *testing.T) {
	w := newWorld(t)
	w.put("asana", "")
	offers, failure := w.open().Offers([]string{"https://app.asana.com/0/1", "https://acme.airtable.com/x", "%zz",
		"https://app.slack.com/client/T1", "https://www.airbnb.com/", "https://elsewhere.example/"})
	if failure != nil {
		t.Fatal(failure)
	}
	got := []string{}
	for _, o := range offers {
		got = append(got, o.Plugin+" "+o.Site+" "+o.Licence)
		if !strings.HasPrefix(o.From, o.Source+"//plugins/"+o.Plugin+"#") {
			t.Errorf("%s would be added from %s", o.Plugin, o.From)
		}
	}
	want := []string{"airtable acme.airtable.com MIT", "slack-enterprise app.slack.com MIT", "slack app.slack.com MIT",
		"airbnb www.airbnb.com MIT"}
	if !slices.Equal(got, want) {
		t.Errorf("offered are %q, want %q", got, want)
	}
	w.write(filepath.Join(w.home.Plugins(), "index.json"), "{")
	if _, failure := w.open().Offers(nil); failure == nil || failure.Hint == "" {
		t.Errorf("a broken index gives %v", failure)
	}
}
