package call

import (
	"encoding/json"
	"time"
)

// Rule is a permission that a person gave or took.
type Rule struct {
	Target  string    // a tool, a plugin, an origin, or "default"
	Client  string    // empty: every client
	Mode    Mode      //
	Until   time.Time // zero: for ever
	Created time.Time //
	By      string    // "panel", "terminal"
}

// Decision is what a person says about one call.
type Decision struct {
	Allow bool
	For   string // of an allowed one: "once", "session", "always", or how long, such as "1h"
	By    string // "panel", "terminal" or "client"
}

// Approval is a question that waits for the person: whether a call may run.
type Approval struct {
	ID     string    `json:"id"`
	CallID ID        `json:"callId"`
	Asked  time.Time `json:"asked"`
	Until  time.Time `json:"until"`

	Client      string `json:"client"`
	Called      string `json:"called,omitempty"` // what a client without a name calls itself
	Via         string `json:"via"`
	Lane        string `json:"lane"`
	Tool        string `json:"tool"`  // full name
	Title       string `json:"title"` // for people; may be empty
	Plugin      string `json:"plugin"`
	PluginTitle string `json:"pluginTitle"`
	Risk        string `json:"risk"` // reads, changes or destroys

	ProfileID string `json:"profileId"` // empty where no tab is concerned, like the next five
	Profile   string `json:"profile"`
	TabID     int    `json:"tabId"`
	Origin    string `json:"origin"`
	URL       string `json:"url"`
	TabTitle  string `json:"tabTitle"` // words of the page

	Arguments     json.RawMessage `json:"arguments"`     // without credentials; a string that ends in … where they are long
	ArgumentsHash string          `json:"argumentsHash"` // SHA-256 of what will be sent
	Changes       string          `json:"changes"`       // what will be different afterwards, as far as the tool says
	Note          string          `json:"note,omitempty"`
	Choices       []string        `json:"choices"` // for how long it can be allowed: of once, session and always
	First         bool            `json:"first"`   // this client was not asked about before since the relay started
}
