package config

import (
	"encoding/json"
	"errors"
)

// plugins is an object of plugins by name. The reader fills it member by member, so that every fault has its
// line; set only serves the default.
type plugins struct{}

func (plugins) set(field any, raw []byte) error {
	var names map[string]json.RawMessage
	if err := json.Unmarshal(raw, &names); err != nil || len(names) > 0 {
		return errors.New("not the empty default")
	}
	return put[map[string]Plugin](field, raw)
}

func (plugins) allowed() string     { return "an object of plugins by name" }
func (plugins) env(s string) []byte { return []byte(s) }

func (plugins) schema() map[string]any {
	return map[string]any{"type": "object", "additionalProperties": tree(pluginSettings)}
}
