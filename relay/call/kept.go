package call

import (
	"encoding/json"
	"time"
)

// StoredResult is what a tool returned, kept whole because an agent got only a part of it, or none.
type StoredResult struct {
	ID       string  // 128 random bits as 32 lower-case hexadecimal digits; who knows it may read the result
	CallID   ID      // of the call that returned it
	Session  Session // of the caller
	Tool     string
	Created  time.Time
	MIMEType string // "application/json", or "text/plain" for what is not JSON
	Data     []byte // nil in listings
	Size     int64  // bytes of Data
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
