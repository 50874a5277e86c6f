package registry

import (
	"encoding/json"
	"fmt"
	"strings"

	"tabrelay/relay/lib/rawjson"
)

// headerKeyword marks a property whose value clients also send as an HTTP header (MCP 2026-07-28, "Custom Headers from
// Tool Parameters").
const headerKeyword = "x-mcp-header"

// mirrored reports whether an input schema marks properties, and what is wrong with the marks: clients leave out a tool
// whose marks break a rule, so such a tool would be there for some of them only.
func mirrored(schema []rawjson.Member) (bool, error) {
	names := map[string]bool{}
	reachable, err := marks(schema, names)
	if err != nil {
		return false, err
	}
	if countKey(rawjson.Join(schema), headerKeyword) > reachable {
		return false, fmt.Errorf("its input schema has %s where it means nothing: it belongs to properties of the "+
			"arguments",
			headerKeyword)
	}
	return reachable > 0, nil
}

// marks checks the marked properties of an object schema and counts them, its own and those of the objects in it.
func marks(schema []rawjson.Member, names map[string]bool) (count int, err error) {
	properties, _ := rawjson.Members(rawjson.Get(schema, "properties"))
	for _, p := range properties {
		inner, ok := rawjson.Members(p.Value)
		if !ok {
			continue
		}
		if mark := rawjson.Get(inner, headerKeyword); mark != nil {
			if err := checkMark(p.Name, mark, rawjson.Get(inner, "type"), names); err != nil {
				return 0, err
			}
			count++
		}
		below, err := marks(inner, names)
		if err != nil {
			return 0, err
		}
		count += below
	}
	return count, nil
}

func checkMark(property string, mark, kind json.RawMessage, names map[string]bool) error {
	var name string
	if json.Unmarshal(mark, &name) != nil || name == "" || strings.ContainsFunc(name, notToken) {
		return fmt.Errorf("the %s of its property %.40q is not the name of an HTTP header", headerKeyword, property)
	}
	switch string(kind) {
	case `"string"`, `"integer"`, `"boolean"`:
	default:
		return fmt.Errorf("its property %.40q has %s and is not a string, an integer or a boolean", property,
			headerKeyword)
	}
	if names[strings.ToLower(name)] {
		return fmt.Errorf("two of its properties have the same %s %.40q", headerKeyword, name)
	}
	names[strings.ToLower(name)] = true
	return nil
}

// notToken reports what cannot stand in a field name (RFC 9110 section 5.1).
func notToken(c rune) bool {
	return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') &&
		!strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}

// countKey counts the members with this name in all objects of doc.
func countKey(doc json.RawMessage, name string) (count int) {
	if members, ok := rawjson.Members(doc); ok {
		for _, m := range members {
			if m.Name == name {
				count++
			}
			count += countKey(m.Value, name)
		}
		return count
	}
	var items []json.RawMessage
	if json.Unmarshal(doc, &items) == nil {
		for _, item := range items {
			count += countKey(item, name)
		}
	}
	return count
}
