package config

import (
	"regexp"
	"strings"
)

var httpURL = text{
	what: "an address such as http://127.0.0.1:11434/v1", pattern: "^https?://[^/?#]+",
	accepts: regexp.MustCompile(`^https?://[^/?#@\s]+(/[^?#\s]*)?$`).MatchString,
}

var anyString = map[string]any{"type": "string"}

// closed is the schema of an object that may have these members only.
func closed(properties map[string]any) map[string]any {
	return map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
}

// keySource is where a key is. What stands in its place may be the key.
var keySource = func() kind {
	schema := closed(map[string]any{"env": anyString, "file": anyString, "keyring": anyString})
	schema["maxProperties"] = 1
	k := of(`{"env": "NAME"}, {"file": "/absolute/path"} or {"keyring": "service/user"}; the key itself does not `+
		`belong here`, schema, KeySource.valid)
	k.secret = true
	return k
}()

// valid reports whether at most one place is named, as it should be.
func (s KeySource) valid() bool {
	given := 0
	for _, one := range []string{s.Env, s.File, s.Keyring} {
		if one != "" {
			given++
		}
	}
	service, user, paired := strings.Cut(s.Keyring, "/")
	return given <= 1 && (s.File == "" || absolute.valid(s.File)) && (s.Env == "" || isVariable(s.Env)) &&
		(s.Keyring == "" || paired && service != "" && user != "")
}

// secretVariables are variables of an environment whose values are elsewhere.
var secretVariables = func() kind {
	k := of(`an object by name of the variable of {"env": "NAME"}, {"file": "/absolute/path"} or `+
		`{"keyring": "service/user"}`,
		map[string]any{"type": "object", "additionalProperties": keySource.schema},
		func(list map[string]KeySource) bool {
			for name, at := range list {
				if !isVariable(name) || !at.valid() || at == (KeySource{}) {
					return false
				}
			}
			return true
		})
	k.secret = true
	return k
}()

var isVariable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString

// runtimeParams are parameters of requests to a model.
var runtimeParams = of(`an object of any of "model", "temperature" (0 to 2), "maxTokens" (above 0), "topP" (0 to 1), `+
	`"topK" (above 0), "stopSequences" (a list), "systemPrompt", "providerSpecific" (an object)`,
	RuntimeParamsSchema(), func(p RuntimeParams) bool {
		within := func(n *float64, most float64) bool { return n == nil || *n >= 0 && *n <= most }
		above := func(n *int) bool { return n == nil || *n > 0 }
		return within(p.Temperature, 2) && within(p.TopP, 1) && above(p.MaxTokens) && above(p.TopK) &&
			(p.ProviderSpecific == nil || p.ProviderSpecific[0] == '{')
	})

// RuntimeParamsSchema is the JSON Schema of runtime parameters.
func RuntimeParamsSchema() map[string]any {
	number := func(most float64) map[string]any {
		return map[string]any{"type": "number", "minimum": 0, "maximum": most}
	}
	above := map[string]any{"type": "integer", "minimum": 1}
	return closed(map[string]any{
		"model": anyString, "temperature": number(2), "maxTokens": above, "topP": number(1), "topK": above,
		"stopSequences": map[string]any{"type": "array", "items": anyString},
		"systemPrompt":  anyString, "providerSpecific": map[string]any{"type": "object"},
	})
}

// prices are what models cost.
var prices = func() kind {
	price := map[string]any{"type": "number", "minimum": 0}
	return of(`an object by model of {"inputPerMillion": 2.5, "outputPerMillion": 10, "cachedPerMillion": 1.25}`,
		map[string]any{"type": "object", "additionalProperties": closed(map[string]any{
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

// variables are variables of an environment. Their values may be keys.
var variables = func() kind {
	k := of("an object of texts by name of the variable",
		map[string]any{"type": "object", "additionalProperties": anyString},
		func(list map[string]string) bool {
			for name := range list {
				if !isVariable(name) {
					return false
				}
			}
			return true
		})
	k.secret = true
	return k
}()
