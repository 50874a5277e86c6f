// Package provider asks models of AI providers for the next message of a conversation. One request to a provider is
// one HTTP request: whether to try again is for the caller to decide.
package provider

import (
	"context"
	"encoding/json"

	"tabrelay/relay/capability/delegation/picture"
	"tabrelay/relay/road/fault"
)

// Provider is one configured provider. Its methods may be called concurrently.
type Provider interface {
	// Complete returns the model's next message. When ctx ends, the stream is closed and the failure says so. Failures
	// have ProviderID, a code of the table in package fault, and RetryAfterMs where the provider said one. The cause of
	// ctx is the failure when it is one. With a failure, the Usage is what is known to have been taken until then.
	Complete(ctx context.Context, r Request) (Completion, *fault.Error)
}

// Request is a conversation that a model is to continue.
type Request struct {
	System   string
	Messages []Message
	Tools    []Tool
	Params   Params       // Model is set
	Text     func(string) // hears the pieces of the text as they come; nil: nobody does. It must not block.
}

// Role is whose message one is.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one message of a conversation: a text with pictures and, of the assistant, the tools that it calls; of the
// user, what these answered.
type Message struct {
	Role    Role         `json:"role"`
	Text    string       `json:"text,omitempty"`
	Images  []Image      `json:"images,omitempty"`
	Calls   []ToolCall   `json:"calls,omitempty"`
	Results []ToolResult `json:"results,omitempty"`

	// Provider is what a provider wants back unchanged with its own message, such as signatures of its reasoning.
	// Nobody else reads it.
	Provider json.RawMessage `json:"provider,omitempty"`
}

// Tool is one tool as a model sees it.
type Tool struct {
	Name        string
	Description string
	InputSchema json.RawMessage
}

// ToolCall is a call that a model wants to be made.
type ToolCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // as the model wrote them: maybe no JSON
}

// ToolResult is the answer to a ToolCall, as the model reads it.
type ToolResult struct {
	ID     string  `json:"id"` // of the call
	Name   string  `json:"name"`
	Text   string  `json:"text"`
	Failed bool    `json:"failed,omitempty"`
	Images []Image `json:"images,omitempty"`
}

// Image is a picture that a tool answered with, or that belongs to a message.
type Image = picture.Picture

// Why a model ended its message. Other words of a provider are passed on as they are.
const (
	EndTurn       = "end_turn"
	MaxTokens     = "max_tokens"
	ContentFilter = "content_filter"
	ToolUse       = "tool_use"
	StopSequence  = "stop_sequence"
	UnknownStop   = "unknown"
)

// Completion is what a model answered.
type Completion struct {
	Message    Message
	StopReason string
	RequestID  string // the provider's, empty when it gave none
	Model      string // that answered
	Usage      Usage
}

// Usage is how many tokens a request took. Cached ones are among the InputTokens.
type Usage struct {
	InputTokens  int `json:"inputTokens"`
	OutputTokens int `json:"outputTokens"`
	CachedTokens int `json:"cachedTokens,omitempty"`
}

// Params are the runtime parameters of a request: those of mcp-agentic's runtimeParams. Nil means not given.
type Params struct {
	Model            *string         `json:"model,omitempty"`
	Temperature      *float64        `json:"temperature,omitempty"` // 0 to 2
	MaxTokens        *int            `json:"maxTokens,omitempty"`   // above 0
	TopP             *float64        `json:"topP,omitempty"`        // 0 to 1
	TopK             *int            `json:"topK,omitempty"`        // above 0
	StopSequences    []string        `json:"stopSequences,omitempty"`
	SystemPrompt     *string         `json:"systemPrompt,omitempty"`
	ProviderSpecific json.RawMessage `json:"providerSpecific,omitempty"` // an object
}

// membersOf are those of an object, nil for anything else.
func membersOf(raw json.RawMessage) (members map[string]json.RawMessage) {
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members
}

// Merge lays parameters over each other, the most important first: prompt, session, agent, provider. Each parameter is
// that of the first who gives it; of providerSpecific, each member is.
func Merge(layers ...Params) (p Params) {
	specific := map[string]json.RawMessage{}
	for _, l := range layers {
		first(&p.Model, l.Model)
		first(&p.Temperature, l.Temperature)
		first(&p.MaxTokens, l.MaxTokens)
		first(&p.TopP, l.TopP)
		first(&p.TopK, l.TopK)
		first(&p.SystemPrompt, l.SystemPrompt)
		if p.StopSequences == nil {
			p.StopSequences = l.StopSequences
		}
		for name, value := range membersOf(l.ProviderSpecific) {
			if _, given := specific[name]; !given {
				specific[name] = value
			}
		}
	}
	if len(specific) > 0 {
		p.ProviderSpecific, _ = json.Marshal(specific) // of members that were JSON
	}
	return p
}

func first[T any](to **T, value *T) {
	if *to == nil {
		*to = value
	}
}
