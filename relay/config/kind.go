package config

import (
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/match"
)

// A kind is what values a setting accepts.
type kind interface {
	// set parses a standard JSON value into field, a pointer. It refuses what allowed does not describe.
	set(field any, raw []byte) error
	// allowed completes the sentence "expected …".
	allowed() string
	// env turns the text of an environment variable into JSON.
	env(text string) []byte
	// schema is the JSON Schema of the values.
	schema() map[string]any
}

// put decodes raw strictly and stores it in field, which points to a value of type T's kind.
func put[T any](field any, raw []byte) error {
	var v *T // a pointer, because null must not pass for a zero value
	if err := json.Unmarshal(raw, &v); err != nil || v == nil {
		return fmt.Errorf("not a %T", *new(T))
	}
	reflect.ValueOf(field).Elem().Set(reflect.ValueOf(*v))
	return nil
}

func quoted(text string) []byte {
	b, _ := json.Marshal(text) // a string always encodes
	return b
}

// text is a string; accepts may refuse some.
type text struct {
	accepts func(string) bool
	what    string // the words of allowed; empty: "a string"
	pattern string // for the schema; empty: none
}

func (k text) set(field any, raw []byte) error {
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil || s == nil {
		return fmt.Errorf("not a string")
	}
	if k.accepts != nil && !k.accepts(*s) {
		return fmt.Errorf("not allowed")
	}
	return put[string](field, raw)
}

func (k text) allowed() string {
	if k.what == "" {
		return "a string"
	}
	return k.what
}

func (k text) env(s string) []byte { return quoted(s) }

func (k text) schema() map[string]any {
	s := map[string]any{"type": "string"}
	if k.pattern != "" {
		s["pattern"] = k.pattern
	}
	return s
}

// optional also accepts the empty string.
func optional(k text) text {
	accepts := k.accepts
	k.accepts = func(s string) bool { return s == "" || accepts(s) }
	k.what += ", or an empty string"
	if k.pattern != "" {
		k.pattern = "^$|" + k.pattern
	}
	return k
}

var loopback = text{
	what: "a loopback address with a port, for example 127.0.0.1:7717",
	accepts: func(s string) bool {
		host, port, err := net.SplitHostPort(s)
		if err != nil {
			return false
		}
		ip, err := netip.ParseAddr(host)
		if host != "localhost" && (err != nil || !ip.IsLoopback()) {
			return false
		}
		_, err = strconv.ParseUint(port, 10, 16)
		return err == nil
	},
}

var absolute = text{what: "the absolute path of a folder", accepts: filepath.IsAbs}

var extensionID = text{
	what:    "an extension id: 32 letters from a to p",
	pattern: "^[a-p]{32}$",
	accepts: regexp.MustCompile(`^[a-p]{32}$`).MatchString,
}

var webOrigin = text{
	what:    "an origin, for example http://localhost:6274",
	pattern: "^[a-z][a-z0-9+.-]*://[^/?#]+$",
	accepts: func(s string) bool {
		u, err := url.Parse(s)
		return err == nil && u.Host != "" && s == u.Scheme+"://"+u.Host
	},
}

var pattern = text{
	what: "a regular expression (RE2) of at most 256 characters",
	accepts: func(s string) bool {
		_, err := regexp.Compile(s)
		return err == nil && s != "" && len(s) <= 256
	},
}

var matchPattern = text{
	what:    "a match pattern, for example https://wiki.example.org/*",
	pattern: `^(\*|https?)://[^/]+/`, // for editors; match knows the grammar
	accepts: func(s string) bool { _, err := match.Parse(s); return err == nil },
}

