package agentconfig

import (
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/state/config"
)

var httpURL = config.Text{
	What: "an address such as http://127.0.0.1:11434/v1", Pattern: "^https?://[^/?#]+",
	Accepts: lazyregexp.New(`^https?://[^/?#@\s]+(/[^?#\s]*)?$`).MatchString,
}

var anyString = map[string]any{"type": "string"}

// runtimeParams are parameters of requests to a model.
var runtimeParams = config.KindOf(`an object of any of "model", "temperature" (0 to 2), "maxTokens" (above 0), `+
	`"topP" (0 to 1), "topK" (above 0), "stopSequences" (a list), "systemPrompt", "providerSpecific" (an object)`,
	ParamsSchema(), func(p provider.Params) bool {
		within := func(n *float64, most float64) bool { return n == nil || *n >= 0 && *n <= most }
		above := func(n *int) bool { return n == nil || *n > 0 }
		return within(p.Temperature, 2) && within(p.TopP, 1) && above(p.MaxTokens) && above(p.TopK) &&
			(p.ProviderSpecific == nil || p.ProviderSpecific[0] == '{')
	})

// ParamsSchema is the JSON Schema of runtime parameters.
func ParamsSchema() map[string]any {
	number := func(most float64) map[string]any {
		return map[string]any{"type": "number", "minimum": 0, "maximum": most}
	}
	above := map[string]any{"type": "integer", "minimum": 1}
	return config.Closed(map[string]any{
		"model": anyString, "temperature": number(2), "maxTokens": above, "topP": number(1), "topK": above,
		"stopSequences": map[string]any{"type": "array", "items": anyString},
		"systemPrompt":  anyString, "providerSpecific": map[string]any{"type": "object"},
	})
}

// prices are what models cost.
var prices = func() config.Kind {
	price := map[string]any{"type": "number", "minimum": 0}
	return config.KindOf(`an object by model of {"inputPerMillion": 2.5, "outputPerMillion": 10, `+
		`"cachedPerMillion": 1.25}`,
		map[string]any{"type": "object", "additionalProperties": config.Closed(map[string]any{
			"inputPerMillion": price, "outputPerMillion": price, "cachedPerMillion": price})},
		func(list map[string]Price) bool {
			for _, p := range list {
				if p.InputPerMillion < 0 || p.OutputPerMillion < 0 ||
					p.CachedPerMillion != nil && *p.CachedPerMillion < 0 {
					return false
				}
			}
			return true
		})
}()
