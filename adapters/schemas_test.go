package adapters

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"tabrelay/relay/road/plugin"
)

// property is what is looked at in a schema, of the whole or of one of its properties.
type property struct {
	Type                 any                 `json:"type"`
	Description          string              `json:"description"`
	Default              any                 `json:"default"`
	Maximum              *float64            `json:"maximum"`
	MaxItems             *int                `json:"maxItems"`
	Items                *property           `json:"items"`
	Properties           map[string]property `json:"properties"`
	Required             []string            `json:"required"`
	AdditionalProperties any                 `json:"additionalProperties"`
}

// texts are the arguments by which a tool bounds a text, as limit bounds a list.
var texts = []string{"maxChars", "maxBytes"}

func TestArgumentsAreDescribed(t *testing.T) {
	eachAdapter(t, func(t *testing.T, m plugin.Manifest) {
		for _, tool := range m.Tools {
			full := m.Name + "__" + tool.Name
			input := read(t, full, tool.InputSchema)
			if input.Type != "object" || input.AdditionalProperties != false {
				t.Errorf("%s: the input schema needs additionalProperties: false, so that a misspelt argument is not "+
					"ignored", full)
			}
			for name, p := range input.Properties {
				if p.Description == "" {
					t.Errorf("%s: the argument %s needs a description", full, name)
				}
			}
			checkBound(t, full, "limit", input, maxDefaultLimit)
			for _, name := range texts {
				checkBound(t, full, name, input, maxDefaultText)
			}
		}
	})
}

// checkBound wants a default and a maximum: an agent that does not ask gets little, and one that asks has an end.
func checkBound(t *testing.T, tool, name string, input property, atMost float64) {
	t.Helper()
	p, has := input.Properties[name]
	if !has {
		return
	}
	number, ok := p.Default.(float64)
	if !ok || number > atMost || p.Maximum == nil {
		t.Errorf("%s: %s needs a default of at most %v, and a maximum", tool, name, atMost)
	}
}

func TestAnswersAreDescribedAndSmall(t *testing.T) {
	eachAdapter(t, func(t *testing.T, m plugin.Manifest) {
		for _, tool := range m.Tools {
			full := m.Name + "__" + tool.Name
			if len(tool.OutputSchema) == 0 {
				t.Errorf("%s: needs an output schema, so that the agent gets data and knows what is in it", full)
				continue
			}
			output := read(t, full, tool.OutputSchema)
			if output.Type != "object" || len(output.Properties) == 0 {
				t.Errorf("%s: the output schema is an object with properties", full)
			}
			for _, name := range output.Required {
				if _, has := output.Properties[name]; !has {
					t.Errorf("%s: the output requires %s and does not describe it", full, name)
				}
			}
			_, limited := read(t, full, tool.InputSchema).Properties["limit"]
			for _, name := range slices.Sorted(maps.Keys(output.Properties)) {
				p := output.Properties[name]
				if p.Type == "array" && p.Items == nil {
					t.Errorf("%s: the items of %s are not described", full, name)
				}
				if p.Type == "array" && p.MaxItems == nil && !limited {
					t.Errorf("%s: nothing bounds the list %s: take a limit, or say maxItems", full, name)
				}
			}
		}
	})
}

func read(t *testing.T, tool string, raw json.RawMessage) (p property) {
	t.Helper()
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return p
}
