package front

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// sitePlugin is a plugin with so many tools, of which each costs about so many tokens.
func sitePlugin(name string, tools, size int) plugin.Plugin {
	p := plugin.Plugin{Hash: name, Manifest: plugin.Manifest{Name: name, Version: "1.0.0", World: plugin.Isolated,
		URLPatterns: []string{"*://" + name + ".example/*"}}}
	for i := range tools {
		p.Manifest.Tools = append(p.Manifest.Tools,
			demoTool(fmt.Sprintf("tool_%04d", i), "Tool", strings.Repeat("word ", max(0, size-15)), ""))
	}
	return p
}

// sites is a Front whose clients see some plugins, with pages of some open.
func sites(t testing.TB, most int, open *pages, views Views, plugins ...plugin.Plugin) *fixture {
	t.Helper()
	x := newFixture(t, Options{Open: open, ListTokens: most, Views: views})
	if err := x.tools.Replace(plugins, nil); err != nil {
		t.Fatal(err)
	}
	return x
}

// tools are what a session is listed, by name, and the estimate of what that costs with the instructions.
func (x *fixture) listFor(t testing.TB, toolset string, o *offered) (names map[string]string, cost int) {
	t.Helper()
	asked, err := registry.ParseToolset(toolset)
	if err != nil {
		t.Fatal(err)
	}
	names, cost = map[string]string{}, registry.Tokens(x.front.options.Instructions)
	var list []struct {
		Name, Description string
		InputSchema       json.RawMessage
	}
	l := x.front.listFor(call.Session{Client: "ann"}, asked, o)
	if err := json.Unmarshal([]byte("["+string(l.objects)+"]"), &list); err != nil {
		t.Fatal(err)
	}
	for _, tool := range list {
		names[tool.Name] = tool.Description
		cost += registry.Tokens(tool.Name) + registry.Tokens(tool.Description) + registry.Tokens(tool.InputSchema)
	}
	return names, cost
}

func of(name string, listed map[string]string) (count int) {
	for tool := range listed {
		if strings.HasPrefix(tool, name+"__") {
			count++
		}
	}
	return count
}

// Whatever sites are opened and closed, in whatever order: a list costs no more than it may, nothing is taken away, and
// every tool that is not listed is counted in what relay__search_tools says.
func TestListsHaveRoom(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		most := 1000 + random.IntN(4000)
		open, total := newPages(), map[string]int{}
		var plugins []plugin.Plugin
		for i := range 1 + random.IntN(12) {
			p := sitePlugin(fmt.Sprintf("site%02d", i), random.IntN(40), 1+random.IntN(300))
			plugins, total[p.Manifest.Name] = append(plugins, p), len(p.Manifest.Tools)
		}
		x := sites(t, most, open, nil, plugins...)
		session, before, opened := &offered{}, map[string]string{}, map[string]bool{}
		for range 30 {
			name := plugins[random.IntN(len(plugins))].Manifest.Name
			now := random.IntN(3) > 0
			open.show(name, now)
			opened[name] = opened[name] || now
			open.connect(1 + random.IntN(8)/7) // a second profile makes every tool longer, so it may come only once
			if open.profiles > 1 && session.now != nil && !session.now.Profiles {
				open.connect(1)
			}
			listed, cost := x.listFor(t, "", session)
			if cost > most {
				t.Fatalf("seed %d: %d tokens, more than %d", seed, cost, most)
			}
			for tool := range before {
				if _, still := listed[tool]; !still {
					t.Fatalf("seed %d: %s was taken away", seed, tool)
				}
			}
			before = listed
			says := listed[registry.SearchTools]
			for plugin, all := range total {
				missing := all - of(plugin, listed)
				if told := strings.Contains(says, fmt.Sprintf("%s %d", plugin, missing)) ||
					strings.Contains(says, "others"); opened[plugin] && missing > 0 && !told {
					t.Fatalf("seed %d: %d tools of %s are missing: %s", seed, missing, plugin, says)
				}
			}
		}
	}
}

