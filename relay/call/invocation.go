package call

import (
	"encoding/json"
	"time"
)

// Invocation is one attempt of a call: what a browser gets of it.
type Invocation struct {
	ID               ID
	Session          Session
	Plugin           string
	Hash             string   // of the plugin's files
	Tool             string   // without the plugin's name
	Matches          []string // URL patterns of the pages the plugin may run in
	Excludes         []string
	TabID            int    // 0: any tab of the site
	Profile          string // id or label; empty: any
	Arguments        json.RawMessage
	Settings         json.RawMessage
	Write            bool
	Timeout          time.Duration // of the page, without progress
	MaxTimeout       time.Duration // of the page, with any progress
	ProgressExtends  bool
	MaxResultBytes   int
	ConsoleTailBytes int    // 0: no console tail
	Frames           string // "top" or "all"; empty means "top"

	// Progress and Log are never called concurrently, and never after the attempt ended. Any of these may be nil.
	Progress func(Progress)
	Log      func(LogEntry)
	Started  func() // the page has started the tool; must not block

	OpenURL string // where the web app can be opened, for hints
}

// ToolName is the tool's full name.
func (i *Invocation) ToolName() string { return i.Plugin + "__" + i.Tool }

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
