package registry

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"

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

// idle are the defaults that say no more than that an argument may be left out.
var idle = map[string]bool{`""`: true, "0": true, "false": true, "[]": true, "{}": true, "null": true}

// pagingWords are how the description of a paging argument begins that says no more than its name, and than the member
// nextOffset of the previous answer.
var pagingWords = regexp.MustCompile(`^(How (many|much)|From nextOffset|Where to start: nextOffset)\b`)

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

// allowsAll reports whether alternatives are all JSON values, each by its type and nothing else.
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

// without is an object without some of its members.
func without(members []rawjson.Member, names ...string) []rawjson.Member {
	return slices.DeleteFunc(members, func(m rawjson.Member) bool { return slices.Contains(names, m.Name) })
}
