package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
)

var httpURL = text{
	what: "an address such as http://127.0.0.1:11434/v1", pattern: "^https?://[^/?#]+",
	accepts: regexp.MustCompile(`^https?://[^/?#@\s]+(/[^?#\s]*)?$`).MatchString,
}

// optionalChoice also accepts the empty string.
func optionalChoice(k choice) choice { return append(choice{""}, k...) }

// strict decodes an object that may have the members of T only.
func strict[T any](raw []byte) (v T, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var p *T
	if err := d.Decode(&p); err != nil || p == nil {
		return v, errors.New("not such an object")
	}
	return *p, nil
}

// keySource is where a key is. What stands in its place is never repeated: it may be the key.
type keySource struct{}

func (keySource) set(field any, raw []byte) error {
	source, err := strict[KeySource](raw)
	if err != nil {
		return err
	}
	given := 0
	for _, one := range []string{source.Env, source.File, source.Keyring} {
		if one != "" {
			given++
		}
	}
	service, user, paired := strings.Cut(source.Keyring, "/")
	if given > 1 || source.File != "" && !absolute.accepts(source.File) ||
		source.Keyring != "" && (!paired || service == "" || user == "") ||
		source.Env != "" && !isVariable(source.Env) {
		return errors.New("not one place")
	}
	return put[KeySource](field, raw)
}

func (keySource) secret() {}

func (keySource) allowed() string {
	return `{"env": "NAME"}, {"file": "/absolute/path"} or {"keyring": "service/user"}; the key itself does not ` +
		`belong here`
}
func (keySource) env(s string) []byte { return []byte(s) }

func (keySource) schema() map[string]any {
	one := map[string]any{"type": "string"}
	return map[string]any{"type": "object", "additionalProperties": false, "maxProperties": 1,
		"properties": map[string]any{"env": one, "file": one, "keyring": one}}
}

var isVariable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString

// runtimeParams are parameters of requests to a model.
type runtimeParams struct{}

func (runtimeParams) set(field any, raw []byte) error {
	p, err := strict[RuntimeParams](raw)
	if err != nil {
		return err
	}
	within := func(n *float64, most float64) bool { return n == nil || *n >= 0 && *n <= most }
	above := func(n *int) bool { return n == nil || *n > 0 }
	specific := p.ProviderSpecific
	if !within(p.Temperature, 2) || !within(p.TopP, 1) || !above(p.MaxTokens) || !above(p.TopK) ||
		specific != nil && specific[0] != '{' {
		return errors.New("out of bounds")
	}
	return put[RuntimeParams](field, raw)
}

func (runtimeParams) allowed() string {
	return `an object of any of "model", "temperature" (0 to 2), "maxTokens" (above 0), "topP" (0 to 1), "topK" ` +
		`(above 0), "stopSequences" (a list), "systemPrompt", "providerSpecific" (an object)`
}
func (runtimeParams) env(s string) []byte { return []byte(s) }

func (runtimeParams) schema() map[string]any { return RuntimeParamsSchema() }

// RuntimeParamsSchema is the JSON Schema of runtime parameters.
func RuntimeParamsSchema() map[string]any {
	one := func(kind string) map[string]any { return map[string]any{"type": kind} }
	return map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{
		"model": one("string"), "temperature": map[string]any{"type": "number", "minimum": 0, "maximum": 2},
		"maxTokens":     map[string]any{"type": "integer", "minimum": 1},
		"topP":          map[string]any{"type": "number", "minimum": 0, "maximum": 1},
		"topK":          map[string]any{"type": "integer", "minimum": 1},
		"stopSequences": map[string]any{"type": "array", "items": one("string")},
		"systemPrompt":  one("string"), "providerSpecific": one("object"),
	}}
}

// prices are what models cost.
type prices struct{}

func (prices) set(field any, raw []byte) error {
	list, err := strict[map[string]Price](raw)
	if err != nil {
		return err
	}
	for _, p := range list {
		if p.InputPerMillion < 0 || p.OutputPerMillion < 0 || p.CachedPerMillion != nil && *p.CachedPerMillion < 0 {
			return errors.New("a price below 0")
		}
	}
	return put[map[string]Price](field, raw)
}

func (prices) allowed() string {
	return `an object by model of {"inputPerMillion": 2.5, "outputPerMillion": 10, "cachedPerMillion": 1.25}`
}
func (prices) env(s string) []byte { return []byte(s) }

func (prices) schema() map[string]any {
	price := map[string]any{"type": "number", "minimum": 0}
	return map[string]any{"type": "object", "additionalProperties": map[string]any{
		"type": "object", "additionalProperties": false,
		"properties": map[string]any{"inputPerMillion": price, "outputPerMillion": price, "cachedPerMillion": price},
	}}
}

// variables are variables of an environment. Their values are never repeated: they may be keys.
type variables struct{}

func (variables) set(field any, raw []byte) error {
	list, err := strict[map[string]string](raw)
	if err != nil {
		return err
	}
	for name := range list {
		if !isVariable(name) {
			return errors.New("not a name")
		}
	}
	return put[map[string]string](field, raw)
}

func (variables) secret()             {}
func (variables) allowed() string     { return "an object of texts by name of the variable" }
func (variables) env(s string) []byte { return []byte(s) }

func (variables) schema() map[string]any {
	return map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}}
}
