package event

import (
	"slices"
	"time"

	"tabrelay/relay/lib/lock"
)

// Topics are what the side panel shows; each has a path of that name below /api/v1/.
const (
	TopicApprovals   = "approvals"
	TopicPermissions = "permissions"
	TopicPlugins     = "plugins"
	TopicReviews     = "reviews"
	TopicClients     = "clients"
	TopicRunning     = "running"
	TopicAudit       = "audit"
	TopicTabs        = "tabs"
	TopicPaused      = "paused"
	TopicAgents      = "agents"
	TopicAddition    = "addition"
	TopicProfiles    = "profiles"
)

// gatherTime gathers what changes together: one frame for each browser, however much happens.
const gatherTime = 100 * time.Millisecond

// Broadcaster tells side panels that what they show is different now.
type Broadcaster struct {
	tell func(topics []string)

	mu     lock.Mutex
	topics []string
	timer  *time.Timer // runs while something waits to be told
	closed bool
}

// NewBroadcaster makes a broadcaster that has tell tell the panels.
func NewBroadcaster(tell func(topics []string)) *Broadcaster { return &Broadcaster{tell: tell} }

// Changed says that something about these topics is different now. Without a topic only how many questions wait is
// told. It is cheap, and may be called with any lock held.
func (b *Broadcaster) Changed(topics ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, topic := range topics {
		if !slices.Contains(b.topics, topic) {
			b.topics = append(b.topics, topic)
		}
	}
	if b.timer == nil && !b.closed {
		b.timer = time.AfterFunc(gatherTime, func() { b.tell(b.gathered()) })
	}
}

// gathered returns what was gathered, once.
func (b *Broadcaster) gathered() (topics []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	topics, b.topics, b.timer = b.topics, nil, nil
	return topics
}

// Close stops it.
func (b *Broadcaster) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.timer != nil {
		b.timer.Stop()
	}
}

// Notice is something that happened to a connection or a configuration and that a person should see.
type Notice struct {
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind"`
	Profile string    `json:"profile,omitempty"`
	Code    string    `json:"code,omitempty"`
	Message string    `json:"message"`
}

// maxNotices is how many notices are kept.
const maxNotices = 20

// Notices keeps the last notices. The zero value is ready to use.
type Notices struct {
	mu   lock.Mutex
	list []Notice
}

// Add keeps a notice.
func (n *Notices) Add(notice Notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, notice)
	n.list = n.list[max(0, len(n.list)-maxNotices):]
}

// All returns the notices, the last one last.
func (n *Notices) All() []Notice {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]Notice{}, n.list...)
}
