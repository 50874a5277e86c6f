package relay

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
)

// A relay for which the sale's site is off, with a tab there, and a browser that says what became of each address.
func withClosedSite(t *testing.T, w *world, replies map[string]*wire.Reply) (*mcpClient, *[]json.RawMessage) {
	t.Helper()
	r := w.guarded(map[string]string{"default": "auto", saleOrigin: "off"})
	created := &[]json.RawMessage{}
	var b *hubtest.Browser
	b = dialIn(t, r, func(o *hubtest.Options) {
		o.Answer = func(c *hubtest.Call) { c.Started(); c.Return([]byte(`{}`)) }
		o.Tabs = []wire.Tab{
			{ID: 7, WindowID: 1, URL: shopPage, Title: "Cart", Active: true, Focused: true, Status: "complete"},
			{ID: 8, WindowID: 1, URL: saleOrigin + "/secret", Title: "Balance", Status: "complete"},
		}
		o.Command = func(c *wire.Command) *wire.Reply {
			var p struct{ URL string }
			if err := json.Unmarshal(c.Params, &p); err != nil || c.Name != "tabs.create" {
				return &wire.Reply{OK: true}
			}
			*created = append(*created, c.Params)
			u, _ := url.Parse(p.URL)
			if to := u.Query().Get("to"); to != "" {
				b.Put(wire.Tab{ID: 21, WindowID: 1, URL: to, Title: "The end", Status: "complete"})
			}
			return replies[u.Path]
		}
	})
	w.awaitTabs(b)
	return w.agent(nobodyStarts), created
}

// Nothing is told of a tab whose site is off: not in a list, not in a failure, not by who looks for its id.
func TestTabsOfClosedSitesAreNotTold(t *testing.T) {
	w := newWorld(t)
	ann, _ := withClosedSite(t, w, nil)
	ann.call(1, "browser__list_tabs", `{}`)
	ann.hears(`"id":1,`, `\"tabId\":7,`, `\"hidden\":1`)
	for n, tool := range []string{"shop__read", "shop__pay"} {
		ann.call(10+n, tool, `{"tabId":8}`)
		said, _ := ann.hearsUntil(fmt.Sprintf(`"id":%d,`, 10+n))
		ann.expects(said, `code=PERMISSION_DENIED`)
		if strings.Contains(said, "Balance") || strings.Contains(said, "/secret") {
			t.Errorf("%s says %s", tool, said)
		}
	}
}

// An address of a site that is off is not opened, and one that leads there is told as far as it was followed.
func TestClosedSitesAreNotOpened(t *testing.T) {
	w := newWorld(t)
	made := func(more string) *wire.Reply {
		return &wire.Reply{OK: true, Result: fmt.Appendf(nil, `{"tabId":21,"windowId":1,"status":"complete",`+
			`"begun":true%s}`, more)}
	}
	ann, created := withClosedSite(t, w, map[string]*wire.Reply{
		"/away": made(`,"stopped":"` + saleOrigin + `"`), "/there": made(""),
		"/kept": made(`,"stopped":"https://kept.example"`),
	})
	ann.call(1, "browser__open_tab", `{"url":"`+saleOrigin+`/pay"}`)
	ann.hears(`"id":1,`, `code=PERMISSION_DENIED`, `outcome=not_executed`)
	if len(*created) != 0 {
		t.Fatalf("the browser was asked for %s", *created)
	}
	ann.call(2, "browser__open_tab", `{"url":"https://shop.example/away"}`)
	ann.hears(`"id":2,`, `code=PERMISSION_DENIED`, `outcome=executed`, `Stopped at `+saleOrigin+`, which is off`)
	var p struct{ Sites call.Sites }
	if err := json.Unmarshal((*created)[0], &p); err != nil || p.Sites.Of(saleOrigin) != call.SiteOff ||
		p.Sites.Of(shopOrigin) != call.SiteOpen {
		t.Errorf("the browser was told %s, %v", (*created)[0], err)
	}
	ann.call(4, "browser__open_tab", `{"url":"https://shop.example/kept"}`)
	kept, _ := ann.hearsUntil(`"id":4,`)
	ann.expects(kept, `code=PERMISSION_DENIED`, `Stopped at https://kept.example`, `tabs.excludePatterns`)
	if strings.Contains(kept, "side panel") {
		t.Errorf("where no rule is about a page, it says %s", kept)
	}
	ann.call(3, "browser__open_tab", `{"url":"https://shop.example/there?to=`+url.QueryEscape(saleOrigin+"/x")+`"}`)
	said, _ := ann.hearsUntil(`"id":3,`)
	ann.expects(said, `\"url\":\"`+saleOrigin+`\"`, `a site that is off`)
	if strings.Contains(said, "The end") || strings.Contains(said, saleOrigin+"/x") {
		t.Errorf("it says %s", said)
	}
}
