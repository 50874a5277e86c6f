package policy

import (
	"strings"
	"testing"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// What is off for a client, or kept from agents by the configuration, is hidden: as a tab, and as an address to open.
func TestHiddenTabs(t *testing.T) {
	m := newMemory()
	for _, r := range []call.Rule{
		{Target: "default", Mode: call.Auto},
		{Target: "https://bank.example", Mode: call.Off},
		{Target: "https://mail.example", Mode: call.Off, Client: "cursor"},
		{Target: "https://shop.example", Mode: call.Ask},
	} {
		m.rules[key{r.Target, r.Client}] = r
	}
	o := Options{Store: m, Config: answeredWithin(time.Minute)}
	o.Config.Tabs.URLPatterns = []string{"*://*/*"}
	o.Config.Tabs.ExcludePatterns = []string{"https://secret.example/*"}
	f, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	for _, test := range []struct {
		origin string
		client string
		hidden bool
		opens  call.SiteState // as an address
	}{
		{"https://bank.example", "claude-code", true, call.SiteOff},
		{"https://mail.example", "claude-code", false, call.SiteOpen},
		{"https://mail.example", "cursor", true, call.SiteOff},
		{"https://shop.example", "claude-code", false, call.SiteAsk},
		{"https://secret.example", "claude-code", true, call.SiteOff},
		{"https://other.example", "claude-code", false, call.SiteOpen},
	} {
		session := call.Session{ID: "s", Client: test.client}
		at := call.Target{ProfileID: "p", TabID: 1, Origin: test.origin, URL: test.origin + "/path"}
		if got := f.HidesTab(session, at); got != test.hidden {
			t.Errorf("%s for %s is hidden: %t", test.origin, test.client, got)
		}
		opening := call.Access{Session: session, Tool: OpenTab, Plugin: "browser", Additive: true, BuiltIn: true,
			At: &call.Target{Origin: test.origin}, Opens: at.URL}
		says, failure := f.Allow(opening)
		switch {
		case test.opens == call.SiteOff && (failure == nil || failure.Code != fault.PermissionDenied):
			t.Errorf("%s for %s opens: %+v, %v", test.origin, test.client, says, failure)
		case test.opens != call.SiteOff && (failure != nil || says.Ask != (test.opens == call.SiteAsk)):
			t.Errorf("%s for %s opens: %+v, %v", test.origin, test.client, says, failure)
		}
	}
}

// A question about an address says which one, and where.
func TestAQuestionSaysWhatIsOpened(t *testing.T) {
	f := open(t)
	opening := call.Access{Session: call.Session{ID: "s", Client: "ann"}, Tool: OpenTab, Plugin: "browser",
		Additive: true, BuiltIn: true, At: &call.Target{Origin: "https://shop.example"},
		Opens: "https://shop.example/cart?item=1&token=abcdef"}
	q := f.newQuestion(opening)
	if !strings.HasPrefix(q.Sentence, "May ann open https://shop.example/cart?item=1&token=") ||
		!strings.HasSuffix(q.Sentence, " in a new tab?") || strings.Contains(q.Sentence, "abcdef") {
		t.Errorf("got %q", q.Sentence)
	}
	if q.Covers != "open pages of shop.example in new tabs" || q.Origin != "https://shop.example" {
		t.Errorf("got %q at %q", q.Covers, q.Origin)
	}
	going := opening
	going.Tool, going.BuiltIn, going.At = "browser__navigate", false, &call.Target{
		ProfileID: "p", TabID: 7, Origin: "https://shop.example", URL: "https://forum.example/", Title: "Forum"}
	if q := f.newQuestion(going); !strings.HasSuffix(q.Sentence, " in tab 7?") {
		t.Errorf("got %q", q.Sentence)
	}
}

// Tools that a page registered are listed only where the person lets a client meet that site.
func TestToolsOfPagesOfHiddenSites(t *testing.T) {
	f := open(t, call.Rule{Target: "default", Mode: call.Auto},
		call.Rule{Target: "https://bank.example", Mode: call.Off},
		call.Rule{Target: "https://mail.example", Mode: call.Off, Client: "cursor"})
	for _, test := range []struct {
		origin, client string
		shown          bool
	}{
		{"https://bank.example", "claude-code", false},
		{"https://mail.example", "claude-code", true},
		{"https://mail.example", "cursor", false},
		{"https://other.example", "cursor", true},
	} {
		tool := &registry.Tool{Name: "web__site__pay", Group: "web", Plugin: &plugin.Plugin{},
			Page: &registry.Page{Origin: test.origin, Name: "pay"}}
		view := f.View(call.Session{ID: "s", Client: test.client})
		if got := view.Shows(tool); got != test.shown || view.Hidden(tool) == test.shown {
			t.Errorf("a tool of %s is shown to %s: %t", test.origin, test.client, got)
		}
		if failure := view.Why(tool); (failure == nil) != test.shown || failure != nil && failure.TabID != 0 {
			t.Errorf("a tool of %s for %s: %v", test.origin, test.client, failure)
		}
	}
}
