package plugin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Setting is one setting of a plugin: an entry of its configSchema.
type Setting struct {
	Type        string          `json:"type"` // url, string, number, boolean or select
	Label       string          `json:"label"`
	Description string          `json:"description"`
	Placeholder string          `json:"placeholder"`
	Required    bool            `json:"required"`
	Options     []string        `json:"options"` // of a select
	Default     json.RawMessage `json:"default"` // nil when there is none
	Secret      *bool           `json:"secret"`  // withheld from pages that could read it; nil: a string is
}

// IsSecret reports whether a value of the setting is withheld from pages that ran scripts before the plugin was
// injected.
func (s Setting) IsSecret() bool {
	if s.Secret == nil {
		return s.Type == "string"
	}
	return *s.Secret
}

// Settings reads a configSchema.
func Settings(configSchema json.RawMessage) (map[string]Setting, error) {
	var declared map[string]Setting
	if len(configSchema) == 0 {
		return nil, nil
	}
	err := json.Unmarshal(configSchema, &declared)
	return declared, err
}

// URLSetting is the name of the first setting with the address of the web app; empty when there is none.
func URLSetting(configSchema json.RawMessage) string {
	declared, _ := Settings(configSchema)
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if declared[name].Type == "url" {
			return name
		}
	}
	return ""
}

// CheckSettings returns everything wrong with a configSchema.
func CheckSettings(configSchema json.RawMessage) (problems []string) {
	declared, err := Settings(configSchema)
	if err != nil {
		return []string{`"configSchema" has to be an object of settings, each like {"type": "string", "label": "…"}`}
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if slices.Contains([]string{"__proto__", "constructor", "prototype"}, name) {
			problems = append(problems,
				fmt.Sprintf("setting %q has a name that programs take for something other than a value; choose another",
					name))
		}
		switch s := declared[name]; s.Type {
		case "url", "string", "number", "boolean":
		case "select":
			if len(s.Options) == 0 {
				problems = append(problems, fmt.Sprintf(`setting %q has the type select and no "options"`, name))
			}
		default:
			problems = append(problems,
				fmt.Sprintf("setting %q has the type %q; write url, string, number, boolean or select", name, s.Type))
		}
	}
	return problems
}
