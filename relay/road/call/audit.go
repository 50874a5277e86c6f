package call

import (
	"encoding/json"
	"time"
)

// Entry is one line of the audit log: a call that ended, or a decision of a person.
type Entry struct {
	At        time.Time
	Kind      EntryKind
	Session   Session
	Tool      string // full name; empty when no tool is concerned
	Plugin    string
	ProfileID string
	Profile   string // its label
	TabID     int
	Origin    string
	Arguments json.RawMessage // the whole; only a hash and a redacted preview are kept
	Decision  string          // what was decided, and by which rule: "auto: mediawiki", "allowed for the session"
	DecidedBy string          // "rule", "panel", "terminal", "client" (through elicitation) or "relay"
	Outcome   string          // of a call: returned, or what is known of a failure: not_executed, executed, unknown
	Code      string          // of the failure
	Duration  time.Duration
	CallID    ID
	Detail    string // one sentence
}

// EntryKind says what an entry is about.
type EntryKind string

// The kinds of entries.
const (
	EntryCall     EntryKind = "call"
	EntryDecision EntryKind = "decision" // a person answered, or did not, whether a call may run
	EntryRule     EntryKind = "rule"     // a permission was changed
	EntryReview   EntryKind = "review"   // of a plugin
	EntryClient   EntryKind = "client"   // added, rotated, revoked, or its scope changed
	EntrySwitch   EntryKind = "switch"   // everything was stopped, or goes on
	EntryTab      EntryKind = "tab"      // a tab was taken from its owner
	EntryWidening EntryKind = "widening" // agents may do more: who asked for it, and who allowed it or did not
)
