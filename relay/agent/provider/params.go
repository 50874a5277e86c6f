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
