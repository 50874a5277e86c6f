// Package call has the types of a tool call that several packages share. It has no behaviour.
package call

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"tabrelay/relay/lib/lazyregexp"
)

// ID names one attempt of a call; the first attempt has the call's own. It has 32 lower-case hexadecimal digits, of
// NewID or derived from a request on stdio, and is the same on the wire, in the journal, in the logs, in the audit log
// and in the page's console. Agents see the call's as correlationId.
type ID string

// NewID makes the id of a call: the millisecond in which it was made, and 80 random bits, so that nobody guesses it.
// Calls that follow each other are beside each other in the indexes of the database, and share pages there.
func NewID() ID {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(time.Now().UnixMilli())<<16)
	_, _ = rand.Read(b[6:]) // never fails since Go 1.24
	return ID(hex.EncodeToString(b[:]))
}

// Position is the position of a call in the order in which its client made its calls; 0: it has none.
type Position uint64

// Session identifies who makes a call.
type Session struct {
	ID      string // one attachment of one client; grants, tab affinity and ownership belong to it
	Client  string // the client's name, for example "claude-code"; "cli" for the command line
	Via     string // ViaStdio, ViaHTTP, ViaSocket or ViaPanel
	Scope   Scope  // what the client may see and call at the most
	Remote  bool   // the client is on another machine
	Machine string // that machine: what it calls itself, which nothing proves, and its address; empty: not known
	Called  string // of an [Unnamed] client: what it calls itself, which nothing proves
	Guest   bool   // the person is asked about everything that no rule lets this very client do

	Bounds *Bounds // an agent makes the calls for the client, within these; nil: the client itself makes them
}

// How a request comes.
const (
	ViaStdio  = "stdio" // of an agent, through a stdio proxy
	ViaHTTP   = "http"  // of an agent, with its token
	ViaSocket = "cli"   // of the command line
	ViaPanel  = "panel" // of the extension's side panel
)

// Unnamed is the name of the clients of this machine that have neither a token nor a name.
const Unnamed = "stdio"

// NamedSession is between the ID of a session and the name of one inside it, which a caller or the relay has given it.
const NamedSession = "/session:"

// SessionName is the form of such a name.
var SessionName = lazyregexp.New(`^[A-Za-z0-9._-]{1,64}$`)

// Call is one tool call as a front received it.
type Call struct {
	ID        ID
	Session   Session
	Tool      string          // full name, <plugin>__<tool>
	Arguments json.RawMessage // a JSON object exactly as the caller sent it; empty means {}
	Timeout   time.Duration   // asked for by the caller; 0 means the tool's own or the default
	Progress  func(Progress)  // may be nil; never called concurrently, never after Do returned
	// Step is called with each step of the call and when it happened, to measure the call; same rules as Progress. name
	// is one of a few, what says it of this call.
	Step   func(at time.Time, name, what string)
	Log    func(LogEntry) // may be nil; same rules as Progress
	Resume bool           // the caller may have sent this call before, under the same ID, to an earlier relay

	Reason string // why the agent needs it, in its own words, for the person who is asked; may be empty

	// What the caller wants of a large result; see package result.
	MaxBytes  int    // size of the answer, in bytes; 0 means the configured one
	ArrayPath string // the list to shorten, such as .data.items; empty means the tool's own or the largest

	Structured bool // the caller wants structured content even where the answer is text in lines

	Trace    Trace    // in which its client makes it; none: that of the context, if it has one
	Position Position // in the order of its client, where that was reserved
	Script   ID       // the call of the script that makes this one; empty: none does
	ReplayOf ID       // the dead letter this call repeats; empty: none

	// Confirm is called once the call's tab is known and the policy allows it; it may ask the person itself. asked
	// reports whether the policy asked them already, with Note as part of the question. Its error is a *fault.Error.
	// Both may be left out. Consent: the person has allowed this very call before it was made, so that the policy does
	// not ask again.
	Confirm func(ctx context.Context, asked bool) error
	Note    string
	Consent bool

	// Paused is called when the call begins to wait for a person, and resume when it has their answer. Built-in tools
	// get a Paused that stops the clock of their call; they call it for what they ask themselves. May be nil.
	Paused func() (resume func())

	// Asking is told what the person is asked about the call, again now and then while they are, and that they have
	// allowed it; same rules as Progress, which hears it where this is nil.
	Asking func(message string)

	// Ask asks the person behind the client and waits for the answer, or for ctx. It is nil when the client cannot ask.
	// It must not be called after Do returned. Its error says that there is no answer: ctx ended, or the client failed.
	Ask func(ctx context.Context, q Question) (Answer, error)
}

