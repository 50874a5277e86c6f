package call

import "encoding/json"

// Mode is the permission of a rule.
type Mode string

// The modes of a rule.
const (
	Off  Mode = "off"  // it is not listed and does not run
	Ask  Mode = "ask"  // it runs after a person allowed it
	Auto Mode = "auto" // it runs
)

// Verdict is what the policy decides about a call.
type Verdict struct {
	Mode Mode
	Why  string // the end of a sentence that begins with "because"
	Ask  bool   // a person has to say whether it may run
}

// Scope is what one client may see and call at the most, whatever the rules say. The zero value bounds nothing.
type Scope struct {
	Toolset  string `json:"toolset,omitempty"` // as in `tabrelay mcp --toolset`; empty: what the client asks for
	Plugins  string `json:"plugins,omitempty"` // names, separated by commas; empty: all
	ReadOnly bool   `json:"readOnly,omitempty"`
}

// Binding is what one approval is for: a call of a tool with these arguments by one session, in the document of one
// origin in one tab. Where more than one call is approved, it is for every tool of a plugin's content that can do as
// much: then ArgumentsHash and TabID are empty, and so is Tool, unless a rule singles that tool out.
type Binding struct {
	Session       string // its ID
	Tool          string // full name
	Plugin        string // only where more than one call is approved, like the next two
	PluginHash    string // of its content
	Risk          string // how much the tools can do: reads or changes
	ArgumentsHash string // SHA-256, hexadecimal
	Targets       string // SHA-256 of what an act is done to, as the person was shown it; empty: they were not
	ProfileID     string // empty where no tab is concerned, like the next two
	TabID         int
	Origin        string
}

// Access is a call as the policy sees it.
type Access struct {
	ID          ID
	Session     Session
	Tool        string // full name
	Title       string // for people
	Description string // by the tool's author
	Plugin      string // name; "relay" for a tool of the relay itself
	PluginTitle string // for people
	Hash        string // of the plugin's content; empty for a tool of the relay itself
	ReadOnly    bool
	Destructive bool // it says that it can delete or overwrite
	Additive    bool // it says that it deletes and overwrites nothing
	Idempotent  bool
	BuiltIn     bool            // of the relay itself
	Shipped     bool            // of a plugin in the binary
	OfPage      bool            // a page has registered it: nobody has reviewed what it does
	Arguments   json.RawMessage // they fit the tool's schema
	Recorded    json.RawMessage // as they may be written down before the call has ended; nil: as they are
	At          *Target         // nil: the tool needs no tab, or the tab is not known yet
	Opens       string          // the address that the call loads; At.Origin is of that then; empty: it names none
	Note        string          // one more sentence for the person who is asked; may be empty
	Reason      string          // why the agent needs it, in its own words; may be empty
	Once        bool            // it can be allowed this time only: no rule is about it
	Asks        bool            // this call needs a permission although its tool is one that needs none
	Deeds       Deeds           // what an act will do; zero: not known
	Approved    Binding         // of the approval that a person gave to this very call; zero: none yet
}
