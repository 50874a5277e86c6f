package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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
	From    string          `json:"from"` // default, config.json, or the name of a variable of the environment
	Twin    string          `json:"environment"`
	About   string          `json:"about"`
	Accepts string          `json:"accepts"`
}

// IsSet reports whether something other than the default counts.
func (e Entry) IsSet() bool { return e.From != "default" }

// Entries are all settings, as config.json and the environment say. What is wrong with a value is not looked at.
func Entries(home Home, environ []string) ([]Entry, error) {
	text, err := readRegular(home.Config())
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
	var list []Entry
	for _, s := range settings {
		e := Entry{Key: s.key, Default: rawjson.MustEncode(s.fallback), From: "default", Twin: Twin(s.key),
			About: s.about, Accepts: s.kind.accepts}
		e.Value = e.Default
		if v := doc.Find(rawjson.Pointer(strings.Split(s.key, "."))); v != nil {
			e.Value, e.From = standard(v), "config.json"
		}
		if value, ok := twins[e.Twin]; ok {
			e.Value, e.From = s.kind.fromText(value), e.Twin
		}
		if !json.Valid(e.Value) {
			e.Value = quoted(string(e.Value))
		}
		e.Value = Shown(e.Key, e.Value)
		list = append(list, e)
	}
	return list, nil
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

// Shown is a value of a key as it may be printed: without the variables of workers, which may be keys.
func Shown(key string, value json.RawMessage) json.RawMessage {
	path := strings.Split(key, ".")
	if path[0] != "workers" || len(path) > 2 && path[2] != "env" {
		return value
	}
	return hide(value, 4-len(path))
}

// hide replaces the values that are so many levels down: of workers by name, of each its members, of env its own.
func hide(value json.RawMessage, levels int) json.RawMessage {
	members, isObject := rawjson.Members(value)
	if levels <= 0 || !isObject {
		return quoted(hidden)
	}
	for i, m := range members {
		if levels != 2 || m.Name == "env" {
			members[i].Value = hide(m.Value, levels-1)
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
