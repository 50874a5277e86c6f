package wire

import (
	"encoding/json"

	"tabrelay/relay/road/call"
)

// Kind is the "type" of a frame.
type Kind string

// Frame is one of the frame types below; the set is closed. PROTOCOL.md says who sends which, and when.
type Frame interface {
	Kind() Kind
	check() error // what the schema asks for and Go's types do not
}

// Hello opens a connection: who is dialling.
type Hello struct {
	Protocol  Range   `json:"protocol"`
	Extension string  `json:"extension"`
	Bundle    string  `json:"bundle"`
	Epoch     string  `json:"epoch"`
	Profile   Profile `json:"profile"`
	Chrome    string  `json:"chrome"`
	Nonce     string  `json:"nonce"`
	Managed   bool    `json:"managed,omitempty"` // a policy of the browser installed the extension
	Pair      bool    `json:"pair,omitempty"`
}

// Profile names a browser profile.
type Profile struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// Relay is the relay's answer to Hello.
type Relay struct {
	Protocol int    `json:"protocol"`
	Relay    string `json:"relay"`
	Nonce    string `json:"nonce"`
}

// Proof shows that its sender knows the pairing secret; see Transcript.
type Proof struct {
	Proof string `json:"proof"`
}

// Paired gives the pairing secret, sealed, to an extension that proved a one-time string.
type Paired struct {
	Secret string `json:"secret"`
}

// Welcome says that the connection is established.
type Welcome struct {
	Bundle string `json:"bundle"`
	PingMs int64  `json:"pingMs"`
	Limits Limits `json:"limits"`
	GapMs  int64  `json:"gapMs"`
	// StartMs may be missing: then it is StartTime.
	StartMs int64 `json:"startMs,omitempty"`
	// PageToolsOff says that nobody wants to know which tools pages register.
	PageToolsOff bool `json:"pageToolsOff,omitempty"`
	// Command is what the person types to call the program of the relay; empty where they have none.
	Command string `json:"command"`
}

// Limits are the sizes the relay runs with.
type Limits struct {
	FrameBytes         int `json:"frameBytes"`
	ResultBytes        int `json:"resultBytes"`
	StoredOutcomeBytes int `json:"storedOutcomeBytes"`
}

// Refuse says why the connection is closed next.
type Refuse struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Plugins lists every plugin there is.
type Plugins struct {
	Plugins []Plugin `json:"plugins"`
}

// Plugin is what the extension must know of a plugin to run its tools.
type Plugin struct {
	Name      string   `json:"name"`
	Hash      string   `json:"hash"`
	World     string   `json:"world"`
	Matches   []string `json:"matches"`
	Excludes  []string `json:"excludes"`
	File      string   `json:"file"`
	PreScript string   `json:"preScript,omitempty"`
	Frames    string   `json:"frames,omitempty"`
}

// Tabs lists every tab there is.
type Tabs struct {
	Tabs []Tab `json:"tabs"`
}

// TabUpdate says that a tab was opened or changed.
type TabUpdate struct {
	Tab Tab `json:"tab"`
}

// Tab is one open tab.
type Tab struct {
	ID        int    `json:"id"`
	WindowID  int    `json:"windowId"`
	URL       string `json:"url"`
	Title     string `json:"title"`
	Active    bool   `json:"active"`
	Focused   bool   `json:"focused"`
	Discarded bool   `json:"discarded"`
	Status    string `json:"status"`
	LastUsed  int64  `json:"lastUsed"`
}

// TabClosed says that a tab was closed, or shows a page that is not told.
type TabClosed struct {
	TabID  int `json:"tabId"`
	Became int `json:"became,omitempty"` // the tab's new id; 0: it is gone
}

// Call asks to run a tool. The payload is its arguments.
type Call struct {
	ID           call.ID `json:"id"`
	Plugin       string  `json:"plugin"`
	Tool         string  `json:"tool"`
	TabID        int     `json:"tabId"`
	Origin       string  `json:"origin,omitempty"` // of the document that it is for
	Frames       string  `json:"frames,omitempty"`
	Client       string  `json:"client,omitempty"`
	Write        bool    `json:"write"`
	TimeoutMs    int64   `json:"timeoutMs"`
	MaxTimeoutMs int64   `json:"maxTimeoutMs"`
	call.Order
}

// Started says that the document is about to run the handler.
type Started struct {
	ID         call.ID `json:"id"`
	DocumentID string  `json:"documentId"`
	Origin     string  `json:"origin"`
	Hidden     bool    `json:"hidden,omitempty"`
}

// Progress is one step the handler reported.
type Progress struct {
	ID       call.ID  `json:"id"`
	Progress float64  `json:"progress"`
	Total    *float64 `json:"total,omitempty"`
	Message  string   `json:"message,omitempty"`
	Hidden   bool     `json:"hidden,omitempty"`
}

