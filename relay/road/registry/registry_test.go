package registry_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

var update = flag.Bool("update", false, "rewrite the expected side of the snapshots")

// Every plugin can be asked whether a person is signed in, by a name that no list has and that no plugin can take; one
// for the pages of every site cannot.
func TestSignInCheckIsFoundAndNeverListed(t *testing.T) {
	every := pluginWith("every", "x")
	every.Manifest.URLPatterns, every.Shipped = []string{"*://*/*"}, true
	r := registry.New(nil)
	if err := r.Replace([]plugin.Plugin{pluginWith("a", "x", plugin.SignInCheck), every}, nil); err != nil {
		t.Fatal(err)
	}
	s := r.Snapshot()
	check, found := s.Find("a__signIn")
	if !found || !check.ReadOnly || check.Group != "a" || check != s.Sites[0].SignIn ||
		check.Spec.DisplayName != "See whether you are signed in" {
		t.Errorf("%+v", check)
	}
	for _, listed := range s.Tools {
		if listed == check {
			t.Error("it is listed")
		}
	}
	if site := s.Sites[0]; !site.Serves("https://a.example/page") || site.Serves("https://b.example/page") {
		t.Error("it serves other pages than its own")
	}
	if _, found := s.Find("every__signIn"); found {
		t.Error("a plugin for every page has a check")
	}
}

// A plugin cannot give itself sites by the default of a setting, which no review names.
func TestDefaultAddsNoSites(t *testing.T) {
	p := pluginWith("shop", "x")
	p.Manifest.ConfigSchema = json.RawMessage(`{"api":{"type":"url","default":{"a":"https://bank.example/"}}}`)
	if got := registry.Reach(&p, registry.Configured{}); len(got) != 1 || got[0] != p.Manifest.URLPatterns[0] {
		t.Errorf("it works on %v", got)
	}
	if problems := plugin.CheckSettings(p.Manifest.ConfigSchema); len(problems) != 1 ||
		!strings.Contains(problems[0], "only the person says on which sites") {
		t.Errorf("a build says %q", problems)
	}
}

