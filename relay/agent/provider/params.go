package provider

import "encoding/json"

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