func TestWhatHasRoom(t *testing.T) {
	three := []plugin.Plugin{sitePlugin("a", 20, 100), sitePlugin("b", 3, 100), sitePlugin("c", 20, 100)}
	for what, c := range map[string]struct {
		most    int
		toolset string
		views   Views
		want    [3]int // tools of each
		says    string
	}{
		"no bound":        {0, "", nil, [3]int{20, 3, 20}, ""},
		"room for all":    {5_200, "", nil, [3]int{20, 3, 20}, ""},
		"shared fairly":   {2_000, "", nil, [3]int{6, 3, 6}, "have more tools than are listed: a 14, c 14."},
		"no room":         {100, "", nil, [3]int{}, "have more tools than are listed: a 20, b 3, c 20."},
		"asked for":       {100, "a,c", nil, [3]int{20, 0, 20}, ""},
		"all":             {100, "all", nil, [3]int{20, 3, 20}, ""},
		"hidden is free":  {3_200, "", newViews("off: a__"), [3]int{0, 3, 20}, ""},
		"narrowed to one": {100, "", newViews("narrowed: a"), [3]int{20, 0, 0}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			x := sites(t, c.most, newPages("a", "b", "c"), c.views, three...)
			listed, cost := x.listFor(t, c.toolset, &offered{})
			if got := [3]int{of("a", listed), of("b", listed), of("c", listed)}; got != c.want {
				t.Errorf("%v for %d tokens, want %v", got, cost, c.want)
			}
			if says := listed[registry.SearchTools]; !strings.HasSuffix(says, c.says) ||
				c.says == "" && strings.Contains(says, "more tools") {
				t.Error(says)
			}
		})
	}
}