// Log is one line the handler logged.
type Log struct {
	ID      call.ID         `json:"id"`
	Level   string          `json:"level"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Status is how a call ended.
type Status string

// The three ends of a call.
const (
	Returned Status = "returned" // the handler returned; the payload is its value
	Threw    Status = "threw"    // the handler threw; see Outcome.Error
	Refused  Status = "refused"  // extension or page runtime ended the call; see Outcome.Refusal
)

// Outcome says how a call ended. With status Returned the payload is the value.
type Outcome struct {
	ID          call.ID         `json:"id"`
	Status      Status          `json:"status"`
	Started     bool            `json:"started"`
	Error       json.RawMessage `json:"error,omitempty"`
	Refusal     *Refusal        `json:"refusal,omitempty"`
	Origin      string          `json:"origin,omitempty"`
	Frame       string          `json:"frame,omitempty"`
	Trust       string          `json:"trust,omitempty"`
	ConsoleTail string          `json:"consoleTail,omitempty"`
	DurationMs  int64           `json:"durationMs"`
	Epoch       string          `json:"epoch"`
	Times       []call.StepTime `json:"times,omitempty"`
}

// Refusal is why extension or page runtime ended a call, and whether the action happened.
type Refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	SignIn  string `json:"signIn,omitempty"` // where a person signs in, when that may be what is missing
}

// Why an adapter is not ready, where trying again at once is of no use.
const (
	NotReady = "not_ready" // the plugin was asked for its while, and said no
	Withheld = "withheld"  // the page could read the secret settings
)

// Ack says that outcomes are recorded and may be forgotten.
type Ack struct {
	IDs []call.ID `json:"ids"`
}

// Cancel asks to abort a call, or never to start it.
type Cancel struct {
	ID     call.ID `json:"id"`
	Reason string  `json:"reason"`
}

// Ask asks how far calls got.
type Ask struct {
	Calls []Asked `json:"calls"`
}

// Asked is one call of Ask.
type Asked struct {
	ID    call.ID `json:"id"`
	TabID int     `json:"tabId"`
}

// Progression is how far a call got.
type Progression string

// The four answers to Ask.
const (
	NotStarted Progression = "not_started" // proven, and it never will
	Running    Progression = "running"
	Finished   Progression = "finished" // its outcome follows
	Unsure     Progression = "unknown"
)

// State answers Ask for one call.
type State struct {
	ID     call.ID     `json:"id"`
	State  Progression `json:"state"`
	Epoch  string      `json:"epoch"`
	Reason string      `json:"reason,omitempty"`
}

// Command asks to do something to the browser itself.
type Command struct {
	ID     call.ID         `json:"id"`
	Name   string          `json:"name"`
	Params json.RawMessage `json:"params,omitempty"`
}

// Reply answers Command. A result that may be large is the payload instead.
type Reply struct {
	ID     call.ID         `json:"id"`
	OK     bool            `json:"ok"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *ReplyError     `json:"error,omitempty"`
}

// ReplyError is why a command failed.
type ReplyError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Console says that the console of a tab that was read has grown, or began anew with another document.
type Console struct {
	TabID int `json:"tabId"`
}

// Followed is what a followed call brought besides its outcome: a line of the page's console, or an error that the
// plugin threw outside of its handlers.
type Followed struct {
	ID      call.ID      `json:"id"` // of an error the plugin's latest call in that document
	Plugin  string       `json:"plugin"`
	Tool    string       `json:"tool"`
	What    FollowedKind `json:"kind"`
	Text    string       `json:"text"`
	Places  []string     `json:"places,omitempty"`  // in the plugin's file, from the innermost frame on
	AfterMs *int64       `json:"afterMs,omitempty"` // since that call ended; nil: it had not
}

// FollowedKind is what a followed call brought.
type FollowedKind string

// The kinds.
const (
	ConsoleLine FollowedKind = "console"
	LateError   FollowedKind = "error"
	EarlyError  FollowedKind = "early"     // from before the plugin's first call in the document
	Rejection   FollowedKind = "rejection" // of a promise that nobody awaited
)

// PageTools says which tools the documents of a tab register. The payload is a list of documents.
type PageTools struct {
	TabID int `json:"tabId"`
}

// Ping asks whether the peer is there; Pong answers it.
type (
	Ping struct{}
	Pong struct{}
)

// Notice is something a person should see in the relay's status.
type Notice struct {
	Level   string `json:"level"`
	Message string `json:"message"`
}

// Renamed says that the person has named the profile.
type Renamed struct {
	Label string `json:"label"`
}

// Panels says how many side panels of the profile are open.
type Panels struct {
	Open int `json:"open"`
}

// Request is something the side panel asks of the relay. The payload is its body.
type Request struct {
	ID     string `json:"id"`
	Method string `json:"method"`
	Path   string `json:"path"`
}

// Response answers Request. The payload is the body: one JSON value.
type Response struct {
	ID     string `json:"id"`
	Status int    `json:"status"`
}

// News says that what the side panel shows of these topics is different now.
type News struct {
	Topics  []string `json:"topics"`
	Waiting int      `json:"waiting"` // questions for the person at this profile
}

// Unknown is a frame of a type this version does not know. It is counted and ignored.
type Unknown struct {
	Type string `json:"-"`
}
