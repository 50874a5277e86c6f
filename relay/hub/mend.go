package hub

import (
	"context"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
)

// Recover has a browser do something about what made a call fail: reload the tab, put the plugin's adapter into its page
// again, or open the web app in a new tab, in the background. The page that is reloaded loses what it has not saved.
func (h *Hub) Recover(ctx context.Context, action string, at call.Target, r call.Invocation) *fault.Error {
	switch action {
	case "reload_tab":
		return h.order(ctx, at.ProfileID, "tabs.reload", map[string]any{"tabId": at.TabID})
	case "reinject_adapter":
		return h.order(ctx, at.ProfileID, "adapter.inject", map[string]any{"tabId": at.TabID, "plugin": r.Plugin})
	case "open_url":
		if r.OpenURL == "" {
			return fault.New(fault.ConfigError, "The plugin "+r.Plugin+" does not say where its web app is")
		}
		return h.order(ctx, h.meant(at, r), "tabs.create", map[string]any{"url": r.OpenURL, "active": false})
	}
	return fault.New(fault.ConfigError, "There is no recovery called "+action)
}

// meant is the profile that a call was for: the one it was routed to, else the one it names, else its session's.
func (h *Hub) meant(at call.Target, r call.Invocation) string {
	if at.ProfileID != "" {
		return at.ProfileID
	}
	if last, ok := h.lastTabs.recall(&r.Selector); ok && r.Profile == "" {
		return last.profileID
	}
	return r.Profile
}

func (h *Hub) order(ctx context.Context, profile, command string, params any) *fault.Error {
	_, failure := h.Command(ctx, profile, command, params)
	return failure
}
