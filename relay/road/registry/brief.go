package registry

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/rawjson"
)

// brief is an input schema without what tells a model little and costs it context: bounds of lengths and numbers,
// patterns, defaults that mean nothing, what paging arguments say by their names, and that no other arguments are
// taken, while every page tool takes some that are not listed. What is left allows whatever the whole one allows, which
// is what calls are checked against. A schema with references, or with words for programs, is left as it is.
func brief(schema []rawjson.Member) []rawjson.Member {
	if bytes.Contains(rawjson.Join(schema), []byte(`"$`)) {
		return schema
	}
	return slices.DeleteFunc(briefObject(schema), func(m rawjson.Member) bool {
		return m.Name == "additionalProperties" && string(m.Value) == "false"
	})
}

func briefObject(schema []rawjson.Member) []rawjson.Member {
	kept := make([]rawjson.Member, 0, len(schema))
	for _, m := range schema {
		switch m.Name {
		case "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "pattern":
			continue
		case "anyOf":
			if allowsAll(m.Value) {
				continue
			}
			if types := saidTypes(rawjson.Get(schema, "description"), m.Value); types != nil {
				m = rawjson.Make(m.Name, types)
			}
		case "default":
			if idle[string(m.Value)] {
				continue
			}
		case "items":
			if inner, ok := rawjson.Members(m.Value); ok {
				inner = briefObject(inner)
				if rawjson.Get(schema, "description") != nil { // which says what the list holds
					inner = without(inner, "description")
				}
				m = rawjson.Make(m.Name, rawjson.Join(inner))
			}
		case "properties":
			if properties, ok := rawjson.Members(m.Value); ok {
				properties = slices.Clone(properties)
				for i, p := range properties {
					if inner, ok := rawjson.Members(p.Value); ok {
						if pages(p.Name, inner) {
							inner = without(inner, "description", "default")
						}
						properties[i] = rawjson.Make(p.Name, rawjson.Join(briefObject(inner)))
					}
				}
				m = rawjson.Make(m.Name, rawjson.Join(properties))
			}
		}
		kept = append(kept, m)
	}
	return kept
}

// idle are zero values: as a default they say only that an argument may be left out.
var idle = map[string]bool{`""`: true, "0": true, "false": true, "[]": true, "{}": true, "null": true}

// pagingWords are how the description of a paging argument begins that says no more than its name, and than the member
// nextOffset of the previous answer.
var pagingWords = lazyregexp.New(`^(How (many|much)|From nextOffset|Where to start: nextOffset)\b`)

// pages reports whether a property is the size of a part or where it begins, and its description says no more.
func pages(name string, property []rawjson.Member) bool {
	if name != "limit" && name != "offset" && name != "maxChars" ||
		string(rawjson.Get(property, "type")) != `"integer"` {
		return false
	}
	var description string
	return json.Unmarshal(rawjson.Get(property, "description"), &description) == nil &&
		pagingWords.MatchString(description)
}

// allTypes are the types of JSON values; each number is one of "number".
var allTypes = []string{"string", "number", "boolean", "object", "array", "null"}

// allowsAll reports whether alternatives are {"type": T} for each type of JSON, and so allow every value.
func allowsAll(alternatives json.RawMessage) bool {
	var list []map[string]any
	if json.Unmarshal(alternatives, &list) != nil {
		return false
	}
	left := slices.Clone(allTypes)
	for _, one := range list {
		if len(one) != 1 {
			return false
		}
		left = slices.DeleteFunc(left, func(name string) bool { return one["type"] == name })
	}
	return len(left) == 0
}

// typeWords are words by which a description names a type of values.
var typeWords = map[string][]string{
	"string": {"text", "words", "string"}, "number": {"number"}, "integer": {"number", "integer"},
	"boolean": {"true", "boolean"}, "array": {"list", "array"}, "null": {"null"},
}

// saidTypes are the types of alternatives each of which a description names: its type, or the values that it allows, or
// the members of an object. Then they tell a model nothing else. Clients want at least a type, and many of them no list
// of types, so these are alternatives as well. nil: the description does not name all.
func saidTypes(description, alternatives json.RawMessage) json.RawMessage {
	text, _ := rawjson.Text(description)
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	})
	var list []alternative
	decoder := json.NewDecoder(bytes.NewReader(alternatives))
	decoder.DisallowUnknownFields() // a keyword not in alternative may constrain what the description does not say
	if text == "" || decoder.Decode(&list) != nil {
		return nil
	}
	type typed struct {
		Type string `json:"type"`
	}
	var types []typed
	for _, one := range list {
		if one.Type == "" || !one.isNamed(words) {
			return nil
		}
		if !slices.Contains(types, typed{one.Type}) {
			types = append(types, typed{one.Type})
		}
	}
	return rawjson.MustEncode(types)
}

func (a *alternative) isNamed(words []string) bool {
	names := a.names()
	return len(names) > 0 && !slices.ContainsFunc(names, func(any []string) bool {
		return !slices.ContainsFunc(any, func(word string) bool { return slices.Contains(words, word) })
	})
}

// alternative is a schema that is no more than a type, a list of values, or members.
type alternative struct {
	Type       string         `json:"type"`
	Enum       []string       `json:"enum"`
	Properties map[string]any `json:"properties"`
	Required   any            `json:"required"`
	Items      any            `json:"items"`
}

// names are what has to be named of it, each by one of several words.
func (a *alternative) names() (names [][]string) {
	for _, value := range a.Enum {
		names = append(names, []string{strings.ToLower(value)})
	}
	for name := range a.Properties {
		names = append(names, []string{strings.ToLower(name)})
	}
	if names == nil && typeWords[a.Type] != nil {
		names = [][]string{typeWords[a.Type]}
	}
	return names
}

// without is an object without some of its members.
func without(members []rawjson.Member, names ...string) []rawjson.Member {
	return slices.DeleteFunc(members, func(m rawjson.Member) bool { return slices.Contains(names, m.Name) })
}