var publicHost = text{
	what:    "a host, for example docs.example.org, with a port when it is not 443",
	pattern: `^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?$`,
	accepts: func(s string) bool {
		if !regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$`).MatchString(s) {
			return false
		}
		u, err := url.Parse("https://" + s)
		return err == nil && u.Hostname() != ""
	},
}

// choice is one of a few strings.
type choice []string

func (k choice) set(field any, raw []byte) error {
	return text{accepts: func(s string) bool { return slices.Contains(k, s) }}.set(field, raw)
}
func (k choice) allowed() string        { return `one of "` + strings.Join(k, `", "`) + `"` }
func (k choice) env(s string) []byte    { return quoted(s) }
func (k choice) schema() map[string]any { return map[string]any{"type": "string", "enum": []string(k)} }

// boolean is true or false.
type boolean struct{}

func (boolean) set(field any, raw []byte) error { return put[bool](field, raw) }
func (boolean) allowed() string                 { return "true or false" }
func (boolean) env(s string) []byte             { return []byte(s) }
func (boolean) schema() map[string]any          { return map[string]any{"type": "boolean"} }

// whole is a whole number within bounds; unit names what it counts.
type whole struct {
	min, max int64
	unit     string
	duration bool // stored as a time.Duration of that many milliseconds
}

func count(least, most int64) whole { return whole{min: least, max: most} }
func size(least, most int64) whole  { return whole{min: least, max: most, unit: " bytes"} }
func millis(least int64, most time.Duration) whole {
	return whole{min: least, max: most.Milliseconds(), unit: " ms", duration: true}
}

func (k whole) set(field any, raw []byte) error {
	var n *int64
	if err := json.Unmarshal(raw, &n); err != nil || n == nil || *n < k.min || *n > k.max {
		return fmt.Errorf("not a whole number within bounds")
	}
	if k.duration {
		*n *= int64(time.Millisecond)
	}
	reflect.ValueOf(field).Elem().SetInt(*n)
	return nil
}

func (k whole) allowed() string {
	return fmt.Sprintf("a whole number from %d to %d%s", k.min, k.max, k.unit)
}
func (k whole) env(s string) []byte { return []byte(s) }
func (k whole) schema() map[string]any {
	return map[string]any{"type": "integer", "minimum": k.min, "maximum": k.max}
}

// decimal is a number within bounds.
type decimal struct{ min, max float64 }

func (k decimal) set(field any, raw []byte) error {
	var n *float64
	if err := json.Unmarshal(raw, &n); err != nil || n == nil || math.IsNaN(*n) || *n < k.min || *n > k.max {
		return fmt.Errorf("not a number within bounds")
	}
	return put[float64](field, raw)
}
func (k decimal) allowed() string     { return fmt.Sprintf("a number from %g to %g", k.min, k.max) }
func (k decimal) env(s string) []byte { return []byte(s) }
func (k decimal) schema() map[string]any {
	return map[string]any{"type": "number", "minimum": k.min, "maximum": k.max}
}

// list is an array of strings; in the environment, separated by commas.
type list struct{ item text }

func (k list) set(field any, raw []byte) error {
	var items []*string
	if err := json.Unmarshal(raw, &items); err != nil || items == nil {
		return fmt.Errorf("not a list")
	}
	for _, s := range items {
		if s == nil || k.item.accepts != nil && !k.item.accepts(*s) {
			return fmt.Errorf("an item is not allowed")
		}
	}
	return put[[]string](field, raw)
}
func (k list) allowed() string { return "a list, each item " + k.item.allowed() }

func (k list) env(s string) []byte {
	if s = strings.TrimSpace(s); s == "" || strings.HasPrefix(s, "[") {
		return []byte(s)
	}
	var items []string
	for item := range strings.SplitSeq(s, ",") {
		items = append(items, strings.TrimSpace(item))
	}
	b, _ := json.Marshal(items) // strings always encode
	return b
}

func (k list) schema() map[string]any {
	return map[string]any{"type": "array", "items": k.item.schema()}
}

// object is any JSON object, kept as it is.
type object struct{}

func (object) set(field any, raw []byte) error {
	var o map[string]json.RawMessage
	if err := json.Unmarshal(raw, &o); err != nil || o == nil {
		return fmt.Errorf("not an object")
	}
	return put[json.RawMessage](field, raw)
}
func (object) allowed() string        { return "an object" }
func (object) env(s string) []byte    { return []byte(s) }
func (object) schema() map[string]any { return map[string]any{"type": "object"} }

// actions is an object from codes of failures, those it lists, to what the relay does about each.
type actions []string

var recoveryAction = choice{"reload_tab", "reinject_adapter", "open_url"}

func (k actions) set(field any, raw []byte) error {
	var o map[string]string
	if err := json.Unmarshal(raw, &o); err != nil || o == nil {
		return fmt.Errorf("not an object of strings")
	}
	for code, action := range o {
		if !slices.Contains(k, code) || !slices.Contains(recoveryAction, action) {
			return fmt.Errorf("not an action for a failure that has one")
		}
	}
	return put[map[string]string](field, raw)
}

func (k actions) allowed() string {
	return "an object with any of " + strings.Join(k, ", ") + ", each " + recoveryAction.allowed()
}
func (actions) env(s string) []byte { return []byte(s) }

func (k actions) schema() map[string]any {
	properties := map[string]any{}
	for _, code := range k {
		properties[code] = recoveryAction.schema()
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}
