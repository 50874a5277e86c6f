package agent

import (
	"time"

	"tabrelay/relay/call"
)

// Session is one session of a client with an agent. What is not static belongs to [Sessions].
type Session struct {
	ID       string // 32 hexadecimal digits
	AgentID  string
	Asker    call.Session // of the client that created it
	Acts     call.Session // of the calls that the agent makes; Delegation is set
	Metadata Metadata
	Created  time.Time

	State any // the agent's own
}
