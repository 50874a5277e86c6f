package call

import (
	"encoding/json"
	"errors"
	"time"
)

// StoredResult is what a tool returned, kept whole because an agent got only a part of it, or none.
type StoredResult struct {
	ID       string  // 128 random bits as 32 lower-case hexadecimal digits
	CallID   ID      // of the call that returned it
	Session  Session // of the caller, whose client alone may read it
	Tool     string
	Created  time.Time
	MIMEType string // "application/json", or "text/plain" for what is not JSON
	Data     []byte // nil in listings
	Size     int64  // bytes of Data
}

// Owner is whose kept results and dead letters somebody may see.
type Owner struct {
	Client  string // empty: those of all
	Session string // and of those only the ones of this session, and of the sessions within it; empty: of all
}

// DeadLetter is a call whose end nobody saw, or that was tried as often as is allowed and failed.
type DeadLetter struct {
	ID        ID // of the call
	Session   Session
	Tool      string
	Created   time.Time
	TabID     int             // 0 when no tab was involved
	Profile   string          // the browser profile's label; empty when none was involved
	Arguments json.RawMessage // redacted
	Redacted  bool            // something of the arguments was left out, so they cannot be sent again
	Deeds     string          // what it was to do, and to what, as far as that is known; in sentences
	Attempts  int
	Outcome   State           // not_executed, executed or unknown, as the caller was told
	Failure   json.RawMessage // the fault, as JSON

	Resolved    time.Time       // when the true end was learned; zero: it was not
	LateOutcome State           // that end
	LateOutput  json.RawMessage // of a tool that returned, at most 64 KiB; else nil
	LateFailure json.RawMessage // of a tool that failed; else nil

	ReplayOf ID // the dead letter this call repeated; empty: none
	Replayed ID // the last call that repeated this one; empty: none
}

// Profile is a browser profile that was connected once.
type Profile struct {
	ID    string
	Label string
	Seen  time.Time // connected last
}

// LastTab is where a session worked last with one plugin, as one relay keeps it for the next.
type LastTab struct {
	Session   string
	Plugin    string
	ProfileID string
	Profile   string
	TabID     int
	Site      string // origin of the page; its whole address is nobody's business
	Used      time.Time
}

// Task is a call that its client does not wait for: it asks how far the call is, and takes the result when there is
// one.
type Task struct {
	ID      string // 128 random bits as 32 lower-case hexadecimal digits
	Owner   string // who may ask for it, see package front
	CallID  ID
	Tool    string
	State   TaskState
	Created time.Time
	Updated time.Time
	Expires time.Time       // when it is forgotten
	Message string          // how far it is, or how it ended
	Steps   []string        // what it has said of itself, the last hundred at the most
	Result  json.RawMessage // what MCP has for how it ended: a result, or an error of JSON-RPC; nil before
}

// TaskState is how far a task is.
type TaskState string

// The states of a task. All but the first are final.
const (
	TaskWorking   TaskState = "working"
	TaskCompleted TaskState = "completed" // the call has a result, which may be that of a failure
	TaskFailed    TaskState = "failed"    // the call ended in an error of the protocol
	TaskCancelled TaskState = "cancelled" // by its client
	TaskLost      TaskState = "lost"      // the relay ended while it ran
)

// ErrTooManyTasks is the error for a task of a client that has as many as are kept.
var ErrTooManyTasks = errors.New("the client has as many tasks as are kept")
