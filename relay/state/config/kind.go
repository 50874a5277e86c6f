package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
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

	"github.com/tailscale/hujson"

	"tabrelay/relay/lib/match"
	"tabrelay/relay/lib/rawjson"
)

// A kind is what values a setting accepts.
type kind struct {
	accepts string                                    // completes the sentence "expected …"
	schema  map[string]any                            // the JSON Schema of the values
	set     func(field any, raw []byte) bool          // stores a JSON value in what field points to, if it is accepted
	env     func(text string) (raw []byte)            // makes JSON of a variable of the environment; nil: it is JSON
	fill    func(*reader, any, string, *hujson.Value) // in place of set, of a section
	secret  bool                                      // what stands in its place is never repeated
}

// fromText makes JSON of what people write into a variable of the environment.
func (k kind) fromText(text string) []byte {
	if k.env == nil {
		return []byte(text)
	}
	return k.env(text)
}

// decode reads a value strictly: null is none, and an object may have the members of T only.
func decode[T any](raw []byte) (value T, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var v *T
	if d.Decode(&v) != nil || v == nil {
		return value, false
	}
	return *v, true
}

// of is the kind of the values of T that are valid; nil: all are.
func of[T any](accepts string, schema map[string]any, valid func(T) bool) kind {
	return kind{accepts: accepts, schema: schema, set: func(field any, raw []byte) bool {
		value, ok := decode[T](raw)
		if ok = ok && (valid == nil || valid(value)); ok {
			*field.(*T) = value
		}
		return ok
	}}
}

func quoted(text string) []byte {
	b, _ := json.Marshal(text) // a string always encodes
	return b
}

// text says which strings are accepted. The zero value is every string.
type text struct {
	accepts func(string) bool
	what    string // completes the sentence "expected …"; empty: "a string"
	pattern string // for the schema; empty: none
}

func (t text) valid(s string) bool { return t.accepts == nil || t.accepts(s) }

func (t text) schema() map[string]any {
	s := map[string]any{"type": "string"}
	if t.pattern != "" {
		s["pattern"] = t.pattern
	}
	return s
}

// one is a string.
func one(t text) kind {
	k := of(cmp.Or(t.what, "a string"), t.schema(), t.valid)
	k.env = quoted
	return k
}

