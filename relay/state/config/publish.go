package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Schema is the JSON Schema of config.json, for editors. The relay writes it beside the file.
func Schema() []byte {
	table := slices.Clone(settings)
	for _, s := range settings {
		for _, was := range namesOf(s.key)[:len(namesOf(s.key))-1] {
			s.key, s.about = was, "Is called "+s.key+" now."
			table = append(table, s)
		}
	}
	return document("tabrelay configuration", tree(table))
}

// PolicySchema is the JSON Schema of a policy file.
func PolicySchema() []byte {
	root := tree(managedTable)
	fixed := tree(slices.DeleteFunc(slices.Clone(settings), func(s Setting[Config]) bool {
		return s.key == "permissions"
	}))
	withoutDefaults(fixed)
	fixed["description"] = root["properties"].(map[string]any)["settings"].(map[string]any)["description"]
	root["properties"].(map[string]any)["settings"] = fixed
	return document("tabrelay policy", root)
}

// withoutDefaults takes the defaults out of a schema: what a policy does not say, it leaves as it is.
func withoutDefaults(schema map[string]any) {
	delete(schema, "default")
	properties, _ := schema["properties"].(map[string]any)
	for _, one := range properties {
		withoutDefaults(one.(map[string]any))
	}
	if each, ok := schema["additionalProperties"].(map[string]any); ok {
		withoutDefaults(each)
	}
}

// document is the text of a schema.
func document(title string, root map[string]any) []byte {
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = title
	root["properties"].(map[string]any)["$schema"] = map[string]any{"type": "string"}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		panic("config: the schema does not encode: " + err.Error())
	}
	return b.Bytes()
}

// tree nests a table's dotted keys.
func tree[T any](table []Setting[T]) map[string]any {
	root := group()
	for _, s := range table {
		at := root
		names := strings.Split(s.key, ".")
		for _, name := range names[:len(names)-1] {
			properties := at["properties"].(map[string]any)
			if properties[name] == nil {
				properties[name] = group()
			}
			at = properties[name].(map[string]any)
		}
		leaf := maps.Clone(s.kind.schema)
		leaf["description"] = s.about
		if s.fallback != nil {
			leaf["default"] = s.fallback
		}
		at["properties"].(map[string]any)[names[len(names)-1]] = leaf
	}
	return root
}

func group() map[string]any {
	return map[string]any{"type": "object", "properties": map[string]any{}, "additionalProperties": false}
}
