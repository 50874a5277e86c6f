package config

import (
	"encoding/json"
	"slices"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/rawjson"
)

// DefaultTarget is the target of a permission that names no tool, plugin or origin.
const DefaultTarget = "default"

// EveryClient stands for all clients in a permission.
const EveryClient = "*"

var (
	modes         = []string{"off", "ask", "auto"}
	targetPattern = `^(default|all|\*|([a-z0-9][a-zA-Z0-9_-]*__[a-zA-Z0-9_-]+@)?https?://[^/?#@\s*]+|` +
		`[a-z0-9][a-z0-9_-]*)$`
	isTarget       = lazyregexp.New(targetPattern).MatchString
	defaultAliases = []string{DefaultTarget, "all", "*"}
)

// Target is the one spelling of a permission's target: "default" has aliases. It is false for what is none: neither
// the default, nor an origin, nor anything that could be the name of a tool or a plugin, nor a tool on an origin.
func Target(text string) (string, bool) {
	if slices.Contains(defaultAliases, text) {
		return DefaultTarget, true
	}
	return text, isTarget(text)
}

// permissions is an object from targets to a mode, or to modes by client.
var permissions = func() Kind {
	mode := Choice(modes...).schema
	return Kind{
		accepts: `an object from "default", an origin (https://example.org), a plugin, a tool or a tool on an origin ` +
			`(wiki__edit@https://example.org) to "off", "ask" or "auto", or to an object of these by client`,
		schema: map[string]any{
			"type": "object", "propertyNames": map[string]any{"pattern": targetPattern},
			"additionalProperties": map[string]any{"anyOf": []any{
				mode, map[string]any{"type": "object", "additionalProperties": mode},
			}},
		},
		set: setPermissions,
		env: func(s string) []byte { // a bare mode is the default's
			if slices.Contains(modes, s) {
				return []byte(`{"` + DefaultTarget + `":"` + s + `"}`)
			}
			return []byte(s)
		},
	}
}()

func setPermissions(field any, raw []byte) bool {
	targets, ok := decode[map[string]json.RawMessage](raw)
	result := map[string]map[string]string{}
	for member := range rawjson.EachMember(raw) { // each of them: of two with one name, a map has the last
		text, value := member.Name, targets[member.Name]
		target, known := Target(text)
		_, twice := result[target]
		byClient, valid := modesByClient(value)
		if !known || twice || !valid {
			return false
		}
		result[target] = byClient
	}
	if ok {
		*field.(*map[string]map[string]string) = result
	}
	return ok
}

// modesByClient reads a bare mode, which is for every client, or an object of modes.
func modesByClient(raw []byte) (byClient map[string]string, ok bool) {
	if bare, isText := decode[string](raw); isText {
		return map[string]string{EveryClient: bare}, slices.Contains(modes, bare)
	}
	byClient, ok = decode[map[string]string](raw)
	members, _ := rawjson.Members(raw)
	ok = ok && len(members) == len(byClient) // none comes twice
	for client, mode := range byClient {
		ok = ok && client != "" && slices.Contains(modes, mode)
	}
	return byClient, ok
}
