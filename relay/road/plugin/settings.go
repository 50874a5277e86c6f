package plugin

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"tabrelay/relay/lib/match"
	"tabrelay/relay/lib/rawjson"
)

// Setting is one setting of a plugin: an entry of its configSchema.
type Setting struct {
	Type        string          `json:"type"` // url, string, number, boolean or select
	Label       string          `json:"label"`
	Description string          `json:"description"`
	Placeholder string          `json:"placeholder"`
	Required    bool            `json:"required"`
	Options     []string        `json:"options"` // of a select
	Default     json.RawMessage `json:"default"` // nil when there is none; not of a url
	Secret      *bool           `json:"secret"`  // withheld from pages that could read it; nil: a string is
}

// IsSecret reports whether a value of the setting is withheld from pages that ran scripts before the plugin was
// injected.
func (s Setting) IsSecret() bool {
	if s.Secret == nil {
		return s.Type == "string"
	}
	return *s.Secret
}

// Settings reads a configSchema.
func Settings(configSchema json.RawMessage) (map[string]Setting, error) {
	var declared map[string]Setting
	if len(configSchema) == 0 {
		return nil, nil
	}
	err := json.Unmarshal(configSchema, &declared)
	return declared, err
}

// URLSetting is the name of the first setting with the address of the web app; empty when there is none.
func URLSetting(configSchema json.RawMessage) string {
	declared, _ := Settings(configSchema)
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if declared[name].Type == "url" {
			return name
		}
	}
	return ""
}

// Instance is one of several installations of a web app that a person configured.
type Instance struct {
	Name  string
	URL   string
	Match string // match pattern of its pages
}

// Instances reads the value of a url setting: an address, or an object of addresses by the name of the instance, in
// their order. problem says why it is none of both; empty: it is one.
func Instances(value json.RawMessage) (list []Instance, problem string) {
	byName := []rawjson.Member{rawjson.Make("default", value)}
	if members, ok := rawjson.Members(value); ok {
		byName = members
	}
	for _, m := range byName {
		var address string // stays empty where the value is null
		err := json.Unmarshal(m.Value, &address)
		u, wrong := url.Parse(address)
		if err != nil || wrong != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Sprintf("expected an http or https address, or several by name, but got %.60s", m.Value)
		}
		pattern := "*://" + u.Host + "/*"
		if _, err := match.Parse(pattern); err != nil || strings.Contains(u.Host, "*") {
			return nil, fmt.Sprintf("expected the address of one site, but got %.60s", m.Value)
		}
		list = append(list, Instance{m.Name, address, pattern})
	}
	return list, ""
}

// Sites are the match patterns of the sites that settings, values by name, name by address. Each setting counts, of
// whatever type: a plugin that is not there yet, or a later version of it, may take the value for the address of its
// web app.
func Sites(settings json.RawMessage) map[string][]string {
	sites := map[string][]string{}
	for _, m := range readable(settings) {
		found, _ := Instances(m.Value) // another value names none
		for _, one := range found {
			if !slices.Contains(sites[m.Name], one.Match) {
				sites[m.Name] = append(sites[m.Name], one.Match)
			}
		}
	}
	return sites
}

// WithinSites leaves the addresses of other sites out of settings than each may name.
func WithinSites(settings json.RawMessage, sites map[string][]string) json.RawMessage {
	values := readable(settings)
	bounded, held := []rawjson.Member{}, false
	for _, m := range values {
		found, _ := Instances(m.Value)
		other := func(one Instance) bool { return !slices.Contains(sites[m.Name], one.Match) }
		if !slices.ContainsFunc(found, other) {
			bounded = append(bounded, m)
			continue
		}
		held = true
		members, _ := rawjson.Members(m.Value) // as many as found, or none: a single address
		var left []rawjson.Member
		for i, one := range members {
			if !other(found[i]) {
				left = append(left, one)
			}
		}
		if len(left) > 0 {
			m.Value = rawjson.Join(left)
			bounded = append(bounded, m)
		}
	}
	if !held {
		return settings
	}
	return rawjson.Join(bounded)
}

// readable are the values of settings that a plugin gets: not those that nest too deep, nor such as are no values.
func readable(settings json.RawMessage) []rawjson.Member {
	if rawjson.Depth(settings) > rawjson.MostDeep {
		return nil
	}
	clean, _ := rawjson.WithoutPrototypes(settings)
	values, _ := rawjson.Members(clean)
	return values
}

// CheckSettings returns everything wrong with a configSchema.
func CheckSettings(configSchema json.RawMessage) (problems []string) {
	declared, err := Settings(configSchema)
	if err != nil {
		return []string{`"configSchema" has to be an object of settings, each like {"type": "string", "label": "…"}`}
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if slices.Contains([]string{"__proto__", "constructor", "prototype"}, name) {
			problems = append(problems,
				fmt.Sprintf("setting %q has a name that programs take for something other than a value; choose another",
					name))
		}
		switch s := declared[name]; s.Type {
		case "url":
			if s.Default != nil {
				problems = append(problems, fmt.Sprintf("setting %q is a url and has a default, and only the person "+
					`says on which sites a plugin works; write it into "urlPatterns", or as "placeholder"`, name))
			}
		case "string", "number", "boolean":
		case "select":
			if len(s.Options) == 0 {
				problems = append(problems, fmt.Sprintf(`setting %q has the type select and no "options"`, name))
			}
		default:
			problems = append(problems,
				fmt.Sprintf("setting %q has the type %q; write url, string, number, boolean or select", name, s.Type))
		}
	}
	return problems
}
