// Package engine runs an agent's script in a process of its own, which has no files, no network and nothing of the
// relay's memory: all that it can do is ask the relay, over two pipes, for calls of tools. Whoever starts the process
// decides about each of them.
package engine

import (
	"encoding/json"
	"time"
)

// Start is what the process is told first.
type Start struct {
	Script string        `json:"script"`
	CPU    time.Duration `json:"cpu"`   // how long the engine may be busy
	Value  int           `json:"value"` // bytes of what the script may return
	Line   int           `json:"line"`  // bytes of one line of its log
}

// Go is what it is told once the script may run.
type Go struct {
	Args    json.RawMessage `json:"args"`
	Tools   []Tool          `json:"tools"`
	Objects []string        `json:"objects"` // of all tools that there are, for who names none of them
}

// Tool is a tool as a script has it: tools.<object>.<method>, or browser.<method>.
type Tool struct {
	Name   string `json:"name"` // full
	Object string `json:"object"`
	Method string `json:"method"`
	// First is the argument that a text in place of arguments is for; empty: it takes none.
	First string `json:"first,omitempty"`
	Alias bool   `json:"alias,omitempty"` // another spelling of one that is there
}

// Told is one message to the process. One member is set.
type Told struct {
	Start *Start `json:"start,omitempty"`
	Go    *Go    `json:"go,omitempty"`
	Ended *Ended `json:"ended,omitempty"`
}

// Ended is how a call ended, or that a pause is over.
type Ended struct {
	Number int             `json:"number"`
	Value  json.RawMessage `json:"value,omitempty"`
	Failed json.RawMessage `json:"failed,omitempty"` // the members of a ToolError; nil: it has not failed
}

// Said is one message of the process. One member is set; in the first, which says that it is ready, none is.
type Said struct {
	Uses  *Uses   `json:"uses,omitempty"`
	Call  *Call   `json:"call,omitempty"`
	Sleep *Sleep  `json:"sleep,omitempty"`
	Log   *string `json:"log,omitempty"`
	End   *End    `json:"end,omitempty"`
}

// Uses is what can be seen of a script before it runs: the tools that its text names. It is no promise.
type Uses struct {
	Tools []Used `json:"tools,omitempty"`
	Other bool   `json:"other,omitempty"` // it also names tools in ways that only running shows
}

// Used is a tool as the script's text names it.
type Used struct {
	Object string `json:"object"`
	Method string `json:"method"`
}

// Place is where in the script something is, from 1 on; zero: not known.
type Place struct {
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// Call is a call that the script makes.
type Call struct {
	Number    int             `json:"number"`
	Tool      string          `json:"tool"` // full name
	Arguments json.RawMessage `json:"arguments"`
	At        Place           `json:"at"`
}

// Sleep is a pause that the script makes.
type Sleep struct {
	Number int   `json:"number"`
	Ms     int64 `json:"ms"`
}

// End is the last message: how the script ended.
type End struct {
	Value  json.RawMessage `json:"value,omitempty"` // nil: undefined
	Failed *Failed         `json:"failed,omitempty"`
}

// Why a script ended without a value.
const (
	Unreadable = "unreadable" // it is no program
	Threw      = "threw"
	Busy       = "busy"    // it used up its time of the processor
	Stuck      = "stuck"   // it waits for something that never comes
	Deep       = "deep"    // it recurses without an end
	NoValue    = "noValue" // what it returned has no JSON form
	TooLarge   = "tooLarge"
)

// Failed is why a script ended without a value. All words in it may be a page's.
type Failed struct {
	Why     string `json:"why"`
	Message string `json:"message"`
	At      Place  `json:"at"`
	Bytes   int    `json:"bytes,omitempty"` // of a value that is too large

	// Of a ToolError that was thrown.
	Tool         string `json:"tool,omitempty"`
	Code         string `json:"code,omitempty"`
	Category     string `json:"category,omitempty"`
	Retryable    bool   `json:"retryable,omitempty"`
	RetryAfterMs *int64 `json:"retryAfterMs,omitempty"`
	Outcome      string `json:"outcome,omitempty"`
}