// A site that is opened when the list is full is announced once, by the sentence about it, and its tools can be called.
func TestOpenedWhenTheListIsFull(t *testing.T) {
	open := newPages("a")
	x := sites(t, 2_000, open, nil, sitePlugin("a", 40, 100), sitePlugin("b", 5, 100))
	session := &offered{}
	before, _ := x.listFor(t, "", session)
	open.show("b", true)
	after, _ := x.listFor(t, "", session)
	for _, l := range []map[string]string{before, after} {
		delete(l, registry.SearchTools)
	}
	if !maps.Equal(before, after) {
		t.Errorf("%v, then %v", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
	}
	if _, fail := x.front.lookUp(call.Call{}, new("b__tool_0003")); fail != nil {
		t.Error(fail)
	}
	if fresh, _ := x.listFor(t, "", &offered{}); of("b", fresh) != 5 {
		t.Errorf("a session that begins now is listed %d tools of b", of("b", fresh))
	}
}

// A client whose list is full hears once that it changed, and reads in it how many tools are not listed. What
// changes nothing in its list is not announced.
func TestAFullListIsAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := newPages("a")
		x := sites(t, 2_000, open, nil, sitePlugin("a", 40, 100), sitePlugin("b", 5, 100), sitePlugin("c", 0, 0))
		client := newLineTalker(t, x.front, "")
		c := &conversation{t: t, fixture: x, talker: client, words: map[string]string{}}
		answer := func(message string) string {
			if message != "" {
				client.say("", message+"\n")
			}
			c.settle()
			return c.heard("")
		}
		list := func(want string) {
			t.Helper()
			if says := answer(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); !strings.Contains(says, want) ||
				strings.Contains(says, `"b__`) {
				t.Errorf("the list does not say %q: %.3000s", want, says)
			}
		}
		c.event("pass 1s") // the plugins were added just now, which is announced on its own
		answer(initialize)
		answer(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		list("more tools than are listed: a ")
		for _, step := range []struct {
			what string
			do   func()
			want int // notifications
		}{
			{"a page of b", func() { open.show("b", true) }, 1},
			{"it closes", func() { open.show("b", false) }, 0},
			{"and opens", func() { open.show("b", true) }, 0},
			{"a site without tools", func() { open.show("c", true) }, 0},
			{"a is closed", func() { open.show("a", false) }, 0},
		} {
			step.do()
			c.event("pass 1s")
			if said := answer(""); strings.Count(said, `"notifications/tools/list_changed"`) != step.want {
				t.Errorf("%s: want %d notifications: %s", step.what, step.want, said)
			}
			list(", b 5.")
		}
		client.hangUp()
		if err := x.front.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// One tool that is larger than any list takes no place from the others of its plugin.
func TestATooLargeToolIsPassedOver(t *testing.T) {
	p := sitePlugin("a", 5, 50)
	p.Manifest.Tools[0].Description = strings.Repeat("word ", 2_000)
	x := sites(t, 2_000, newPages("a"), nil, p)
	listed, _ := x.listFor(t, "", &offered{})
	if _, there := listed["a__tool_0000"]; there || of("a", listed) != 4 {
		t.Errorf("%v", slices.Sorted(maps.Keys(listed)))
	}
}

// BenchmarkListWithRoom is the first tools/list of a session when everything is open: 2,000 tools of 100 plugins.
func BenchmarkListWithRoom(b *testing.B) {
	var plugins []plugin.Plugin
	open := newPages()
	for i := range 100 {
		p := sitePlugin(fmt.Sprintf("site%02d", i), 20, 100)
		plugins = append(plugins, p)
		open.open[p.Manifest.Name] = true
	}
	x := sites(b, 6_000, open, nil, plugins...)
	handler := x.front.Handler()
	for b.Loop() {
		session := postTo(handler, "", []byte(initialize)).header.Get("Mcp-Session-Id")
		postTo(handler, session, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		b.StopTimer()
		r, _ := http.NewRequest(http.MethodDelete, "http://127.0.0.1/mcp", nil)
		r.Header.Set("Mcp-Session-Id", session)
		handler.ServeHTTP(&sink{http.Header{}}, r)
		b.StartTimer()
	}
	listed, cost := x.listFor(b, "", &offered{})
	b.ReportMetric(float64(cost), "tokens")
	b.ReportMetric(float64(len(listed)), "tools")
}

// TestToolsOfPagesThatAreGone: what no page has any more is listed to a session that was shown it, and takes no room
// from what there is for a new one.
func TestToolsOfPagesThatAreGone(t *testing.T) {
	browser := sitePlugin(plugin.Browser, 1, 50)
	browser.Shipped = true
	x := sites(t, 2_000, newPages(plugin.Browser), nil, browser)
	spec := demoTool("pay", "Pay", strings.Repeat("word ", 1_000), "")
	has := map[string]bool{"shop": true, "bank": true}
	offer := func(hosts ...string) {
		var list []registry.PageTool
		for _, host := range hosts {
			list = append(list, registry.PageTool{Name: "web__" + host + "__pay", Spec: spec, Page: registry.Page{
				Origin: "https://" + host, Name: "pay", Key: "1", In: func(int) bool { return has[host] }}})
		}
		x.tools.SetPageTools(list)
	}
	names := func(o *offered) []string {
		listed, _ := x.listFor(t, "", o)
		return slices.DeleteFunc(slices.Sorted(maps.Keys(listed)),
			func(name string) bool { return !strings.HasPrefix(name, "web__") })
	}
	old, fresh := &offered{}, &offered{}
	offer("shop")
	if got := names(old); !slices.Equal(got, []string{"web__shop__pay"}) {
		t.Fatalf("listed %v", got)
	}
	has["shop"] = false
	offer("shop", "bank")
	if got := names(old); !slices.Equal(got, []string{"web__shop__pay"}) {
		t.Errorf("a session that was shown the one that is gone: %v", got)
	}
	if got := names(fresh); !slices.Equal(got, []string{"web__bank__pay"}) {
		t.Errorf("a new session: %v", got)
	}
	listed, _ := x.listFor(t, "", fresh)
	if says := listed[registry.SearchTools]; strings.Contains(says, "more tools") {
		t.Errorf("one that is gone is spoken of: %s", says)
	}
	has["shop"], has["bank"] = true, false
	offer("shop", "bank")
	if got := names(&offered{}); !slices.Equal(got, []string{"web__shop__pay"}) {
		t.Errorf("when the page has it again: %v", got)
	}
}
