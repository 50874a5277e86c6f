package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/plugin"
)

// Called is how a script calls the tool: tools.<object>.<method>, as people write names in JavaScript. The browser's
// own tools are of the object browser.
func (t *Tool) Called() (object, method string) {
	_, own, grouped := strings.Cut(t.Name, "__")
	if !grouped {
		own = t.Name
	}
	return camel(t.Group), camel(own)
}

// camel writes get_page as getPage.
func camel(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' })
	for i, word := range words[min(1, len(words)):] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// First is the argument that a script means by a text in place of arguments: the one that has to be given, or the first
// one of all; empty: there is none.
func (t *Tool) First() string {
	schema, _ := rawjson.Members(t.Spec.InputSchema)
	if required := requiredOf(schema); len(required) > 0 {
		return required[0]
	}
	if properties, _ := rawjson.Members(rawjson.Get(schema, "properties")); len(properties) > 0 {
		return properties[0].Name
	}
	return ""
}

func requiredOf(schema []rawjson.Member) (names []string) {
	_ = json.Unmarshal(rawjson.Get(schema, "required"), &names) // a schema that was compiled
	return names
}

// Types declares the tool in TypeScript, as a script has it: what it takes and returns, in few words.
func (t *Tool) Types() string {
	object, method := t.Called()
	if !plugin.Browses(object) {
		object = "tools." + object
	}
	input, optional := typeOf(t.Spec.InputSchema, 0), ""
	if schema, _ := rawjson.Members(t.Spec.InputSchema); len(requiredOf(schema)) == 0 {
		optional = "?"
	}
	output := "unknown"
	switch {
	case t.Spec.OutputSchema != nil:
		output = typeOf(t.Spec.OutputSchema, 0)
	case t.Browses:
		output = "string"
	}
	about, _, _ := strings.Cut(strings.Join(strings.Fields(t.Spec.Description), " "), ". ")
	return fmt.Sprintf("/** %s */\n%s.%s(args%s: %s): Promise<%s>;",
		comment(clip.Runes(strings.TrimSuffix(about, "."), maxAbout)), object, method, optional, input, output)
}

const (
	maxAbout = 160 // characters of a description
	maxNests = 6   // levels of a type
	maxWide  = 40  // members of an object, or of a choice
)

// comment is a text that does not end the comment that it stands in.
func comment(text string) string { return strings.ReplaceAll(text, "*/", "* /") }

// typeOf is a schema in TypeScript. What TypeScript cannot say, such as bounds, is left out.
func typeOf(schema json.RawMessage, depth int) string {
	members, ok := rawjson.Members(schema)
	if !ok || depth > maxNests {
		return "unknown"
	}
	if one := rawjson.Get(members, "const"); one != nil {
		return literal(one)
	}
	for _, name := range []string{"enum", "anyOf", "oneOf"} {
		var list []json.RawMessage
		if json.Unmarshal(rawjson.Get(members, name), &list) == nil && len(list) > 0 {
			return union(list, func(one json.RawMessage) string {
				if name == "enum" {
					return literal(one)
				}
				return typeOf(one, depth+1)
			})
		}
	}
	var list []json.RawMessage
	if kinds := rawjson.Get(members, "type"); json.Unmarshal(kinds, &list) == nil && len(list) > 0 {
		return union(list, func(one json.RawMessage) string { return plainType(members, one, depth) })
	}
	return plainType(members, rawjson.Get(members, "type"), depth)
}

func union(list []json.RawMessage, each func(json.RawMessage) string) string {
	var parts []string
	for _, one := range list[:min(len(list), maxWide)] {
		if part := each(one); !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	if len(list) > maxWide {
		parts = append(parts, "unknown")
	}
	return strings.Join(parts, " | ")
}

// literal is a value in TypeScript; one that is none is any value.
func literal(value json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil || b.Len() > maxAbout {
		return "unknown"
	}
	return comment(b.String())
}

func plainType(members []rawjson.Member, kind json.RawMessage, depth int) string {
	switch name, _ := rawjson.Text(kind); name {
	case "integer", "number":
		return "number"
	case "string", "boolean", "null":
		return name
	case "array":
		items := "unknown"
		if of := rawjson.Get(members, "items"); of != nil {
			items = typeOf(of, depth+1)
		}
		if isUnion(items) {
			items = "(" + items + ")"
		}
		return items + "[]"
	case "object":
		return objectType(members, depth)
	}
	if rawjson.Get(members, "properties") != nil {
		return objectType(members, depth)
	}
	return "unknown"
}

// isUnion reports whether a type is several ones, and not an object or a list with such.
func isUnion(text string) bool {
	depth := 0
	for i, r := range text {
		switch r {
		case '{', '(':
			depth++
		case '}', ')':
			depth--
		case '|':
			if depth == 0 && i > 0 {
				return true
			}
		}
	}
	return false
}

var identifier = lazyregexp.New(`^[A-Za-z_$][\w$]*$`)

func objectType(schema []rawjson.Member, depth int) string {
	properties, _ := rawjson.Members(rawjson.Get(schema, "properties"))
	if len(properties) == 0 {
		return "{ [name: string]: unknown }"
	}
	required := requiredOf(schema)
	var parts []string
	for i, p := range properties {
		if i == maxWide {
			parts = append(parts, "[name: string]: unknown")
			break
		}
		name := p.Name
		if !identifier.MatchString(name) {
			name = comment(string(rawjson.MustEncode(name)))
		}
		if !slices.Contains(required, p.Name) {
			name += "?"
		}
		parts = append(parts, name+": "+typeOf(p.Value, depth+1))
	}
	return "{ " + strings.Join(parts, "; ") + " }"
}