// TestManifestsAndSettingsMakeTheRecordedSnapshot reads every file of testdata: manifests (*.json) and what a person
// configured (configured), and what became of them (want; go test -update writes it).
func TestManifestsAndSettingsMakeTheRecordedSnapshot(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no snapshots", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			plugins, configured, want := read(t, archive)
			r := registry.New(nil)
			if err := r.Replace(plugins, configured); err != nil {
				t.Fatal(err)
			}
			got := show(r.Snapshot())
			if *update {
				archive.Files = append(archive.Files[:want:want], txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want == len(archive.Files) {
				t.Fatal("nothing is wanted")
			}
			if diff := cmp.Diff(string(archive.Files[want].Data), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func read(t *testing.T,
	a *txtar.Archive) (plugins []plugin.Plugin, configured map[string]registry.Configured, want int) {
	want = len(a.Files)
	for i, f := range a.Files {
		var err error
		switch {
		case f.Name == "want":
			want = i
		case f.Name == "configured":
			err = json.Unmarshal(f.Data, &configured)
		default:
			var m plugin.Manifest
			err = json.Unmarshal(f.Data, &m)
			plugins = append(plugins, plugin.Plugin{Manifest: m, Hash: strings.Repeat("0", 64)})
		}
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
	}
	return plugins, configured, want
}

func show(s *registry.Snapshot) string {
	var b strings.Builder
	for _, site := range s.Sites {
		fmt.Fprintf(&b, "site %s matches=%s homepage=%s settings=%s\n", site.Plugin.Manifest.Name, site.Matches,
			site.Homepage, string(site.Settings))
		for _, in := range site.Instances {
			fmt.Fprintf(&b, "  instance %s %s\n", in.Name, in.Match)
		}
	}
	for _, t := range s.Tools {
		fmt.Fprintf(&b, "tool %s readOnly=%v idempotent=%v wrapped=%v takes=%v,%v,%v\n  %s\n", t.Name, t.ReadOnly,
			t.Idempotent, t.Wrapped, t.TakesTab, t.TakesProfile, t.TakesInstance, t.Listed)
	}
	for _, p := range s.Problems {
		fmt.Fprintf(&b, "problem %q: %s\n", p.Plugin, p.Reason)
	}
	return b.String()
}

func pluginWith(name string, tools ...string) plugin.Plugin {
	p := plugin.Plugin{Hash: name, Manifest: plugin.Manifest{Name: name,
		URLPatterns: []string{"https://" + name + ".example/*"}}}
	for _, tool := range tools {
		p.Manifest.Tools = append(p.Manifest.Tools, plugin.Tool{Name: tool,
			InputSchema: json.RawMessage(`{"type":"object","title":"` + tool + `"}`)})
	}
	return p
}

// TestEachChangeIsAnnouncedOnce announces every change once, in order, and keeps the last good snapshot.
func TestEachChangeIsAnnouncedOnce(t *testing.T) {
	r := registry.New([]registry.Tool{{Name: "bridge_health",
		Spec: plugin.Tool{InputSchema: json.RawMessage(`{"type":"object"}`)},
		Run:  func(context.Context, call.Call, json.RawMessage) (*call.Result, *fault.Error) { return nil, nil }}})
	var seen []string
	stop := r.OnChange(func(s *registry.Snapshot) {
		if s != r.Snapshot() {
			t.Error("a snapshot was announced that is not the current one")
		}
		seen = append(seen, fmt.Sprintf("%d: %d tools", s.Generation, len(s.Tools)))
	})
	first := r.Snapshot()
	if err := r.Replace([]plugin.Plugin{pluginWith("b", "x"), pluginWith("a", "y", "z")}, nil); err != nil {
		t.Fatal(err)
	}
	second := r.Snapshot()
	if err := r.Replace([]plugin.Plugin{pluginWith("b", "x"), pluginWith("a", "y", "z")}, nil); err != nil {
		t.Fatal(err)
	}
	if r.Snapshot().Listing != second.Listing || second.Listing == first.Listing {
		t.Error("Listing does not say whether the list changed")
	}

	var huge []plugin.Plugin
	for i := range 100 {
		p := pluginWith(fmt.Sprintf("p%d", i))
		for j := range 80 {
			p.Manifest.Tools = append(p.Manifest.Tools, plugin.Tool{Name: fmt.Sprintf("t%d", j),
				Description: strings.Repeat("x", 16<<10), InputSchema: json.RawMessage(`{"type":"object"}`)})
		}
		huge = append(huge, p)
	}
	before := r.Snapshot()
	if err := r.Replace(huge, nil); err == nil || r.Snapshot() != before {
		t.Errorf("a list that is too large was accepted: %v", err)
	}

	stop()
	if err := r.Replace(nil, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1: 4 tools", "2: 4 tools"}, seen); diff != "" {
		t.Error(diff)
	}
	if len(first.Tools) != 1 || len(second.Tools) != 4 {
		t.Error("an old snapshot changed")
	}
}

// TestUnchangedSchemasAreKept compiles a schema once, however often its plugin is loaded again.
func TestUnchangedSchemasAreKept(t *testing.T) {
	r := registry.New(nil)
	var compiled []any
	for range 3 {
		if err := r.Replace([]plugin.Plugin{pluginWith("a", "x")}, nil); err != nil {
			t.Fatal(err)
		}
		tool, _ := r.Snapshot().Find("a__x")
		schema, _, err := tool.Schemas()
		if err != nil {
			t.Fatal(err)
		}
		compiled = append(compiled, schema)
	}
	if compiled[0] != compiled[1] || compiled[1] != compiled[2] {
		t.Error("compiled anew")
	}
}

func TestRejectedToolIsTakenOut(t *testing.T) {
	r := registry.New(nil)
	if err := r.Replace([]plugin.Plugin{pluginWith("a", "x", "y")}, nil); err != nil {
		t.Fatal(err)
	}
	tool, _ := r.Snapshot().Find("a__x")
	for range 2 {
		r.Reject(tool, "it is broken")
	}
	s := r.Snapshot()
	if _, ok := s.Find("a__x"); ok || len(s.Tools) != 1 || s.Generation != 2 {
		t.Errorf("generation %d, %d tools", s.Generation, len(s.Tools))
	}
	want := []registry.Problem{{Plugin: "a", Reason: "tool a__x was left out: it is broken"}}
	if diff := cmp.Diff(want, s.Problems); diff != "" {
		t.Error(diff)
	}
}

// FuzzTool lists whatever a plugin declares, or leaves it out; what is listed is always JSON.
func FuzzTool(f *testing.F) {
	f.Add("x", `{"type":"object"}`, `{"type":"string"}`)
	f.Add("x", `{"type":"object","properties":{"tabId":{}},"required":["a"]}`, `{"$ref":"#"}`)
	f.Add("x", `{"type":"object","properties":[],"required":{}}`, `{`)
	f.Fuzz(func(t *testing.T, name, input, output string) {
		p := pluginWith("a")
		p.Manifest.Tools = []plugin.Tool{{Name: name, InputSchema: json.RawMessage(input),
			OutputSchema: json.RawMessage(output)}}
		p.Manifest.ConfigSchema = json.RawMessage(`{"site":{"type":"url"}}`)
		r := registry.New(nil)
		if err := r.Replace([]plugin.Plugin{p},
			map[string]registry.Configured{"a": {Settings: json.RawMessage(`{"site":{"m":"http://m/",` +
				`"n":"http://n/"}}`)}}); err != nil {
			t.Fatal(err)
		}
		s := r.Snapshot()
		if len(s.Tools)+len(s.Problems) == 0 {
			t.Fatal("the tool vanished")
		}
		for _, tool := range s.Tools {
			var listed struct {
				InputSchema  struct{ Type string }
				OutputSchema *struct{ Type string }
			}
			if err := json.Unmarshal(tool.Listed, &listed); err != nil || listed.InputSchema.Type != "object" ||
				listed.OutputSchema != nil && listed.OutputSchema.Type != "object" {
				t.Fatalf("%v: %s", err, tool.Listed)
			}
		}
	})
}

func BenchmarkReplace100x20(b *testing.B) {
	plugins := make([]plugin.Plugin, 100)
	for i := range plugins {
		plugins[i] = pluginWith(fmt.Sprintf("plugin%d", i))
		for j := range 20 {
			input := fmt.Sprintf(`{"type":"object","properties":{"id%d":{"type":"integer","description":%q},`+
				`"mode":{"anyOf":[{"const":"a"},{"const":"b"}]}},"required":["id%d"]}`, i*20+j,
				strings.Repeat("text ", 100),
				i*20+j)
			plugins[i].Manifest.Tools = append(plugins[i].Manifest.Tools,
				plugin.Tool{Name: fmt.Sprintf("tool_%d", j), DisplayName: "Tool", Description: "What it does.",
					InputSchema: json.RawMessage(input)})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		r := registry.New(nil)
		if err := r.Replace(plugins, nil); err != nil || len(r.Snapshot().Tools) != 2000 {
			b.Fatal(err)
		}
	}
}

// A text a person set may be a password; an address or a number is none. A plugin may say otherwise.
func TestSecretSettingsAreMarked(t *testing.T) {
	declared := json.RawMessage(`{"token":{"type":"string"},"name":{"type":"string","secret":false},` +
		`"limit":{"type":"number","default":7},"pin":{"type":"number","secret":true}}`)
	for given, want := range map[string]struct {
		secret   bool
		settings string
	}{
		`{}`:            {false, `{"limit":7}`},
		`{"name":"a"}`:  {false, `{"name":"a","limit":7}`},
		`{"token":"a"}`: {true, `{"token":"a","limit":7}`},
		`{"pin":1}`:     {true, `{"pin":1,"limit":7}`},
	} {
		p := plugin.Plugin{Manifest: plugin.Manifest{Name: "a", URLPatterns: []string{"https://a.example/*"},
			ConfigSchema: declared}}
		r := registry.New(nil)
		if err := r.Replace([]plugin.Plugin{p},
			map[string]registry.Configured{"a": {Settings: json.RawMessage(given)}}); err != nil {
			t.Fatal(err)
		}
		snapshot := r.Snapshot()
		site := snapshot.Sites[0]
		if len(snapshot.Problems) > 0 || site.Secret != want.secret || string(site.Settings) != want.settings {
			t.Errorf("%s: secret %v, settings %s, problems %v; want %v, %s", given, site.Secret, site.Settings,
				snapshot.Problems, want.secret, want.settings)
		}
	}
}

// TestPersonChoosesPagesOfAPluginForEverySite: a person says which pages may be read, and adds some.
func TestPersonChoosesPagesOfAPluginForEverySite(t *testing.T) {
	every := plugin.Plugin{Manifest: plugin.Manifest{Name: "every", URLPatterns: []string{"*://*/*"},
		ExcludePatterns: []string{"*://*/own"}}}
	some := plugin.Plugin{Manifest: plugin.Manifest{Name: "some", URLPatterns: []string{"https://a.example/*"}}}
	allowed := registry.Configured{Pages: []string{"https://b.example/*"}, Excludes: []string{"*://*/secret"},
		URLPatterns: []string{"https://c.example/*"}}
	for _, tt := range []struct {
		p                 plugin.Plugin
		c                 registry.Configured
		matches, excludes string
		every             bool
	}{
		{every, registry.Configured{}, "[*://*/*]", "[*://*/own]", true},
		{every, allowed, "[https://b.example/* https://c.example/*]", "[*://*/own *://*/secret]", true},
		{every, registry.Configured{Pages: []string{}}, "[]", "[*://*/own]", true},
		{some, allowed, "[https://a.example/* https://c.example/*]", "[*://*/secret]", false},
	} {
		reg := registry.New(nil)
		if err := reg.Replace([]plugin.Plugin{tt.p},
			map[string]registry.Configured{tt.p.Manifest.Name: tt.c}); err != nil {
			t.Fatal(err)
		}
		site := reg.Snapshot().Sites[0]
		if fmt.Sprint(site.Matches) != tt.matches || fmt.Sprint(site.Excludes) != tt.excludes ||
			site.EveryPage != tt.every {
			t.Errorf("%s with %+v: %v without %v, every %v", tt.p.Manifest.Name, tt.c, site.Matches, site.Excludes,
				site.EveryPage)
		}
	}
}

// TestShippedPluginWaitsForItsAddress: it is not offered, and no problem, until a person says where their application
// is.
func TestShippedPluginWaitsForItsAddress(t *testing.T) {
	p := plugin.Plugin{Shipped: true, Manifest: plugin.Manifest{Name: "a",
		ConfigSchema: json.RawMessage(`{"url":{"type":"url"}}`)}}
	for settings, want := range map[string][2]int{"": {0, 0}, `{"url":"https://a.example/"}`: {1, 0},
		`{"url":7}`: {1, 2}} {
		r := registry.New(nil)
		c := map[string]registry.Configured{}
		if settings != "" {
			c["a"] = registry.Configured{Settings: json.RawMessage(settings)}
		}
		if err := r.Replace([]plugin.Plugin{p}, c); err != nil {
			t.Fatal(err)
		}
		s := r.Snapshot()
		if got := [2]int{len(s.Sites), len(s.Problems)}; got != want {
			t.Errorf("with %s: %d sites and %d problems, want %v: %v", settings, got[0], got[1], want, s.Problems)
		}
	}
}

// Settings that programs take for something other than values do not reach a page.
func TestPrototypeSettingsAreIgnored(t *testing.T) {
	nested := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	for _, test := range []struct{ given, kept, says string }{
		{`{"site":"http://m/","__proto__":{"a":1}}`, `{"site":"http://m/"}`, "__proto__"},
		{`{"site":{"m":"http://m/","\u0063onstructor":"http://n/"}}`, `{"site":{"m":"http://m/"}}`, "constructor"},
		{`{"site":"http://m/","more":` + nested(49) + `}`, `{"site":"http://m/"}`, `no setting "more"`},
		{`{"site":"http://m/","more":` + nested(50) + `}`, ``, "nest 51 levels deep, and at most 50"},
	} {
		r := registry.New(nil)
		p := plugin.Plugin{Manifest: plugin.Manifest{Name: "a", World: plugin.Isolated,
			ConfigSchema: json.RawMessage(`{"site":{"type":"url","label":"Site"}}`)}}
		if err := r.Replace([]plugin.Plugin{p},
			map[string]registry.Configured{"a": {Settings: json.RawMessage(test.given)}}); err != nil {
			t.Fatal(err)
		}
		s := r.Snapshot()
		if len(s.Sites) != 1 || string(s.Sites[0].Settings) != test.kept {
			t.Errorf("%s gives %+v", test.given, s.Sites)
		}
		if said := fmt.Sprint(s.Problems); !strings.Contains(said, test.says) {
			t.Errorf("%s is said to be %s", test.given, said)
		}
	}
}

// A candidate whose list would be larger than may be sent is refused as a whole, and the last good one stays.
func TestReplaceRefusesTooLargeAList(t *testing.T) {
	r := registry.New(nil)
	tool := func(name string, about int) plugin.Tool {
		return plugin.Tool{Name: name, Description: name,
			InputSchema: json.RawMessage(`{"type":"object","description":"` + strings.Repeat("x", about) + `"}`)}
	}
	offer := func(name string, tools ...plugin.Tool) plugin.Plugin {
		return plugin.Plugin{Hash: strings.Repeat("0", 64),
			Manifest: plugin.Manifest{Name: name, Version: "1.0.0", URLPatterns: []string{"https://a.example/*"},
				World: plugin.Isolated, Tools: tools}}
	}
	if err := r.Replace([]plugin.Plugin{offer("small", tool("one", 10))}, nil); err != nil {
		t.Fatal(err)
	}
	good := r.Snapshot()
	heard := 0
	defer r.OnChange(func(*registry.Snapshot) { heard++ })()
	const each = 60 << 10
	var tools []plugin.Tool
	for i := range (100<<20)/each + 1 {
		tools = append(tools, tool(fmt.Sprintf("t%d", i), each))
	}
	err := r.Replace([]plugin.Plugin{offer("huge", tools...)}, nil)
	if err == nil || !strings.Contains(err.Error(), "the tools stay as they were") {
		t.Errorf("got %v", err)
	}
	if r.Snapshot() != good || heard != 0 {
		t.Errorf("the snapshot changed, and %d were told", heard)
	}
}

// What no person accepted is not there, and it is known why.
func TestUnreviewedToolsSayWhy(t *testing.T) {
	off := &registry.Withheld{Tools: []string{"pay", "read"}, Why: "nobody has reviewed it"}
	shop := plugin.Plugin{Manifest: plugin.Manifest{Name: "shop", URLPatterns: []string{"https://shop.example/*"},
		Tools: []plugin.Tool{{Name: "read", InputSchema: []byte(`{"type":"object"}`)}}}}
	for _, c := range []struct {
		name    string
		plugins []plugin.Plugin
		given   registry.Configured
		pay     bool // off
		reads   bool // there
	}{
		{"a new plugin", nil, registry.Configured{Withheld: off}, true, false},
		{"a newer content", []plugin.Plugin{shop}, registry.Configured{Withheld: off}, true, true},
		{"switched off", nil, registry.Configured{Withheld: off, Disabled: true}, false, false},
		{"accepted", []plugin.Plugin{shop}, registry.Configured{}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := registry.New(nil)
			if err := r.Replace(c.plugins, map[string]registry.Configured{"shop": c.given}); err != nil {
				t.Fatal(err)
			}
			s := r.Snapshot()
			if _, there := s.Find("shop__read"); there != c.reads {
				t.Errorf("read is there: %v", there)
			}
			if failure := s.Withheld("shop__pay"); (failure != nil) != c.pay || c.pay &&
				!strings.HasSuffix(failure.Message, off.Why) {
				t.Errorf("pay fails with %v", failure)
			}
			if len(s.Problems) > 0 {
				t.Errorf("problems: %v", s.Problems)
			}
			if tool, ok := s.Find("shop__read"); ok {
				r.Reject(tool, "its schema does not compile")
			}
			if failure := r.Snapshot().Withheld("shop__pay"); (failure != nil) != c.pay {
				t.Error("a later snapshot does not know it")
			}
		})
	}
}
