package schema

import "regexp"

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

func dropPatterns(schema any) {
	m, ok := schema.(map[string]any)
	if !ok {
		return
	}
	if pattern, ok := m["pattern"].(string); ok && !compiles(pattern) {
		delete(m, "pattern")
	}
	dropPatternProperties(m)
	for _, keyword := range holdsSchema {
		dropPatterns(m[keyword])
	}
	for _, keyword := range holdsList {
		list, _ := m[keyword].([]any)
		for _, item := range list {
			dropPatterns(item)
		}
	}
	for _, keyword := range holdsMap {
		members, _ := m[keyword].(map[string]any)
		for _, member := range members {
			dropPatterns(member)
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
