// Package fault is the failure contract: one value describes every failure, whoever raised it, and one table
// gives each code its category, source, class and number. Identity is the string code; numbers are derived
// from it and never compared.
package fault

//go:generate go run ../../generate

import (
	"encoding/json"
	"fmt"
)

// Category is what kind of trouble an agent is in: the six of the SDK's ToolError.
type Category string

// The six categories.
const (
	Auth       Category = "auth"
	RateLimit  Category = "rate_limit"
	NotFound   Category = "not_found"
	Validation Category = "validation"
	Internal   Category = "internal"
	Timeout    Category = "timeout"
)

// Source is which part of the system failed.
type Source string

// The seven sources.
const (
	SourceConfig    Source = "CONFIG"
	SourceAuth      Source = "AUTH"
	SourceUpstream  Source = "UPSTREAM"
	SourceTransport Source = "TRANSPORT"
	SourceTimeout   Source = "TIMEOUT"
	SourceInternal  Source = "INTERNAL"
	SourceProtocol  Source = "PROTOCOL"
)

// Class is what the relay itself may do about a failure.
type Class string

// The four classes.
const (
	Transient Class = "transient" // the same call may succeed later
	Protocol  Class = "protocol"  // the request was wrong
	Tool      Class = "tool"      // the tool answered with a failure
	Fatal     Class = "fatal"     // our own link cannot go on
)

// Outcome says whether the action happened. It is the truth a retry depends on.
type Outcome string

// The three outcomes.
const (
	NotExecuted Outcome = "not_executed" // the handler never started
	Executed    Outcome = "executed"     // it ran to its end, returned or threw; the action may be partial
	Unknown     Outcome = "unknown"      // it started, or may have, and its end was not seen
)

// Error is one failure. Create relay failures with New and page failures with FromPage.
// Its JSON form is what travels in _meta["tabrelay/error"].
type Error struct {
	Code     Code     `json:"code"`
	Category Category `json:"category,omitempty"`
	Source   Source   `json:"source"`
	Class    Class    `json:"class"`
	Type     Type     `json:"type,omitempty"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"` // what to do next; lines separated by \n
	// the tool's own advice after a timeout, shown in place of the hint
	Suggestion   string  `json:"suggestion,omitempty"`
	Retryable    bool    `json:"retryable"`
	RetryAfterMs *int64  `json:"retryAfterMs,omitempty"`
	Outcome      Outcome `json:"outcome,omitempty"`

	Attempts      int    `json:"attempts,omitempty"`
	CorrelationID string `json:"correlationId,omitempty"`
	SessionID     string `json:"sessionId,omitempty"`
	SessionValid  *bool  `json:"sessionValid,omitempty"`
	ProviderID    string `json:"providerId,omitempty"`
	TabID         int    `json:"tabId,omitempty"`
	Profile       string `json:"profile,omitempty"`
	Origin        string `json:"origin,omitempty"` // of the page that threw it

	Reason                 Reason `json:"reason,omitempty"`
	TimeoutMs              int64  `json:"timeoutMs,omitempty"`
	MaxTimeoutMs           int64  `json:"maxTimeoutMs,omitempty"`
	TimeoutSecs            int64  `json:"timeoutSecs,omitempty"`
	MaxTimeoutSecs         int64  `json:"maxTimeoutSecs,omitempty"`
	ProgressExtendsTimeout *bool  `json:"progressExtendsTimeout,omitempty"`

	// ConsoleTail is the end of what the page wrote to its console during the call, redacted.
	ConsoleTail string `json:"consoleTail,omitempty"`

	// TraceLine is where in the adapter the error was thrown: URL path, line and column. Only with errors.trace on.
	TraceLine string `json:"traceLine,omitempty"`
	// Places are where in its plugin's file the error came from, from the innermost frame on, in the form of TraceLine.
	// They are for whoever works on the plugin, and for no client.
	Places []string `json:"-"`

	Location string `json:"location,omitempty"` // where a resource is now, with type redirect

	RPCCode int             `json:"rpcCode"`
	Data    json.RawMessage `json:"data,omitempty"` // other facts

	// Before is what had been done by then, in lines: a text of its own. Facts is Data without that, for the second.
	Before string          `json:"-"`
	Facts  json.RawMessage `json:"-"`

	// Warnings is what was repaired or ignored on the way to this failure; one sentence each.
	Warnings []string `json:"warnings,omitempty"`

	FromPage bool `json:"fromPage,omitempty"` // thrown by a page: rendered with ToolError's four fields only

	Untrusted bool `json:"-"` // words of a page are in it, although the relay itself failed

	AlreadyWaited bool `json:"-"` // the relay waited for what was missing, and does not try again on its own

	Err error `json:"-"` // the cause, for logs; never rendered
}

// Reason is which clock of a timeout ran out.
type Reason string

// The three reasons of a TIMEOUT.
const (
	Fixed       Reason = "fixed"
	Idle        Reason = "idle"
	MaxExceeded Reason = "max_exceeded"
)

// Error implements error: code and message, for logs.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Ours reports whether the relay itself or the extension failed with that code. The code of a page is a word for the
// agent, and nothing is done about it here.
func (e *Error) Ours(code Code) bool { return e != nil && !e.FromPage && e.Code == code }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is a fault with the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}
