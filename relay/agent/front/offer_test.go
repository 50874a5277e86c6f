package front

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// pages are the open pages of a Front under test.
type pages struct {
	mu       sync.Mutex
	open     map[string]bool // by name of the plugin
	profiles int
	asked    int // how often Site was asked
	watchers []func()
}

func newPages(open ...string) *pages {
	p := &pages{open: map[string]bool{}, profiles: 1}
	for _, name := range open {
		p.open[name] = true
	}
	return p
}

func (p *pages) Site(s *registry.Site) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	return p.open[s.Plugin.Manifest.Name]
}

func (p *pages) Profiles() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.profiles
}

func (p *pages) OnChange(changed func()) (stop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watchers = append(p.watchers, changed)
	return func() {}
}

// show opens or closes the site of a plugin.
func (p *pages) show(name string, open bool) { p.change(func() { p.open[name] = open }) }

// connect has so many profiles connected.
func (p *pages) connect(n int) { p.change(func() { p.profiles = n }) }

func (p *pages) change(change func()) {
	p.mu.Lock()
	change()
	watchers := p.watchers
	p.mu.Unlock()
	for _, changed := range watchers {
		changed()
	}
}

// listed is what a client with a toolset gets, without descriptions and schemas.
func (x *fixture) listed(t *testing.T, toolset string, o *offered) string {
	t.Helper()
	v := x.front.visibleTo(call.Session{Client: "ann"}, mustToolset(t, toolset), o)
	var names []string
	for _, tool := range x.tools.Snapshot().Tools {
		if v.lists(tool) {
			names = append(names, tool.Name)
		}
	}
	if v.tools.Gateway {
		names = append(names, "gateway")
	}
	return strings.Join(names, " ")
}

// openPlugins are the plugins of TestWhatIsListed: one for a site, one for every page, and one of those that a person
// keeps to some.
func openPlugins(t *testing.T, x *fixture) {
	t.Helper()
	make := func(name string, patterns ...string) plugin.Plugin {
		return plugin.Plugin{Hash: name, Manifest: plugin.Manifest{Name: name, Version: "1.0.0", World: plugin.Isolated,
			URLPatterns: patterns, Tools: []plugin.Tool{demoTool("read", "Read", "Reads.", "")}}}
	}
	all := []plugin.Plugin{make("wiki", "*://wiki.example/*"), make("reader", "*://*/*"), make("kept", "*://*/*")}
	kept := registry.Configured{Pages: []string{"*://some.example/*"}}
	if err := x.tools.Replace(all, map[string]registry.Configured{"kept": kept}); err != nil {
		t.Fatal(err)
	}
}

// What a client gets that asks for nothing depends on what is open; what it asks for, it gets.
func TestWhatIsListed(t *testing.T) {
	const always = "bridge_health browser__tabs "
	for _, c := range []struct{ open, toolset, want string }{
		{"", "", always + "gateway"},
		{"wiki", "", always + "wiki__read gateway"},
		{"reader", "", always + "gateway"}, // every page is its site
		{"kept", "", "bridge_health browser__tabs kept__read gateway"},
		{"wiki", "all", always + "kept__read reader__read relay__doctor wiki__read"},
		{"wiki", "gateway", "bridge_health relay__doctor gateway"},
		{"wiki", "reader", "reader__read"},
		{"", "wiki,browser", "browser__tabs wiki__read"},
	} {
		t.Run(fmt.Sprintf("%s open, %s asked for", c.open, c.toolset), func(t *testing.T) {
			x := newFixture(t, Options{Open: newPages(c.open)})
			openPlugins(t, x)
			if got := x.listed(t, c.toolset, &offered{}); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// Nothing that a session was offered is taken away from it, and a session that begins later starts anew.
func TestNothingIsTakenAway(t *testing.T) {
	open := newPages("wiki")
	x := newFixture(t, Options{Open: open})
	openPlugins(t, x)
	early := &offered{}
	before := x.listed(t, "", early)
	open.show("wiki", false)
	open.show("kept", true)
	if got := x.listed(t, "", early); !strings.Contains(got, "wiki__read") || !strings.Contains(got, "kept__read") {
		t.Errorf("before %s, then %s", before, got)
	}
	if got := x.listed(t, "", &offered{}); strings.Contains(got, "wiki__read") {
		t.Errorf("a new session is offered %s", got)
	}
}

// However many lists are asked for, sites are looked at again only when something has changed.
func TestOpenSitesAreLookedAtOnce(t *testing.T) {
	open := newPages("wiki")
	x := newFixture(t, Options{Open: open})
	openPlugins(t, x)
	x.listed(t, "", &offered{})
	asked := open.asked
	x.listed(t, "", &offered{})
	if open.asked != asked {
		t.Errorf("asked %d times, and %d times after a second list", asked, open.asked)
	}
	open.show("wiki", false)
	if x.listed(t, "", &offered{}); open.asked == asked {
		t.Error("a change was not seen")
	}
}

// What sessions of the modern era were offered is forgotten when nobody asks for it, and when there are too many.
func TestOffersAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s offers
		first := s.of("first")
		time.Sleep(sessionIdle)
		if s.of("first") != first {
			t.Error("forgotten while it was used")
		}
		time.Sleep(sessionIdle + 1)
		if s.of("second"); s.of("first") == first {
			t.Error("kept although nobody used it")
		}
		for i := range 2 * maxSessions {
			s.of(fmt.Sprint(i))
		}
		if len(s.byID) > maxSessions {
			t.Errorf("%d are kept", len(s.byID))
		}
	})
}
