// Package delegation lets clients delegate: a client hands an errand to an agent that the person configured, and gets
// back the answer only. A delegated agent is one more caller of tools: its calls go the way of its client's, with a
// session of their own that may use less, and never the tools of delegation again.
//
// An [Agent] is a model of a provider (package provider, with the tool loop of this package) or a program (package
// worker). The eight tools by which clients delegate open a [Session] with one, prompt it and close it.
//
// # Words
//
//   - delegation: that an agent carries out an errand for a client.
//   - agent session: one conversation of a client with an agent. Its turn is one prompt until its end; action is one
//     call of a tool that the agent makes in it; budget is what a turn may take.
//   - provider: who serves the models that agents think with. Worker: a program that acts as an agent.
package delegation

import (
	"context"
	"time"

	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// Agent is one configured agent. Its methods may be called concurrently, but those about one session are not.
type Agent interface {
	// Info describes the agent as it is now.
	Info() Info
	// Open prepares a session; without that the session does not begin.
	Open(ctx context.Context, s *Session) *fault.Error
	// Prompt carries an errand out and returns when the agent has answered. When ctx ends it stops what it began
	// within half a second, and answers what is known.
	Prompt(ctx context.Context, s *Session, p Prompt) (Answer, *fault.Error)
	// Close ends a session that was opened. It must not block for long.
	Close(s *Session, why Reason)
}

// Info is an agent as agents_discover shows it.
type Info struct {
	ID           string         `json:"id"`
	Capabilities []string       `json:"capabilities"`
	Status       Status         `json:"status"`
	Providers    []ProviderInfo `json:"providers,omitempty"`
	unusable     []string       // ids of providers that cannot be used now
	Trouble      string         `json:"trouble,omitempty"` // why it is unavailable, and what to do; for the person
}

// ProviderInfo is a provider that an agent can use.
type ProviderInfo struct {
	ID     string   `json:"id"`
	Models []string `json:"models"`
}

// Status is whether an agent can take a session now.
type Status string

// The states of an agent.
const (
	Ready       Status = "ready"
	Busy        Status = "busy"        // it has as many sessions as it may
	Unavailable Status = "unavailable" // something is missing: a key, a program
)

// Reason is why a session ends.
type Reason string

// The reasons for which a session ends.
const (
	Completed     Reason = "task-complete"
	Failed        Reason = "task-failed"
	Expired       Reason = "expired"
	Closed        Reason = "closed"         // by its client
	Stopped       Reason = "cancelled"      // by the person
	ClientLeft    Reason = "client-left"    // the client's session ended
	RelayStopping Reason = "relay-stopping" //
)

// Prompt is one errand, or a further turn of it.
type Prompt struct {
	Text     string
	Images   []provider.Image
	Deadline time.Time           // of the whole turn
	Params   provider.Params     // of this turn only
	Tell     func(call.Progress) // hears of each action; nil: nobody does
	Keep     bool                // what is said is written down for a transcript

	// Ask asks the person behind the client, as Ask of [call.Call] does; nil when the client cannot ask.
	Ask func(ctx context.Context, q call.Question) (call.Answer, error)
}

// Answer is what an agent says at the end of a turn.
type Answer struct {
	Text       string
	Images     []provider.Image // the text has the mark of each
	StopReason string
	RequestID  string
	Usage      *provider.Usage // nil: not known
}

// StopReasons of this package's own, besides those of package provider.
const (
	StopCancelled  = "cancelled"
	StopBudget     = "budget_exceeded"
	StopNeedsInput = "needs_input" // the agent asks its caller something
)

// Action is one call of a tool that an agent made, in the order in which they began.
type Action struct {
	ID      call.ID       `json:"id"`
	Tool    string        `json:"tool"`
	OK      bool          `json:"ok"`
	Code    fault.Code    `json:"code,omitempty"` // of one that failed
	Outcome fault.Outcome `json:"outcome"`        // executed, not_executed or unknown
	Writes  bool          `json:"writes"`         // it is a tool that may change something
	TabID   int           `json:"tabId,omitempty"`
	Ms      int64         `json:"ms"`
}

// Metadata is what a client says of a session when it creates one: metadata of sessions_create and tasks_delegate.
type Metadata struct {
	Provider      string          `json:"provider,omitempty"`
	RuntimeParams provider.Params `json:"runtimeParams"`
	Tools         []string        `json:"tools,omitempty"`
	Tabs          []string        `json:"tabs,omitempty"` // ids, as numbers or texts, and URL match patterns
	ReadOnly      bool            `json:"readOnly,omitempty"`
	Budget        Budget          `json:"budget"`
}

// Budget is what one turn may take; 0: what is configured.
type Budget struct {
	MaxTurns     int   `json:"maxTurns,omitempty"`
	MaxToolCalls int   `json:"maxToolCalls,omitempty"`
	MaxTokens    int   `json:"maxTokens,omitempty"`
	MaxMs        int64 `json:"maxMs,omitempty"`
}
