package hub

import (
	"slices"

	"tabrelay/relay/wire"
)

// TabNews is that something about a tab changed.
type TabNews struct {
	ProfileID string
	TabID     int  // 0: any tab of the profile, which connected or was lost
	Page      bool // the tab shows another page, loaded it anew, or was closed
	Closed    bool // the tab was closed
	Console   bool // its console has grown; only after it was read
}

// OnTabs makes the hub tell listener what changes about tabs, until stop. It is called in the order in which a
// connection told, and must not block.
func (h *Hub) OnTabs(listener func(TabNews)) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	entry := &listener
	h.tabListeners = append(slices.Clone(h.tabListeners), entry)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.tabListeners = slices.DeleteFunc(slices.Clone(h.tabListeners), func(l *func(TabNews)) bool { return l == entry })
	}
}

func (h *Hub) tabNews(n TabNews) {
	h.mu.Lock()
	listeners := h.tabListeners
	h.mu.Unlock()
	for _, listener := range listeners {
		(*listener)(n)
	}
}

// otherPage reports whether what a tab shows has changed, and not merely which tab a person looks at.
func otherPage(before, now *wire.Tab) bool {
	return before == nil || before.URL != now.URL || before.Title != now.Title || before.Discarded != now.Discarded ||
		before.Status != now.Status
}
