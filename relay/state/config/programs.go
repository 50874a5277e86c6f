package config

import (
	"regexp"
	"slices"
	"time"
)

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
	mostProgramBytes = 20 * MiB
)

// programs is an object of resource providers by URI scheme.
var programs = Kind{
	accepts: `an object by URI scheme (none that the relay serves itself) of {"command": ["program", "argument"], ` +
		`"timeoutMs": 100 to 60000, "maxBytes": 1 to 20971520}`,
	schema: map[string]any{
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
	},
	set: func(field any, raw []byte) bool {
		forms, ok := decode[map[string]programForm](raw)
		if !ok {
			return false
		}
		result := map[string]Program{}
		for scheme, f := range forms {
			p := Program{Command: f.Command}
			if !isScheme(scheme) || slices.Contains(ownSchemes, scheme) || len(f.Command) == 0 ||
				slices.Contains(f.Command, "") {
				return false
			}
			if ms := f.TimeoutMs; ms != nil {
				if p.Timeout = time.Duration(*ms) * time.Millisecond; *ms < 100 ||
					*ms > mostProgramTime.Milliseconds() {
					return false
				}
			}
			if n := f.MaxBytes; n != nil {
				if p.MaxBytes = *n; *n < 1 || *n > mostProgramBytes {
					return false
				}
			}
			result[scheme] = p
		}
		*field.(*map[string]Program) = result
		return true
	},
}
