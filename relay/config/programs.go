package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"time"
)

// programs is an object of resource providers by URI scheme.
type programs struct{}

var isScheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]{0,31}$`).MatchString

// ownSchemes are served by the relay itself, whose guards nothing replaces.
var ownSchemes = []string{"tab", "console", "result", "deadletter", "events", "file", "http", "https", "git+https"}

// programForm is one provider as a person writes it.
type programForm struct {
	Command   []string `json:"command"`
	TimeoutMs *int64   `json:"timeoutMs"`
	MaxBytes  *int64   `json:"maxBytes"`
}

const (
	mostProgramTime  = time.Minute
	mostProgramBytes = 20 * mib
)

func (programs) set(field any, raw []byte) error {
	var forms map[string]programForm
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&forms); err != nil || forms == nil {
		return errors.New("not an object of programs")
	}
	result := map[string]Program{}
	for scheme, f := range forms {
		p := Program{Command: f.Command}
		if !isScheme(scheme) || slices.Contains(ownSchemes, scheme) || len(f.Command) == 0 ||
			slices.Contains(f.Command, "") {
			return errors.New("not a scheme of a person's own with a command")
		}
		if ms := f.TimeoutMs; ms != nil {
			if p.Timeout = time.Duration(*ms) * time.Millisecond; *ms < 100 || *ms > mostProgramTime.Milliseconds() {
				return errors.New("timeoutMs out of bounds")
			}
		}
		if n := f.MaxBytes; n != nil {
			if p.MaxBytes = *n; *n < 1 || *n > mostProgramBytes {
				return errors.New("maxBytes out of bounds")
			}
		}
		result[scheme] = p
	}
	*field.(*map[string]Program) = result
	return nil
}

func (programs) allowed() string {
	return `an object by URI scheme (none that the relay serves itself) of {"command": ["program", "argument"], ` +
		`"timeoutMs": 100 to 60000, "maxBytes": 1 to 20971520}`
}

func (programs) env(s string) []byte { return []byte(s) }

func (programs) schema() map[string]any {
	return map[string]any{
		"type": "object", "propertyNames": map[string]any{"pattern": "^[a-z][a-z0-9+.-]{0,31}$",
			"not": map[string]any{"enum": ownSchemes}},
		"additionalProperties": map[string]any{
			"type": "object", "required": []string{"command"}, "additionalProperties": false,
			"properties": map[string]any{
				"command": map[string]any{"type": "array", "minItems": 1, "items": map[string]any{"type": "string",
					"minLength": 1}},
				"timeoutMs": map[string]any{"type": "integer", "minimum": 100,
					"maximum": mostProgramTime.Milliseconds()},
				"maxBytes": map[string]any{"type": "integer", "minimum": 1, "maximum": mostProgramBytes},
			},
		},
	}
}
