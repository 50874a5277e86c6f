package hub_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
)

func TestLargeReplies(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		page := `{"frames":["` + strings.Repeat("a", 1<<20) + `"]}` // far more than a header may hold
		var b *hubtest.Browser
		b = l.connect(func(o *hubtest.Options) {
			o.Command = func(c *wire.Command) *wire.Reply {
				frame, err := wire.Encode(&wire.Reply{ID: c.ID, OK: true}, json.RawMessage(page))
				if err != nil {
					t.Error(err)
				}
				b.SendRaw(frame)
				return &wire.Reply{OK: true} // too late
			}
		})
		raw, failure := l.hub.Command(t.Context(), b.ProfileID(), "tabs.read", map[string]any{"tabId": 7})
		if failure != nil || string(raw) != page {
			t.Errorf("%d bytes, %v", len(raw), failure)
		}
	})
}

// Titles and addresses are the page's words: nobody is shown what a person would not see.
func TestTabsAreTidy(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		tab := demoTab(7)
		tab.URL += "\u202e#\u200bx\u2066"
		tab.Title = " Pay \u202e\u2066\u200b\u0007\u0085Ada\nnow \U000e0041"
		b := l.connect(func(o *hubtest.Options) { o.Tabs = []wire.Tab{tab} })
		expect := func(title, url string) {
			t.Helper()
			synctest.Wait()
			if tabs := l.hub.Tabs(); len(tabs) != 1 || tabs[0].Title != title || tabs[0].URL != url {
				t.Errorf("the hub has %+v", tabs)
			}
		}
		expect("Pay  Ada now", demoTab(7).URL+"#x")
		tab.Title, tab.URL = "Again\u200f \u200c\u2069", demoTab(7).URL+"\ufeff"
		b.Send(&wire.TabUpdate{Tab: tab})
		expect("Again", demoTab(7).URL)
	})
}

func TestTabNews(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		var mu sync.Mutex
		var heard []hub.TabNews
		stop := l.hub.OnTabs(func(n hub.TabNews) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, n)
		})
		b := l.connect(func(o *hubtest.Options) { o.Tabs = []wire.Tab{demoTab(7)} })
		expect := func(want ...hub.TabNews) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			for i := range want {
				want[i].ProfileID = b.ProfileID()
			}
			if !slices.Equal(heard, want) {
				t.Errorf("heard %+v, want %+v", heard, want)
			}
			heard = nil
		}
		expect(hub.TabNews{})
		tab := demoTab(7)
		tab.Active = !tab.Active
		b.Put(tab)
		tab.Title = "Another page"
		b.Put(tab)
		b.Put(demoTab(8))
		b.Send(&wire.Console{TabID: 7})
		b.CloseTab(8)
		expect(hub.TabNews{TabID: 7}, hub.TabNews{TabID: 7, Page: true}, hub.TabNews{TabID: 8, Page: true},
			hub.TabNews{TabID: 7, Console: true},
			hub.TabNews{TabID: 8, Page: true, Closed: true})
		b.Drop()
		<-b.Gone()
		expect(hub.TabNews{})
		stop()
		b.Put(tab)
		expect()
	})
}
