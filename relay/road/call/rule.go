package call

import (
	"encoding/json"
	"time"
)

// Rule is a permission that a person set.
type Rule struct {
	Target  string    // a tool, a plugin, an origin, or "default"
	Client  string    // empty: every client
	Mode    Mode      //
	Until   time.Time // zero: for ever
	Created time.Time //
	By      string    // "panel", "terminal"
}

// Shown is what a person sees of a call's arguments. Each of the Characters of the names and values that were sent is
// in Lines, or counted in Hidden or in Secret.
type Shown struct {
	Lines      []Line `json:"lines"`
	Summary    string `json:"summary"`    // how much there is, in one line
	Arguments  int    `json:"arguments"`  // how many there are
	Characters int    `json:"characters"` // of all names and values
	Hidden     int    `json:"hidden"`     // of these, left out because there are too many
	Secret     int    `json:"secret"`     // of these, values of fields with secret names
}

// Line is a name and a value, or only the name of what is in the lines below it.
type Line struct {
	Depth     int     `json:"depth"`
	Continues bool    `json:"continues,omitempty"` // it goes on with the last line of the part before
	Pieces    []Piece `json:"pieces"`
}

// Piece is a stretch of text with its author.
type Piece struct {
	Kind PieceKind `json:"kind"`
	Text string    `json:"text"`
}

// PieceKind says who wrote a piece.
type PieceKind string

// The kinds.
const (
	PieceName  PieceKind = "name"  // an agent's, or the tool's: the name of an argument
	PieceValue PieceKind = "value" // an agent's
	PieceNote  PieceKind = "note"  // the relay's
)

// Part is one page of all arguments of a call, for a person who reads them in full.
type Part struct {
	Lines []Line `json:"lines"`
	Next  int    `json:"next,omitempty"` // where the next part begins; 0: this is the last one
}

// Decision is a person's answer to a pending approval.
type Decision struct {
	Allow  bool
	For    string // of an allowed one: "once", "session", "always", or how long, such as "1h"; empty: what was asked
	By     string // "panel", "terminal" or "client"
	Digest string // of the change that was read, where the answer is about a change that may be another one by now
}

// Approval is a call that waits for the person.
type Approval struct {
	ID     string    `json:"id"`
	CallID ID        `json:"callId"`
	Asked  time.Time `json:"asked"`
	Until  time.Time `json:"until"`

	Client      string `json:"client"`
	Called      string `json:"called,omitempty"`  // what a client without a name calls itself
	Doubt       string `json:"doubt,omitempty"`   // why it is not to be taken for that
	Agent       string `json:"agent,omitempty"`   // the agent that calls for the client
	Machine     string `json:"machine,omitempty"` // in words, where the client is on another one; empty: on this one
	Via         string `json:"via"`
	Session     string `json:"session"`
	Tool        string `json:"tool"`  // full name
	Title       string `json:"title"` // for people; may be empty
	Plugin      string `json:"plugin"`
	PluginTitle string `json:"pluginTitle"`
	Risk        string `json:"risk"` // reads, changes or destroys

	ProfileID string `json:"profileId"` // empty where no tab is concerned, like the next five
	Profile   string `json:"profile"`
	TabID     int    `json:"tabId"`
	Origin    string `json:"origin"`
	Within    string `json:"within,omitempty"` // origin of the tab's page, where Origin is that of a frame in it
	URL       string `json:"url"`
	TabTitle  string `json:"tabTitle"` // words of the page

	// Arguments are without the values of secret fields, and left out where Shown hides some of them; Shown is the same
	// for a person to read, with what is hidden counted.
	Arguments     json.RawMessage `json:"arguments,omitempty"`
	Shown         Shown           `json:"shown"`
	ArgumentsHash string          `json:"argumentsHash"` // SHA-256 of what will be sent
	Changes       string          `json:"changes"`       // what will be different afterwards, as far as the tool says
	Note          string          `json:"note,omitempty"`
	Reason        string          `json:"reason,omitempty"`    // why the agent needs it: its own words
	Sentence      string          `json:"sentence"`            // the question in one line
	Lead          string          `json:"lead,omitempty"`      // the same without what it lists, which is in Deeds
	Deeds         []string        `json:"deeds,omitempty"`     // what an act will do, a sentence for each thing
	Elsewhere     string          `json:"elsewhere,omitempty"` // other sites that a form is sent to
	Effects       []string        `json:"effects,omitempty"`   // of an act, what weighs more than a change
	Brief         string          `json:"brief,omitempty"`     // what an act will do and where, for a notification
	Covers        string          `json:"covers,omitempty"`    // what an answer for the session allows
	Choices       []string        `json:"choices"`             // for how long it can be allowed; the first is asked
	Managed       string          `json:"managed,omitempty"`   // why it cannot be allowed always: the policy asks
	First         bool            `json:"first"`               // of this client since the relay started

	// Nobody answered in time; until Until it can be allowed for the next time, and whether that was done.
	Missed      bool `json:"missed,omitempty"`
	AllowedNext bool `json:"allowedNext,omitempty"`
}

// Difference is one thing that a change would change.
type Difference struct {
	What   string `json:"what"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// UnreadableHint is the next step of a call that was stopped at a page which the configuration keeps from agents.
const UnreadableHint = "Do not look for a way around it. The configuration keeps pages from agents with " +
	"`tabs.urlPatterns` and `tabs.excludePatterns`; `tabrelay config show tabs` says what they are and who set them."
