package resources

import (
	"context"
	"strings"
	"testing"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
)

// gate lets a test say what a client may read, and what happens while the person is asked.
type gate struct {
	shows   func(call.Target) bool
	tells   func(call.Target) bool // nil: of each
	read    func(at call.Target, tool, uri string) *fault.Error
	outside *fault.Error // tabs are not for the client at all
}

func (g gate) RefuseTabs(call.Session) *fault.Error { return g.outside }

func (gate) Readable(string) bool { return true }

func (g gate) ShowsTab(_ call.Session, at call.Target) bool { return g.shows(at) }

func (g gate) TabSites(_ call.Session, at call.Target) call.Sites {
	return call.Sites{Rest: call.SiteAsk, Origins: map[string]call.SiteState{at.Origin: call.SiteOpen}}
}

func (g gate) TellsTab(_ call.Session, at call.Target) bool { return g.tells == nil || g.tells(at) }

func (g gate) ReadTab(
	_ context.Context, _ call.ID, _ call.Session, at call.Target, tool, uri string,
	_ func(context.Context, call.Question) (call.Answer, error),
) *fault.Error {
	return g.read(at, tool, uri)
}

// What the rules forbid is neither listed nor read, and what was allowed of one origin is not read of another.
func TestReadingIsPermitted(t *testing.T) {
	const shop, bank = "https://shop.example/cart", "https://bank.example/"
	for name, tt := range map[string]struct {
		uri, kind string
		failure   *fault.Error
		during    string // where the tab goes while the person is asked
		shows     string // what the page turns out to be when it is read
		code      fault.Code
	}{
		"allowed":   {uri: "tab://1/text", kind: policy.ReadTab, shows: shop},
		"a console": {uri: "console://1", kind: policy.ReadConsole, shows: shop},
		"another page of the origin": {uri: "tab://1/html", kind: policy.ReadTab, during: "https://shop.example/pay",
			shows: "https://shop.example/pay"},
		"refused": {uri: "tab://1/text", kind: policy.ReadTab,
			failure: fault.New(fault.ApprovalDenied, "No"), code: fault.ApprovalDenied},
		"gone elsewhere meanwhile": {uri: "tab://1/text", kind: policy.ReadTab, during: bank, shows: bank,
			code: fault.ResourceNotFound},
		"gone elsewhere at the end": {uri: "tab://1/text", kind: policy.ReadTab, shows: bank,
			code: fault.ResourceNotFound},
		"a console gone elsewhere": {uri: "console://1", kind: policy.ReadConsole, shows: bank,
			code: fault.ResourceNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			w := &window{tabs: []hub.Tab{{ProfileID: "p1", Profile: "Work", ID: 1, URL: shop, Title: "Cart"}}}
			read := false
			w.answer = func(_, command string, _ map[string]any) (string, *fault.Error) {
				read = true
				if command == "console.read" {
					return `{"url":"` + tt.shows + `","since":0,"lines":[]}`, nil
				}
				return `{"frames":[{"url":"` + tt.shows + `","origin":"","text":"words","total":5}]}`, nil
			}
			s := New(Options{Browser: w, Policy: gate{read: func(tab call.Target, kind, uri string) *fault.Error {
				if kind != tt.kind || uri != tt.uri || tab.URL != shop {
					t.Errorf("asked for %s %s of %s", kind, uri, tab.URL)
				}
				if tt.during != "" {
					w.mu.Lock()
					w.tabs[0].URL = tt.during
					w.mu.Unlock()
				}
				return tt.failure
			}}})
			_, failure := s.Read(t.Context(), call.Session{}, tt.uri, nil)
			switch {
			case tt.code == "" && failure != nil, tt.code != "" && (failure == nil || failure.Code != tt.code):
				t.Errorf("got %v, want %q", failure, tt.code)
			case read != (tt.shows != "" && tt.during != bank):
				t.Errorf("read %t", read)
			}
		})
	}
	w := &window{tabs: []hub.Tab{{ID: 1, URL: shop}, {ID: 2, URL: bank}}}
	s := New(Options{Browser: w, Policy: gate{shows: func(tab call.Target) bool { return tab.URL == shop }}})
	if list, failure := s.List(t.Context(), call.Session{}); failure != nil || len(list) != 1 {
		t.Errorf("listed %+v %v", list, failure)
	}
	w.tabs = []hub.Tab{{ID: 1, URL: shop + "secret/path", Title: "Dear Ann"}, {ID: 2, URL: bank, Title: "Balance"}}
	s = New(Options{Browser: w, Policy: gate{shows: func(call.Target) bool { return true },
		tells: func(tab call.Target) bool { return tab.TabID == 2 }}})
	list, failure := s.List(t.Context(), call.Session{})
	if failure != nil || len(list) != 2 || strings.Contains(list[0].Title+list[0].Description, "Ann") ||
		strings.Contains(list[0].Title+list[0].Description, "secret") || !strings.Contains(list[0].Description,
		Origin(shop)) || list[1].Title != "Balance" {
		t.Errorf("listed %+v %v", list, failure)
	}
}

// A client whose scope does not cover tabs gets none: not in lists, not to read, and not to watch.
func TestTabsOutsideTheScope(t *testing.T) {
	w := &window{tabs: []hub.Tab{{ID: 1, URL: "https://shop.example/cart"}}}
	var audited []call.Entry
	s := New(Options{
		Browser: w, Policy: gate{outside: fault.New(fault.PermissionDenied, "No")},
		Audit: func(e call.Entry) { audited = append(audited, e) },
	})
	if list, failure := s.List(t.Context(), call.Session{}); failure != nil || len(list) != 0 {
		t.Errorf("listed %+v %v", list, failure)
	}
	for _, uri := range []string{"tab://1/text", "TAB://1/html", "console://1"} {
		if _, failure := s.Read(t.Context(), call.Session{}, uri, nil); failure == nil ||
			failure.Code != fault.PermissionDenied {
			t.Errorf("reading %s: %v", uri, failure)
		}
		if _, failure := s.Watch(call.Session{}, uri, func() {}); failure == nil ||
			failure.Code != fault.PermissionDenied {
			t.Errorf("watching %s: %v", uri, failure)
		}
	}
	if len(audited) != 3 || audited[2].Tool != policy.ReadConsole || audited[2].TabID != 1 || audited[2].CallID == "" {
		t.Errorf("written down: %+v", audited)
	}
}