// optional also accepts the empty string.
func optional(t text) kind {
	valid := t.valid
	t.accepts = func(s string) bool { return s == "" || valid(s) }
	t.what += ", or an empty string"
	if t.pattern != "" {
		t.pattern = "^$|" + t.pattern
	}
	return one(t)
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
func choice(words ...string) kind {
	k := of(`one of "`+strings.Join(words, `", "`)+`"`, map[string]any{"type": "string", "enum": words},
		func(s string) bool { return slices.Contains(words, s) })
	k.env = quoted
	return k
}

var boolean = of[bool]("true or false", map[string]any{"type": "boolean"}, nil)

// whole is a whole number within bounds, in units of its own; unit names them.
func whole(least, most, of int64, unit string) kind {
	return kind{
		accepts: fmt.Sprintf("a whole number from %d to %d%s", least, most, unit),
		schema:  map[string]any{"type": "integer", "minimum": least, "maximum": most},
		set: func(field any, raw []byte) bool {
			n, ok := decode[int64](raw)
			if ok = ok && n >= least && n <= most; ok {
				reflect.ValueOf(field).Elem().SetInt(n * of)
			}
			return ok
		},
	}
}

func count(least, most int64) kind { return whole(least, most, 1, "") }
func size(least, most int64) kind  { return whole(least, most, 1, " bytes") }
func millis(least int64, most time.Duration) kind {
	return whole(least, most.Milliseconds(), int64(time.Millisecond), " ms")
}

// decimal is a number within bounds.
func decimal(least, most float64) kind {
	return of(fmt.Sprintf("a number from %g to %g", least, most),
		map[string]any{"type": "number", "minimum": least, "maximum": most},
		func(n float64) bool { return n >= least && n <= most })
}

// list is an array of strings; in the environment, separated by commas.
func list(item text) kind {
	k := kind{
		accepts: "a list, each item " + cmp.Or(item.what, "a string"),
		schema:  map[string]any{"type": "array", "items": item.schema()},
		set: func(field any, raw []byte) bool {
			items, ok := decode[[]*string](raw) // pointers, because null must not pass for an empty string
			if !ok || slices.ContainsFunc(items, func(s *string) bool { return s == nil || !item.valid(*s) }) {
				return false
			}
			*field.(*[]string), ok = decode[[]string](raw)
			return ok
		},
	}
	k.env = func(s string) []byte {
		if s = strings.TrimSpace(s); s == "" || strings.HasPrefix(s, "[") {
			return []byte(s)
		}
		var items []string
		for item := range strings.SplitSeq(s, ",") {
			items = append(items, strings.TrimSpace(item))
		}
		return rawjson.MustEncode(items)
	}
	return k
}

// object is any JSON object, kept as it is.
var object = of("an object", map[string]any{"type": "object"},
	func(raw json.RawMessage) bool { return raw[0] == '{' })

var recoveryAction = choice("reload_tab", "reinject_adapter", "open_url")

// actions is an object from codes of failures, those it lists, to what the relay does about each.
func actions(codes ...string) kind {
	properties := map[string]any{}
	for _, code := range codes {
		properties[code] = recoveryAction.schema
	}
	return of("an object with any of "+strings.Join(codes, ", ")+", each "+recoveryAction.accepts,
		map[string]any{"type": "object", "properties": properties, "additionalProperties": false},
		func(given map[string]string) bool {
			for code, action := range given {
				if !slices.Contains(codes, code) || !recoveryAction.set(new(string), quoted(action)) {
					return false
				}
			}
			return true
		})
}

// section is an object of things by name, each with settings of its own. The reader fills it member by member, so that
// every fault has its line. Names have to match a form, nil: any; fresh makes one of which nothing is set, nil: what
// the table says.
func section[T any](things string, table []setting[T], form *regexp.Regexp, fresh func(name string) T) kind {
	schema := map[string]any{"type": "object", "additionalProperties": tree(table)}
	if form != nil {
		schema["propertyNames"] = map[string]any{"pattern": form.String()}
	}
	// what can be set as a whole is the default, which is empty
	k := of("an object of "+things+" by name", schema, func(all map[string]T) bool { return len(all) == 0 })
	k.fill = func(r *reader, field any, path string, v *hujson.Value) {
		fillSection(r, field, path, v, k.accepts, table, form, fresh)
	}
	return k
}

func fillSection[T any](r *reader, target any, path string, v *hujson.Value, accepts string, table []setting[T],
	form *regexp.Regexp, fresh func(name string) T) {
	field := target.(*map[string]T)
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		r.fault(v.StartOffset, path, "expected "+accepts+", but got "+excerpt(*v))
		return
	}
	merged := make(map[string]T, len(*field)+len(obj.Members))
	maps.Copy(merged, *field)
	seen := make(map[string]bool, len(obj.Members))
	for _, m := range obj.Members {
		name := m.Name.Value.(hujson.Literal).String()
		own, ok := m.Value.Value.(*hujson.Object)
		switch {
		case seen[name]:
			r.fault(m.Name.StartOffset, path+"."+name, "is set twice; keep one")
		case form != nil && !form.MatchString(name):
			r.fault(m.Name.StartOffset, path+"."+name, "expected a name of lower-case letters, digits, dots, _ and "+
				"hyphens, at most 64")
		case !ok:
			r.fault(m.Value.StartOffset, path+"."+name, "expected an object, but got "+excerpt(m.Value))
		default:
			one := defaults(table)
			if fresh != nil {
				one = fresh(name)
			}
			r.places[path+"."+name] = r.place(m.Name.StartOffset, path+"."+name)
			fill(r, own, "", path+"."+name+".", table, &one)
			merged[name] = one
		}
		if !seen[name] {
			r.order[path] = append(r.order[path], name)
		}
		seen[name] = true
	}
	*field = merged
}
