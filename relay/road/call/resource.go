package call

import (
	"encoding/json"
	"time"
)

// Resource is something an agent can read by its URI.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
	Size        *int64 `json:"size,omitempty"` // bytes, when known without reading it
}

// ResourceTemplate is a family of resources: a URI template of RFC 6570.
type ResourceTemplate struct {
	URITemplate string `json:"uriTemplate"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

// ResourceContents is what a resource holds: either text, or bytes.
type ResourceContents struct {
	URI      string
	MIMEType string
	Text     string
	Blob     []byte          // when not nil, in place of Text; sent as base64
	Meta     json.RawMessage // an object for _meta, for example where it came from; may be nil
	Fresh    time.Duration   // how long it is sure to stay as it is; 0: it may change at any moment
}

// Prompt is a recipe that a person can pick in their client.
type Prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Arguments   []PromptArgument `json:"arguments,omitempty"`
}

// PromptArgument is one value a recipe needs.
type PromptArgument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// PromptMessage is one message of a rendered recipe.
type PromptMessage struct {
	Role    string  `json:"role"` // "user" or "assistant"
	Content Content `json:"content"`
}

// RenderedPrompt is a recipe with its arguments filled in.
type RenderedPrompt struct {
	Description string          `json:"description,omitempty"`
	Messages    []PromptMessage `json:"messages"`
}

// Completion offers values for an argument: at most 100, those that begin with what was typed.
type Completion struct {
	Values  []string `json:"values"`
	Total   int      `json:"total"`
	HasMore bool     `json:"hasMore"`
}