// Progress is one step a running tool reported.
type Progress struct {
	Progress float64
	Total    *float64 // nil when the tool does not know
	Message  string
}

// LogEntry is one line a running tool logged.
type LogEntry struct {
	Level   string // "debug", "info", "warning" or "error"
	Message string
	Data    json.RawMessage // may be nil
}

// Result is what a call that succeeded answers.
type Result struct {
	Output     json.RawMessage // the tool's value, compact JSON
	Structured bool            // Output fits the output schema, or the caller asked for structuredContent
	Note       json.RawMessage // added to structuredContent as NoteMember; nil: none
	Content    []Content       // when set, sent in place of Output as text (images, resource links)
	Warnings   []string        // what was repaired, truncated or ignored; one sentence each
	Meta       Meta
}

// NoteMember is the member of structuredContent in which the relay says how it shortened a result: many clients show
// their model nothing but structuredContent.
const NoteMember = "_tabrelay"

// Content is one MCP content block already encoded as JSON.
type Content = json.RawMessage

// Meta says where and how a call ran.
type Meta struct {
	CorrelationID ID
	TabID         int    // 0 when no tab was involved
	Profile       string // the browser profile's label; empty when none was involved
	ProfileID     string // tells profiles with the same label apart
	Origin        string // of the document the tool ran in
	Frame         string // URL of the frame, when not the top one
	Trust         string // "late" when a main-world adapter was injected after page scripts ran; else empty
	Attempts      int
	Duration      time.Duration
	ResultID      string // of the whole, when the answer is a part of it; see StoredResult
	Untrusted     bool   // it contains text of a page or of another source that is not trusted
}

// State is how far a journalled call got.
type State string

// The states of a journalled call. Dispatched and Recovering are open; the others are final.
const (
	Dispatched  State = "dispatched"   // its frame may have left the relay
	Recovering  State = "recovering"   // the relay restarted, or the link was lost, while it was dispatched
	NotExecuted State = "not_executed" // proven: the handler never started
	Executed    State = "executed"     // the handler ran to its end: returned or threw
	Unknown     State = "unknown"      // started or sent, and no end was seen
)

// Record is a journalled call: every writing call has one before its frame leaves the relay.
type Record struct {
	ID         ID
	Session    Session
	Tool       string
	ProfileID  string // browser profile it was sent to
	TabID      int
	Epoch      string // of the extension worker it was sent to
	Dispatched time.Time
	State      State
	Resolved   time.Time       // zero while open
	Output     json.RawMessage // of an executed call that returned, at most 64 KiB; else nil
	Failure    json.RawMessage // the fault, as JSON, of a call that failed; else nil
}

// ErrCancelled is the cause of a call's context after its client cancelled it.
// A deadline or a lost connection has another cause.
var ErrCancelled = errors.New("cancelled by the client")

// ErrAnswered is the cause of the context in which a client asks, once its answer does not matter any more: the person
// has answered elsewhere, or the time is over. The client may still have to come back before the call can go on.
var ErrAnswered = errors.New("the question is not open any more")

// Question is what a running call asks the person behind its client (MCP elicitation, form mode).
type Question struct {
	Message string
	Schema  json.RawMessage // of the answer: a flat JSON Schema object, as MCP elicitation has it
}

// Answer is what the person said.
type Answer struct {
	Action  string          // "accept", "decline" or "cancel"
	Content json.RawMessage // an object, only with "accept"
}

// Bounds limit a session in which an agent acts for a client. Whatever they do not limit is as for the session of that
// client.
type Bounds struct {
	By      string // the capability that set them, and carries out the session's calls
	Agent   string // id of the agent
	Session string // id of the agent session, as sessions_create answers it
	Asker   string // ID of the session that asked the agent

	Tools    []string // names of tools and plugins that it may use; empty: those that the asker may
	Tabs     []string // ids of tabs and URL match patterns of pages that it may work in; empty: as the asker
	ReadOnly bool     // only tools that read

	Color string // of the groups of its tabs, and in the side panel: one of [Colors]
}

// Colors are Chrome's for tab groups, without grey: that is what groups of people have who choose none.
// https://developer.chrome.com/docs/extensions/reference/api/tabGroups#type-Color
var Colors = [...]string{"blue", "red", "yellow", "green", "pink", "purple", "cyan", "orange"}
