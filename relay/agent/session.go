package agent

import (
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/lock"
)

// Session is one session of a client with an agent. What is not static belongs to [Sessions].
type Session struct {
	ID       string // 32 hexadecimal digits
	AgentID  string
	Asker    call.Session // of the client that created it
	Acts     call.Session // of the calls that the agent makes; Delegation is set
	Metadata Metadata
	Created  time.Time

	Tools Tools // what the agent calls, by Do
	State any   // the agent's own

	mu    lock.Mutex
	turn  *Turn // nil: none is under way
	turns int   // that have begun
	tabs  tabList
	spent Spent
}
