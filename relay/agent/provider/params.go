package provider

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

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

// readers has one function for each parameter. What it returns ends the sentence "NAME must be ...".
var readers = map[string]func(p *Params, raw json.RawMessage) (must string){
	"model":        func(p *Params, raw json.RawMessage) string { return text(&p.Model, raw) },
	"systemPrompt": func(p *Params, raw json.RawMessage) string { return text(&p.SystemPrompt, raw) },
	"temperature":  func(p *Params, raw json.RawMessage) string { return number(&p.Temperature, raw, 2) },
	"topP":         func(p *Params, raw json.RawMessage) string { return number(&p.TopP, raw, 1) },
	"maxTokens":    func(p *Params, raw json.RawMessage) string { return count(&p.MaxTokens, raw) },
	"topK":         func(p *Params, raw json.RawMessage) string { return count(&p.TopK, raw) },
	"stopSequences": func(p *Params, raw json.RawMessage) string {
		var list []*string
		if json.Unmarshal(raw, &list) != nil || list == nil || slices.Contains(list, nil) {
			return "a list of texts"
		}
		p.StopSequences = make([]string, len(list))
		for i, item := range list {
			p.StopSequences[i] = *item
		}
		return ""
	},
	"providerSpecific": func(p *Params, raw json.RawMessage) string {
		if membersOf(raw) == nil {
			return "an object"
		}
		p.ProviderSpecific = slices.Clone(raw)
		return ""
	},
}

// ReadParams reads runtime parameters and refuses what is none. Its errors are sentences about the first that is
// wrong.
func ReadParams(raw json.RawMessage) (p Params, err error) {
	members := membersOf(raw)
	if members == nil {
		return p, fmt.Errorf("runtimeParams must be an object")
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		read, known := readers[name]
		if !known {
			return Params{}, fmt.Errorf("runtimeParams has no %q; it takes %s", name,
				strings.Join(slices.Sorted(maps.Keys(readers)), ", "))
		}
		if must := read(&p, members[name]); must != "" {
			return Params{}, fmt.Errorf("runtimeParams.%s must be %s", name, must)
		}
	}
	return p, nil
}

// membersOf are those of an object, nil for anything else.
func membersOf(raw json.RawMessage) (members map[string]json.RawMessage) {
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members
}

func text(to **string, raw json.RawMessage) string {
	if json.Unmarshal(raw, to) != nil || *to == nil {
		return "a text"
	}
	return ""
}

func number(to **float64, raw json.RawMessage, most float64) string {
	if json.Unmarshal(raw, to) != nil || *to == nil || **to < 0 || **to > most {
		return fmt.Sprintf("a number from 0 to %g", most)
	}
	return ""
}

// count reads a whole number however it is written: 1e3 is one. The bound keeps it exact, and is above every model's.
func count(to **int, raw json.RawMessage) string {
	var value *float64
	if json.Unmarshal(raw, &value) != nil || value == nil || *value <= 0 || *value > math.MaxInt32 ||
		*value != math.Trunc(*value) {
		return "a whole number above 0"
	}
	whole := int(*value)
	*to = &whole
	return ""
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
