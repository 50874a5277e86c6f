package hub

import (
	"context"
	"encoding/json"
	"time"
)

// wakeTime is how long a tab that Chrome has unloaded may take to load again.
const wakeTime = 10 * time.Second

// wake loads a tab again that Chrome has unloaded to save memory, in the background: nothing of its page is left that
// this could lose, and a session is not sent to another tab for it. When that does not work, the extension says why the
// call cannot run there.
func (h *Hub) wake(ctx context.Context, t target) target {
	if !t.tab.Discarded {
		return t
	}
	at := tabRef{t.b.id, t.tab.ID}
	id, failed := t.tab.ID, false
	if _, busy := h.waking.LoadOrStore(at, true); !busy { // one reload is enough for all who wait
		defer h.waking.Delete(at)
		id, failed = h.reload(ctx, at)
	}
	if failed {
		return t
	}
	late := time.NewTimer(wakeTime)
	defer late.Stop()
	for {
		news := h.news.watch()
		if tab := t.b.tabs.Load().get(id); tab != nil && !tab.Discarded && tab.Status == "complete" && t.where.rule.Matches(tab.URL) {
			t.tab = tab
			return t
		}
		select {
		case <-news:
		case <-late.C:
			return t
		case <-ctx.Done():
			return t
		}
	}
}

// reload loads a tab, and returns its id, which is another one where Chrome had to replace the tab.
func (h *Hub) reload(ctx context.Context, at tabRef) (id int, failed bool) {
	raw, failure := h.Command(ctx, at.profileID, "tabs.reload", map[string]any{"tabId": at.tabID})
	var renewed struct {
		TabID int `json:"tabId"`
	}
	if failure != nil || json.Unmarshal(raw, &renewed) != nil || renewed.TabID == 0 {
		return at.tabID, failure != nil
	}
	return renewed.TabID, false
}
