package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/lib/suggest"
)

// Entry is one setting as it is now.
type Entry struct {
	Key     string          `json:"key"`
	Value   json.RawMessage `json:"value"`
	Default json.RawMessage `json:"default"`
	From    string          `json:"from"` // default, config.json, policy, or the name of a variable of the environment
	Twin    string          `json:"environment"`
	About   string          `json:"about"`
	Accepts string          `json:"accepts"`
}

// IsSet reports whether something other than the default counts.
func (e Entry) IsSet() bool { return e.From != "default" }

// Entries are all settings, as config.json, the environment and the policy say. What is wrong with a value is not
// looked at.
func Entries(home Home, environ []string) ([]Entry, error) {
	text, err := readRegular(home.Config(), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = []byte("{}"), nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration: %w", err)
	}
	doc, err := parse(text)
	if err != nil {
		return nil, &Error{Faults: []Fault{{File: home.Config(), Message: err.Error()}}}
	}
	twins := map[string]string{}
	for _, one := range environ {
		name, value, _ := strings.Cut(one, "=")
		twins[name] = value
	}
	managed, err := ReadPolicy()
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, s := range settings {
		e := s.entry()
		for _, key := range namesOf(s.key) {
			if v := doc.Find(rawjson.Pointer(strings.Split(key, "."))); v != nil {
				e.Value, e.From = standard(v), "config.json"
			}
		}
		for _, key := range namesOf(s.key) {
			if value, ok := twins[Twin(key)]; ok {
				e.Value, e.From = s.kind.fromText(value), Twin(key)
			}
		}
		if !json.Valid(e.Value) {
			e.Value = quoted(string(e.Value))
		}
		if fixed := managed.Value(s.key); fixed != nil {
			e.Value, e.From = merged(e.Value, fixed), "policy"
		}
		e.Value = Shown(e.Key, e.Value)
		list = append(list, e)
	}
	return list, nil
}

// Value is what the policy sets the setting of a key to; nil: it does not.
func (m *Managed) Value(key string) json.RawMessage {
	if m == nil || m.settings == nil {
		return nil
	}
	doc := hujson.Value{Value: m.settings}
	for _, name := range namesOf(key) {
		if v := doc.Find(rawjson.Pointer(strings.Split(name, "."))); v != nil {
			return standard(v)
		}
	}
	return nil
}

// merged is an object with the members of another one in place of its own, at any depth; what is no object, the other.
func merged(value, over json.RawMessage) json.RawMessage {
	members, isObject := rawjson.Members(value)
	others, bothAre := rawjson.Members(over)
	if !isObject || !bothAre {
		return over
	}
	for _, other := range others {
		if i := slices.IndexFunc(members, func(m rawjson.Member) bool { return m.Name == other.Name }); i >= 0 {
			members[i].Value = merged(members[i].Value, other.Value)
		} else {
			members = append(members, other)
		}
	}
	return rawjson.Join(members)
}

// entry is a setting that has its default.
func (s Setting[T]) entry() Entry {
	standard := rawjson.MustEncode(s.fallback)
	return Entry{Key: s.key, Value: standard, Default: standard, From: "default", Twin: Twin(s.key), About: s.about,
		Accepts: s.kind.accepts}
}

// Table is what can be set of one thing of a kind that has names.
type Table struct {
	Example
	Settings []Entry
}

// Tables are those of all such things.
func Tables() (list []Table) {
	of := func(e Example) {
		for _, s := range settings {
			if s.key == e.Key {
				list = append(list, Table{e, s.kind.members})
			}
		}
	}
	of(Example{"plugin", "plugins", `{"mediawiki": {"urlPatterns": ["https://wiki.example.org/*"]}}`,
		"`tabrelay plugin configure NAME KEY=VALUE` writes `plugins.<name>.settings` and keeps your comments."})
	for _, one := range sections {
		for _, e := range one.examples() {
			of(e)
		}
	}
	return list
}

// WideningKeys are the settings that let agents do more, as the documents list them.
func WideningKeys() []string {
	keys := []string{"permissions", "plugins.<name>.enabled", "plugins.<name>.urlPatterns",
		"plugins.<name>.settings"}
	for _, one := range rights {
		keys = append(keys, one.Keys...)
	}
	return keys
}

// LiveKeys are the settings, or groups of them, whose change is in effect without a restart.
func LiveKeys() (keys []string) {
	for _, s := range settings {
		group, _, _ := strings.Cut(s.key, ".")
		if Live(s.key) && !slices.Contains(keys, group) {
			keys = append(keys, group)
		}
	}
	return keys
}

// standard is a value without comments, on one line.
func standard(v *hujson.Value) json.RawMessage {
	plain := v.Clone()
	plain.Minimize()
	var b bytes.Buffer
	if json.Compact(&b, plain.Pack()) != nil {
		return plain.Pack()
	}
	return b.Bytes()
}

// hidden stands for a value that is not shown.
const hidden = "[hidden]"

// Shown is a value of a key as it may be printed: without what is hidden of things by name, which may be keys.
func Shown(key string, value json.RawMessage) json.RawMessage {
	path := strings.Split(key, ".")
	for _, s := range settings {
		if s.key == path[0] && len(s.kind.hides) > 0 && (len(path) <= 2 || slices.Contains(s.kind.hides, path[2])) {
			return hide(value, 4-len(path), s.kind.hides)
		}
	}
	return value
}

// hide replaces the values that are so many levels down: of things by name, of each its members, of some its own.
func hide(value json.RawMessage, levels int, names []string) json.RawMessage {
	members, isObject := rawjson.Members(value)
	if levels <= 0 || !isObject {
		return quoted(hidden)
	}
	for i, m := range members {
		if levels != 2 || slices.Contains(names, m.Name) {
			members[i].Value = hide(m.Value, levels-1, names)
		}
	}
	return rawjson.Join(members)
}

// Path is the place of a key in config.json. Below a setting that has things by name it may lead to one of them, such
// as providers.local.baseUrl. The error names the setting that was probably meant.
func Path(key string) ([]string, error) {
	for _, s := range settings {
		if below, ok := strings.CutPrefix(key+".", s.key+"."); ok {
			path := strings.Split(s.key, ".")
			if below = strings.TrimSuffix(below, "."); below != "" {
				path = append(path, strings.Split(below, ".")...)
			}
			return path, nil
		}
	}
	return nil, &KeyError{key}
}

// Value is what people type for a setting as JSON: as its variable of the environment takes it, or, below a setting
// that has things by name, JSON or a string.
func Value(key, text string) (json.RawMessage, error) {
	for _, s := range settings {
		if s.key != key {
			continue
		}
		if value := s.kind.fromText(text); json.Valid(value) {
			return value, nil
		}
		return nil, &Error{Faults: []Fault{{File: "the command line", Key: key,
			Message: fmt.Sprintf("expected %s, but got %q", s.kind.accepts, cut(text))}}}
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text), nil
	}
	return quoted(text), nil
}

// Keys are the keys of all settings.
func Keys() (keys []string) {
	for _, s := range settings {
		keys = append(keys, s.key)
	}
	return keys
}

// KeyError says that there is no such setting.
type KeyError struct{ Key string }

// Error names the setting that was probably meant.
func (e *KeyError) Error() string {
	return fmt.Sprintf("there is no setting %q%s", e.Key, suggest.DidYouMean(e.Key, Keys()))
}
