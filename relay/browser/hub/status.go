package hub

import (
	"time"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/fault"
)

// Browser is one profile, as status shows it.
type Browser struct {
	ProfileID string    `json:"profileId"`
	Label     string    `json:"label"`
	Connected bool      `json:"connected"`
	Since     time.Time `json:"since"` // of the connection, or of its end
	Extension string    `json:"extension"`
	Bundle    string    `json:"bundle"`
	UpToDate  bool      `json:"upToDate"` // it runs the extension files this relay holds
	Chrome    string    `json:"chrome"`
	Tabs      int       `json:"tabs"`
	Calls     int       `json:"calls"` // in flight
	Notices   []Notice  `json:"notices,omitempty"`
	Store     bool      `json:"store,omitempty"`   // its extension is the edition from a store
	Managed   bool      `json:"managed,omitempty"` // a policy of the browser installed it
	// plugins that Chrome does not run there before the person allows user scripts
	Waiting []string `json:"waitsForUserScripts,omitempty"`
}

// Notice is something an extension wants the person to see.
type Notice struct {
	Level   string `json:"level"`
	Message string `json:"message"`
}

// Tab is one open tab with a web page.
type Tab struct {
	ProfileID string `json:"profileId"`
	Profile   string `json:"profile"`
	ID        int    `json:"id"`
	WindowID  int    `json:"windowId"`
	URL       string `json:"url"`
	Title     string `json:"title"`
	Active    bool   `json:"active"`
	Focused   bool   `json:"focused"`
	Discarded bool   `json:"discarded"`
	Owner     *Owner `json:"owner"`  // nil: nobody
	Acting    bool   `json:"acting"` // a call runs there
}

// Origin is that of the tab's page; empty when it has none.
func (t *Tab) Origin() string { return originOf(t.URL) }

// Trouble is why no browser is connected, or nil when one is.
func (h *Hub) Trouble() *fault.Error {
	for _, b := range h.all() {
		if b.connected() {
			return nil
		}
	}
	return h.absent()
}

// Browsers lists the profiles that have connected to this relay.
func (h *Hub) Browsers() []Browser {
	list := []Browser{}
	for _, b := range h.all() {
		hello := b.about.Load()
		if hello == nil {
			continue // only known from a call of an earlier relay
		}
		entry := Browser{
			ProfileID: b.id, Label: b.label(), Extension: hello.Extension, Bundle: hello.Bundle,
			UpToDate: h.current(hello), Chrome: hello.Chrome,
			Managed: hello.Managed,
		}
		b.peek(func(s *calls) {
			entry.Calls = len(s.open)
			// Before its tabs are known neither calls nor commands can go there.
			entry.Connected, entry.Since = s.conn != nil && s.conn.ready.Load(), s.disconnectedAt
			if s.conn != nil {
				entry.Since = s.connectedAt
				if waiting := s.conn.userScripts.Load(); waiting != nil {
					entry.Store, entry.Waiting = true, *waiting
				}
			}
			for _, n := range s.notices {
				entry.Notices = append(entry.Notices, Notice{n.Level, n.Message})
			}
		})
		if at := b.forgotten.Load(); at != nil && !entry.Connected && entry.Since.Before(*at) {
			continue
		}
		if entry.Connected {
			entry.Tabs = len(b.tabs.Load().list)
		}
		list = append(list, entry)
	}
	return list
}

// current reports whether an extension is built of the same sources as this relay.
func (h *Hub) current(hello *wire.Hello) bool {
	return hello.Bundle == h.cfg.BundleHash || hello.Bundle == h.cfg.StoreHash && hello.Bundle != ""
}

// Tabs lists the open tabs of the connected browsers.
func (h *Hub) Tabs() []Tab {
	list := []Tab{}
	for _, b := range h.all() {
		if !b.connected() {
			continue
		}
		owners, acting := h.leases.in(b.id), b.acting()
		for _, t := range b.tabs.Load().list {
			list = append(list, Tab{
				Owner: owners[t.ID], Acting: acting[t.ID],
				ProfileID: b.id, Profile: b.label(), ID: t.ID, WindowID: t.WindowID, URL: t.URL, Title: t.Title,
				Active: t.Active, Focused: t.Focused, Discarded: t.Discarded,
			})
		}
	}
	return list
}

// TabGone reports whether a tab is certainly not there: its browser is connected, has told its tabs, and it is none of
// them.
func (h *Hub) TabGone(profileID string, tabID int) bool {
	b := h.find(profileID)
	return b != nil && h.told(b) && b.tabs.Load().get(tabID) == nil
}

// told reports whether a browser is connected and has told its tabs.
func (h *Hub) told(b *browser) bool {
	var now *conn
	b.peek(func(s *calls) { now = s.conn })
	return now != nil && now.ready.Load()
}

// NoTab reports whether no tab has an id: browsers are connected and have told their tabs, and it is none of them.
func (h *Hub) NoTab(tabID int) bool {
	connected := false
	for _, b := range h.all() {
		if b.tabs.Load().get(tabID) != nil || b.connected() && !h.told(b) {
			return false
		}
		connected = connected || b.connected()
	}
	return connected
}

func (h *Hub) countBrowsers() {
	n := 0
	for _, b := range h.all() {
		if b.connected() {
			n++
		}
	}
	h.cfg.Meter.Browsers(n)
}

const maxNotices = 8

// notice keeps what the extension tells, newest last, each text once.
func (b *browser) notice(n *wire.Notice) {
	told := wire.Notice{Level: n.Level, Message: fault.Sanitize(n.Message)}
	b.update(func(s *calls) {
		kept := s.notices[:0:0]
		for _, old := range s.notices {
			if old.Message != told.Message {
				kept = append(kept, old)
			}
		}
		kept = append(kept, told)
		s.notices = kept[max(0, len(kept)-maxNotices):]
	})
	b.hub.emit(Event{Kind: Noticed, ProfileID: b.id, Profile: b.label(), Message: told.Message})
}

// acting lists the tabs of a browser in which calls run.
func (b *browser) acting() map[int]bool {
	tabs := map[int]bool{}
	b.peek(func(s *calls) {
		for _, f := range s.open {
			tabs[f.tabID] = true
		}
	})
	return tabs
}
