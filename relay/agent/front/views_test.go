package front

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// views hides tools for a Front under test: some that a person could show, some that are out of reach.
type views struct {
	mu       sync.Mutex
	off      []string // names that are off by a rule
	beyond   []string // names outside the scope
	asks     []string // names of tools the person is asked about
	toolset  string
	version  string
	watchers []func()
}

// newViews reads the lines "off: ", "beyond: " and "narrowed: " of a conversation's comment.
func newViews(comment string) *views {
	v := &views{}
	for line := range strings.Lines(comment) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "off":
			v.off = strings.Fields(rest)
		case "beyond":
			v.beyond = strings.Fields(rest)
		case "asks":
			v.asks = strings.Fields(rest)
		case "narrowed":
			v.toolset = rest
		}
	}
	return v
}

func (v *views) View(s call.Session) registry.View {
	v.mu.Lock()
	off, beyond, asks := v.off, v.beyond, v.asks
	view := registry.View{Key: s.Client + v.version, Toolset: v.toolset}
	v.mu.Unlock()
	is := func(list []string, t *registry.Tool) bool {
		return slices.ContainsFunc(list, func(name string) bool { return strings.HasPrefix(t.Name, name) })
	}
	view.Shows = func(t *registry.Tool) bool { return !is(off, t) && !is(beyond, t) }
	view.Hidden = func(t *registry.Tool) bool { return is(off, t) }
	view.Asks = func(t *registry.Tool) bool { return is(asks, t) }
	view.Why = func(t *registry.Tool) *fault.Error {
		return fault.New(fault.PermissionDenied, t.Name+" is off for "+s.Client)
	}
	return view
}

func (v *views) OnChange(changed func()) (stop func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.watchers = append(v.watchers, changed)
	return func() {}
}

// hide switches these off, and nothing else.
func (v *views) hide(names string) {
	v.mu.Lock()
	v.off, v.version = strings.Fields(names), v.version+"+"
	watchers := v.watchers
	v.mu.Unlock()
	for _, w := range watchers {
		w()
	}
}

func mustToolset(t *testing.T, text string) registry.Toolset {
	t.Helper()
	s, err := registry.ParseToolset(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The list of a client is made once, and again only when what it may see has changed.
func TestListsOfViews(t *testing.T) {
	v := newViews("off: demo__w")
	f := newFixture(t, Options{Views: v}).front
	list := func(client string) *toolList {
		v := f.visibleTo(call.Session{Client: client}, mustToolset(t, ""), &offered{})
		return f.catalog.list(f.options.Tools.Snapshot(), v)
	}
	ann, bob := list("ann"), list("bob")
	if list("ann") != ann || list("bob") != bob || ann == bob {
		t.Error("a list was made anew, or is another client's")
	}
	if strings.Contains(string(ann.objects), `"demo__wait"`) || !strings.Contains(string(ann.objects), `"demo__echo"`) {
		t.Errorf("%s", ann.objects)
	}
	v.hide("demo__e")
	if after := list("ann"); after == ann || !strings.Contains(string(after.objects), `"demo__wait"`) ||
		strings.Contains(string(after.objects), `"demo__echo"`) {
		t.Errorf("%s", after.objects)
	}
}

// One line says what could be enabled, of as many plugins as are read at a glance.
func TestOneLineSaysHowManyToolsAreOff(t *testing.T) {
	f := newFixture(t, Options{Views: newViews("off: demo__echo demo__log browser__\nbeyond: demo__wait")}).front
	v := f.reach(call.Call{Session: call.Session{Client: "ann"}})
	if got := v.more(f.options.Tools.Snapshot().Tools); got != "3 more tools of browser, demo are off; the person "+
		"can enable them in tabrelay's side panel or with `tabrelay permit set`" {
		t.Error(got)
	}
}

// TestAToolsetWithAnUnknownPluginIsRefused: a toolset whose plugin is missing is refused, with the one that was
// probably meant.
func TestAToolsetWithAnUnknownPluginIsRefused(t *testing.T) {
	x := newFixture(t, Options{Missing: func(plugin string) (bool, string) {
		return plugin != "demo",
			map[string]string{"dem": "demo"}[plugin]
	}})
	for text, want := range map[string]string{
		"": "", "all": "", "gateway,demo": "", "demo": "", "gateway demo": "", "../x": "expected all, gateway",
		"demo,dem": `toolset "demo,dem": no plugin is called dem; did you mean demo?`,
		"other":    `toolset "other": no plugin is called other`,
	} {
		_, fail := x.front.Toolset(text)
		if (fail != nil) != (want != "") || fail != nil && (!strings.Contains(fail.Message, want) ||
			fail.Code != fault.InvalidRequest || fail.Hint == "") {
			t.Errorf("%q: %v, want %q", text, fail, want)
		}
	}
	for _, body := range []string{initialize,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list",` +
			`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientCapabilities":{}}}}`} {
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp?toolset=dem", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if strings.Contains(body, "2026") {
			r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
			r.Header.Set("Mcp-Method", "tools/list")
		}
		w := httptest.NewRecorder()
		x.front.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "did you mean demo?") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}
