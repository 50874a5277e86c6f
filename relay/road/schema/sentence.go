package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/suggest"
)

// leaf words one failed keyword.
func (r reader) leaf(e *jsonschema.ValidationError) []Problem {
	path := r.path(e)
	one := func(message string) []Problem { return []Problem{{path, message}} }
	around := r.around(e)
	value := find(r.doc, pointer(e.InstanceLocation).tokens())
	switch keyword(e) {
	case "additionalProperties":
		return r.unknown(path, value, around, e.Message)
	case "required":
		return r.missing(path, value, around, e.Message)
	case "enum":
		if values, ok := around["enum"].([]any); ok {
			return one(oneOf(values, value))
		}
	case "const":
		if wanted, ok := around["const"]; ok {
			return one(oneOf([]any{wanted}, value))
		}
	case "format":
		if format, ok := around["format"].(string); ok {
			return one(encode(value) + " is not a valid " + format)
		}
	case "not":
		return one("this value is excluded by the schema")
	case "oneOf":
		return one("fits more than one of the alternatives, and must fit exactly one")
	}
	if e.Message == "not allowed" {
		return one("not allowed here")
	}
	return one(clip.Runes(e.Message, 300))
}

// unknown names each property that is too much, and what would be right.
func (r reader) unknown(path string, value any, around map[string]any, otherwise string) []Problem {
	object, isObject := value.(map[string]any)
	properties, _ := around["properties"].(map[string]any)
	if !isObject || around == nil {
		return []Problem{{path, clip.Runes(otherwise, 300)}}
	}
	known := slices.Sorted(maps.Keys(properties))
	var all []Problem
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, ok := properties[name]; ok || matchesAny(name, around["patternProperties"]) {
			continue
		}
		all = append(all, Problem{path, "unknown property " + quote(name) + didYouMean(name, known) + allowed(known)})
	}
	return all
}

func matchesAny(name string, patterns any) bool {
	m, _ := patterns.(map[string]any)
	for pattern := range m {
		if re, err := regexp.Compile(pattern); err == nil && re.MatchString(name) {
			return true
		}
	}
	return false
}

func allowed(names []string) string {
	if len(names) == 0 {
		return ", no properties are allowed"
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = excerpt(name)
	}
	return ", allowed: " + strings.Join(head(quoted, 20), ", ")
}

// missing names each property that must be there, with its type.
func (r reader) missing(path string, value any, around map[string]any, otherwise string) []Problem {
	object, _ := value.(map[string]any)
	required, ok := around["required"].([]any)
	if !ok {
		return []Problem{{path, clip.Runes(otherwise, 300)}}
	}
	properties, _ := around["properties"].(map[string]any)
	var all []Problem
	for _, name := range required {
		name, _ := name.(string)
		if _, there := object[name]; there {
			continue
		}
		message := "missing property " + quote(name)
		property, _ := properties[name].(map[string]any)
		if kind, ok := property["type"].(string); ok {
			message += " (" + kind + ")"
		}
		all = append(all, Problem{path, message})
	}
	return all
}

// oneOf says which values are right, and which of them was probably meant.
func oneOf(values []any, got any) string {
	known := make([]string, len(values))
	var words []string
	for i, value := range values {
		known[i] = encode(value)
		if word, ok := value.(string); ok {
			words = append(words, word)
		}
	}
	message := "must be "
	if len(known) > 1 {
		message += "one of "
	}
	message += strings.Join(head(known, 20), ", ") + ", but got " + encode(got)
	if word, ok := got.(string); ok {
		message += didYouMean(word, words)
	}
	return message
}

// didYouMean asks for the nearest of the known names, which anybody may have chosen.
func didYouMean(name string, known []string) string {
	if nearest := suggest.Nearest(name, known); nearest != "" {
		return fmt.Sprintf(" (did you mean %s?)", quote(nearest))
	}
	return ""
}

// encode writes a value as JSON, shortened.
func encode(value any) string {
	if text, ok := value.(string); ok {
		return quote(text)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "this value"
	}
	return excerpt(string(text))
}

func quote(text string) string { return strconv.Quote(excerpt(text)) }

func excerpt(text string) string { return clip.Runes(text, 60) }
