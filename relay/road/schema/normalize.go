package schema

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Keywords by what they hold. Everything else (enum, const, default, examples …) is data and stays as it is.
var (
	holdsSchema = []string{
		"additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
		"propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
	}
	holdsList = []string{"allOf", "anyOf", "items", "oneOf", "prefixItems"}
	holdsMap  = []string{"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)

// normalize prepares a decoded schema: it names the draft where it is not named, because the library takes formats
// for assertions or not depending on that, and drops the patterns that RE2 has no equal for.
func normalize(root any) {
	if m, ok := root.(map[string]any); ok && m["$schema"] == nil {
		m["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	}
	dropPatterns(root)
}

// A Pattern stands somewhere in a schema.
type Pattern struct{ Path, Text string }

// Unchecked returns the patterns of a schema that Compile leaves out of the check, because RE2 cannot compile them.
func Unchecked(raw json.RawMessage) []Pattern {
	var root any
	if json.Unmarshal(raw, &root) != nil {
		return nil
	}
	var found []Pattern
	walk(root, []string{"schema"}, func(path []string, m map[string]any) {
		at := strings.Join(path, ".")
		if pattern, ok := m["pattern"].(string); ok && !compiles(pattern) {
			found = append(found, Pattern{at + ".pattern", pattern})
		}
		patterns, _ := m["patternProperties"].(map[string]any)
		for pattern := range patterns {
			if !compiles(pattern) {
				found = append(found, Pattern{at + ".patternProperties", pattern})
			}
		}
	})
	slices.SortFunc(found,
		func(a, b Pattern) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Text, b.Text)) })
	return found
}

func dropPatterns(root any) {
	walk(root, nil, func(_ []string, m map[string]any) {
		if pattern, ok := m["pattern"].(string); ok && !compiles(pattern) {
			delete(m, "pattern")
		}
		dropPatternProperties(m)
	})
}

// walk visits each schema in a schema, the outer before the inner. The path is valid during the visit only.
func walk(schema any, path []string, visit func(path []string, m map[string]any)) {
	m, ok := schema.(map[string]any)
	if !ok {
		return
	}
	visit(path, m)
	for _, keyword := range holdsSchema {
		walk(m[keyword], append(path, keyword), visit)
	}
	for _, keyword := range holdsList {
		list, _ := m[keyword].([]any)
		for i, item := range list {
			walk(item, append(path, keyword, strconv.Itoa(i)), visit)
		}
	}
	for _, keyword := range holdsMap {
		members, _ := m[keyword].(map[string]any)
		for name, member := range members {
			walk(member, append(path, keyword, name), visit)
		}
	}
}

// dropPatternProperties drops the patterns that do not compile, and with them the closing of the object: a property
// that such a pattern allows must not count as unknown.
func dropPatternProperties(m map[string]any) {
	patterns, _ := m["patternProperties"].(map[string]any)
	for pattern := range patterns {
		if !compiles(pattern) {
			delete(patterns, pattern)
			delete(m, "additionalProperties")
			delete(m, "unevaluatedProperties")
		}
	}
}

func compiles(pattern string) bool {
	_, err := regexp.Compile(pattern)
	return err == nil
}
