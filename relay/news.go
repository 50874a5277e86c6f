package relay

import (
	"slices"
	"sync"
	"time"
)

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

// newsDelay gathers what changes together: one frame for each browser, however much happens.
const newsDelay = 100 * time.Millisecond

// newsroom gathers topics until they are told.
type newsroom struct {
	mu     sync.Mutex
	topics []string
	timer  *time.Timer // runs while something waits to be told
	closed bool
}

// news says that something about these topics is different now. Without a topic it only tells how many questions
// wait. It is cheap, and may be called with any lock held.
func (r *Relay) news(topics ...string) {
	r.newsroom.gather(topics, func(all []string) { r.hub.TellPanels(all, r.policy.Waiting) })
}

// gather has tell tell these topics soon, together with the others of that time.
func (n *newsroom) gather(topics []string, tell func(all []string)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, topic := range topics {
		if !slices.Contains(n.topics, topic) {
			n.topics = append(n.topics, topic)
		}
	}
	if n.timer == nil && !n.closed {
		n.timer = time.AfterFunc(newsDelay, func() { tell(n.take()) })
	}
}

// take returns what was gathered, once.
func (n *newsroom) take() (topics []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	topics, n.topics, n.timer = n.topics, nil, nil
	return topics
}

// close stops the timer.
func (n *newsroom) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	if n.timer != nil {
		n.timer.Stop()
	}
}
