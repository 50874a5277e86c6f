package hub_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"tabrelay/relay/hub"
	"tabrelay/relay/hub/hubtest"
	"tabrelay/relay/wire"
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
		expect(hub.TabNews{TabID: 7}, hub.TabNews{TabID: 7, Page: true}, hub.TabNews{TabID: 8, Page: true}, hub.TabNews{TabID: 7, Console: true},
			hub.TabNews{TabID: 8, Page: true, Closed: true})
		b.Drop()
		<-b.Gone()
		expect(hub.TabNews{})
		stop()
		b.Put(tab)
		expect()
	})
}
