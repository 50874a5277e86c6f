package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// DefaultTarget is the target of a permission that names no tool, plugin or origin.
const DefaultTarget = "default"

// EveryClient stands for all clients in a permission.
const EveryClient = "*"

// permissions is an object from targets to a mode, or to modes by client.
type permissions struct{}

var (
	mode           = choice{"off", "ask", "auto"}
	targetPattern  = `^(default|all|\*|https?://[^/?#@\s*]+|[a-z0-9][a-z0-9_-]*)$`
	isTarget       = regexp.MustCompile(targetPattern).MatchString
	defaultAliases = []string{DefaultTarget, "all", "*"}
)

// Target is the one spelling of a permission's target: "default" has aliases. It is false for what is none: neither
// the default, nor an origin, nor anything that could be the name of a tool or a plugin.
func Target(text string) (string, bool) {
	if slices.Contains(defaultAliases, text) {
		return DefaultTarget, true
	}
	return text, isTarget(text)
}

func (permissions) set(field any, raw []byte) error {
	var targets map[string]json.RawMessage
	if err := json.Unmarshal(raw, &targets); err != nil || targets == nil {
		return errors.New("not an object")
	}
	result := map[string]map[string]string{}
	for text, value := range targets {
		target, ok := Target(text)
		if _, twice := result[target]; !ok || twice {
			return fmt.Errorf("%s is no target, or the same as another one", text)
		}
		modes, err := modesByClient(value)
		if err != nil {
			return err
		}
		result[target] = modes
	}
	*field.(*map[string]map[string]string) = result
	return nil
}

// modesByClient reads a bare mode, which is for every client, or an object of modes.
func modesByClient(raw []byte) (map[string]string, error) {
	var one string
	if mode.set(&one, raw) == nil {
		return map[string]string{EveryClient: one}, nil
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil || values == nil {
		return nil, errors.New("neither a mode nor an object of modes")
	}
	modes := map[string]string{}
	for client, value := range values {
		var one string
		if err := mode.set(&one, value); err != nil || client == "" {
			return nil, errors.New("not a mode by client")
		}
		modes[client] = one
	}
	return modes, nil
}

func (permissions) allowed() string {
	return `an object from "default", an origin (https://example.org), a plugin or a tool to "off", "ask" or "auto",` +
		` or to an object of these by client`
}

// env takes a bare mode as the default's.
func (permissions) env(s string) []byte {
	if slices.Contains(mode, s) {
		return []byte(`{"` + DefaultTarget + `":"` + s + `"}`)
	}
	return []byte(s)
}

func (permissions) schema() map[string]any {
	return map[string]any{
		"type": "object", "propertyNames": map[string]any{"pattern": targetPattern},
		"additionalProperties": map[string]any{"anyOf": []any{
			mode.schema(),
			map[string]any{"type": "object", "additionalProperties": mode.schema()},
		}},
	}
}
