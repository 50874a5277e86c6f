package relay

// Topics are what the side panel shows; each has a path of that name below /api/v1/.
const (
	topicApprovals   = "approvals"
	topicPermissions = "permissions"
	topicPlugins     = "plugins"
	topicReviews     = "reviews"
	topicClients     = "clients"
	topicRunning     = "running"
	topicAudit       = "audit"
	topicTabs        = "tabs"
	topicPaused      = "paused"
)

// news says that something about these topics is different now. It is cheap, and may be called with any lock held.
func (r *Relay) news(topics ...string) {
	_ = topics // until panels listen
}
