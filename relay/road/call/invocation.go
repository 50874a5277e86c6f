package call

import (
	"encoding/json"
	"time"
)

// Selector says which tabs an attempt of a call may go to.
type Selector struct {
	ID       ID // of the attempt
	Session  Session
	Plugin   string
	Matches  []string // URL patterns of the pages the plugin may run in
	Excludes []string
	TabID    int    // 0: any tab of the site
	Frames   string // "all": a frame of the tab's page will do, too; "top" or empty: only the page itself
	InFront  bool   // without TabID: the tab that the session used last, or the one the person looks at, and no other
	Refers   bool   // the arguments name elements as this session was told them: not those of the tab in front
	Avoid    []int  // tabs to leave out while there are others; only with Profile, and without TabID
	Profile  string // id or label; empty: any
	Stay     Target // the tab chosen before the attempt waited: chosen again if it still shows the site; zero: none
	Write    bool
	PageTool string // which tool of the page the tab has to offer; empty: none
	OpenURL  string // where the web app can be opened, for hints

	// Hides reports whether a site is off for the call, so that failures do not name its tabs; nil: none is.
	Hides func(origin string) bool
}

// Target is where a call is about to run: one tab of one browser profile, and the document in it.
type Target struct {
	ProfileID string
	Profile   string // its label
	TabID     int
	Origin    string // of the document in the tab, or of the one in a frame there that the call is for
	Within    string // origin of the tab's page, where Origin is that of a frame; else empty
	URL       string // of the same, as the browser told it last
	Title     string // of the tab: words of the page
	Others    int    // how many other tabs of the same site that profile has
}

// Order has the members of the call frame that dispatch sets and the hub passes on unchanged.
type Order struct {
	CorrelationID    ID              `json:"correlationId,omitempty"` // of the call, where ID is a later attempt's own
	Hash             string          `json:"hash"`                    // of the plugin's files
	Title            string          `json:"title,omitempty"`         // what people call the tool
	Viewer           string          `json:"viewer,omitempty"`        // session hash: tells readers of a page apart
	Settings         json.RawMessage `json:"settings,omitempty"`
	Secret           bool            `json:"secret,omitempty"` // Settings has a secret, which the page must not read
	ProgressExtends  bool            `json:"progressExtends"`
	ProgressPattern  string          `json:"progressPattern,omitempty"` // RE2; lines of the console
	MaxResultBytes   int             `json:"maxResultBytes"`
	MaxBytes         int             `json:"maxBytes,omitempty"` // a result up to it reaches the caller whole
	ConsoleTailBytes int             `json:"consoleTailBytes"`   // 0: no console tail
	Trace            bool            `json:"trace,omitempty"`    // failures name their place in the adapter
	Timed            bool            `json:"timed,omitempty"`    // the outcome says when its steps happened
	Follow           bool            `json:"follow,omitempty"`   // report console and uncaught errors, too
	Sites            *Sites          `json:"sites,omitempty"`    // whose documents it may touch; nil: its target
}

// Invocation is one attempt of a call, on its way from dispatch to a browser.
type Invocation struct {
	Selector
	Order
	Adapter, Entry string // names that the extension is sent in place of Plugin and Tool; empty: these
	Tool           string // without the plugin's name
	Arguments      json.RawMessage
	Timeout        time.Duration // in the page, restarted by progress where Order.ProgressExtends
	MaxTimeout     time.Duration // in the page, whatever progress it reports

	// Progress, Log and Timed are never called concurrently, and never after the attempt ended. Any of these may be
	// nil.
	Progress func(Progress)
	Log      func(LogEntry)
	Timed    func(Timing) // called with an outcome that says when its steps happened
	Started  func()       // the page has started the tool; must not block
	Hidden   func()       // the page says that it is not in front, where Chrome slows its timers; must not block
}

// Reply is what a tool returned, and where it ran.
type Reply struct {
	Output      json.RawMessage // as the page sent it; nobody has checked that it is JSON
	TabID       int
	ProfileID   string
	Profile     string
	Origin      string
	Frame       string
	Trust       string
	ConsoleTail string
	DurationMs  int64
}
