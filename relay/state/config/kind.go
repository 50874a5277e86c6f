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

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/match"
	"tabrelay/relay/lib/rawjson"
)

// Kind is what values a setting accepts.
type Kind struct {
	accepts string                                    // completes the sentence "expected …"
	schema  map[string]any                            // the JSON Schema of the values
	set     func(field any, raw []byte) bool          // stores a JSON value in what field points to, if it is accepted
	env     func(text string) (raw []byte)            // makes JSON of a variable of the environment; nil: it is JSON
	fill    func(*reader, any, string, *hujson.Value) // in place of set, of a section
	secret  bool                                      // what stands in its place is never repeated
	hidden  bool                                      // nor are the values of its members shown
	members []Entry                                   // of things by name, what can be set of one
	hides   []string                                  // those members whose values are hidden
}

// Unrepeated is a kind of which a mistake does not repeat what was written: it may be a secret.
func (k Kind) Unrepeated() Kind {
	k.secret = true
	return k
}

// Hidden is a kind of which the values of members are never shown.
func (k Kind) Hidden() Kind {
	k.secret, k.hidden = true, true
	return k
}

// fromText makes JSON of what people write into a variable of the environment.
func (k Kind) fromText(text string) []byte {
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

// KindOf is the kind of the values of T that are valid; nil: all are.
func KindOf[T any](accepts string, schema map[string]any, valid func(T) bool) Kind {
	return Kind{accepts: accepts, schema: schema, set: func(field any, raw []byte) bool {
		value, ok := decode[T](raw)
		if ok = ok && (valid == nil || valid(value)); ok {
			*field.(*T) = value
		}
		return ok
	}}
}

var anyString = map[string]any{"type": "string"}

// Closed is the schema of an object that may have these members only.
func Closed(properties map[string]any) map[string]any {
	return map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
}

func quoted(text string) []byte {
	b, _ := json.Marshal(text) // a string always encodes
	return b
}

// Text says which strings are accepted. The zero value is every string.
type Text struct {
	Accepts func(string) bool
	What    string // completes the sentence "expected …"; empty: "a string"
	Pattern string // for the schema; empty: none
}

// Valid reports whether a string is accepted.
func (t Text) Valid(s string) bool { return t.Accepts == nil || t.Accepts(s) }

func (t Text) schema() map[string]any {
	s := map[string]any{"type": "string"}
	if t.Pattern != "" {
		s["pattern"] = t.Pattern
	}
	return s
}

// String is a string.
func String(t Text) Kind {
	k := KindOf(cmp.Or(t.What, "a string"), t.schema(), t.Valid)
	k.env = quoted
	return k
}

// Optional also accepts the empty string.
func Optional(t Text) Kind {
	valid := t.Valid
	t.Accepts = func(s string) bool { return s == "" || valid(s) }
	t.What += ", or an empty string"
	if t.Pattern != "" {
		t.Pattern = "^$|" + t.Pattern
	}
	return String(t)
}

// ownAddress is the relay's own one. For other machines there is another.
var ownAddress = Text{What: loopback.What + " (other machines: see remote.listen)", Accepts: loopback.Accepts}

// absoluteFile is the path of a file.
var absoluteFile = Text{What: "the absolute path of a file", Accepts: filepath.IsAbs}

// Receiver is where something is posted to.
var Receiver = Text{
	What: "an https address, or an http address of this machine",
	Accepts: func(s string) bool {
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
			return false
		}
		ip, err := netip.ParseAddr(u.Hostname())
		own := u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
		return u.Hostname() != "" && (u.Scheme == "https" || u.Scheme == "http" && own)
	},
}

// networkAddress is one that other machines may reach.
var networkAddress = Text{
	What: "an IP address with a port, for example 0.0.0.0:7719",
	Accepts: func(s string) bool {
		_, err := netip.ParseAddrPort(s)
		return err == nil
	},
}

var loopback = Text{
	What: "a loopback address with a port, for example 127.0.0.1:7717",
	Accepts: func(s string) bool {
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

// AbsolutePath is the path of a folder.
var AbsolutePath = Text{What: "the absolute path of a folder", Accepts: filepath.IsAbs}

var extensionID = Text{
	What:    "an extension id: 32 letters from a to p",
	Pattern: "^[a-p]{32}$",
	Accepts: lazyregexp.New(`^[a-p]{32}$`).MatchString,
}

var webOrigin = Text{
	What:    "an origin, for example http://localhost:6274",
	Pattern: "^[a-z][a-z0-9+.-]*://[^/?#]+$",
	Accepts: func(s string) bool {
		u, err := url.Parse(s)
		return err == nil && u.Host != "" && s == u.Scheme+"://"+u.Host
	},
}

var pattern = Text{
	What: "a regular expression (RE2) of at most 256 characters",
	Accepts: func(s string) bool {
		_, err := regexp.Compile(s)
		return err == nil && s != "" && len(s) <= 256
	},
}

// MatchPattern says on which pages something works.
var MatchPattern = Text{
	What:    "a match pattern, for example https://wiki.example.org/*",
	Pattern: `^(\*|https?)://[^/]+/`, // for editors; match knows the grammar
	Accepts: func(s string) bool { _, err := match.Parse(s); return err == nil },
}

// PublicHost is a host in the network, with or without a port.
var PublicHost = Text{
	What:    "a host, for example docs.example.org, with a port when it is not 443",
	Pattern: `^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?$`,
	Accepts: func(s string) bool {
		if !regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$`).MatchString(s) {
			return false
		}
		u, err := url.Parse("https://" + s)
		return err == nil && u.Hostname() != ""
	},
}

// Choice is one of a few strings.
func Choice(words ...string) Kind {
	k := KindOf(`one of "`+strings.Join(words, `", "`)+`"`, map[string]any{"type": "string", "enum": words},
		func(s string) bool { return slices.Contains(words, s) })
	k.env = quoted
	return k
}

// Boolean is true or false.
var Boolean = KindOf[bool]("true or false", map[string]any{"type": "boolean"}, nil)

// whole is a whole number within bounds, in units of its own; unit names them.
func whole(least, most, of int64, unit string) Kind {
	return Kind{
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

// Count is a whole number within bounds.
func Count(least, most int64) Kind { return whole(least, most, 1, "") }

// Size is a number of bytes.
func Size(least, most int64) Kind { return whole(least, most, 1, " bytes") }

// Millis is a time in milliseconds.
func Millis(least int64, most time.Duration) Kind {
	return whole(least, most.Milliseconds(), int64(time.Millisecond), " ms")
}

// Decimal is a number within bounds.
func Decimal(least, most float64) Kind {
	return KindOf(fmt.Sprintf("a number from %g to %g", least, most),
		map[string]any{"type": "number", "minimum": least, "maximum": most},
		func(n float64) bool { return n >= least && n <= most })
}

// List is an array of strings; in the environment, separated by commas.
func List(item Text) Kind {
	k := Kind{
		accepts: "a list, each item " + cmp.Or(item.What, "a string"),
		schema:  map[string]any{"type": "array", "items": item.schema()},
		set: func(field any, raw []byte) bool {
			items, ok := decode[[]*string](raw) // pointers, because null must not pass for an empty string
			if !ok || slices.ContainsFunc(items, func(s *string) bool { return s == nil || !item.Valid(*s) }) {
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
var object = KindOf("an object", map[string]any{"type": "object"},
	func(raw json.RawMessage) bool { return raw[0] == '{' })

var recoveryAction = Choice("reload_tab", "reinject_adapter", "open_url")

// actions is an object from codes of failures, those it lists, to what the relay does about each.
func actions(codes ...string) Kind {
	properties := map[string]any{}
	for _, code := range codes {
		properties[code] = recoveryAction.schema
	}
	return KindOf("an object with any of "+strings.Join(codes, ", ")+", each "+recoveryAction.accepts,
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

// Named is an object of things by name, each with settings of its own. The reader fills it member by member, so that
// every fault has its line. Names have to match a form, nil: any; fresh makes one of which nothing is set, nil: what
// the table says.
func Named[T any](things string, table []Setting[T], form *lazyregexp.Regexp, fresh func(name string) T) Kind {
	schema := map[string]any{"type": "object", "additionalProperties": tree(table)}
	if form != nil {
		schema["propertyNames"] = map[string]any{"pattern": form.String()}
	}
	// what can be set as a whole is the default, which is empty
	k := KindOf("an object of "+things+" by name", schema, func(all map[string]T) bool { return len(all) == 0 })
	for _, s := range table {
		k.members = append(k.members, s.entry())
		if s.kind.hidden {
			k.hides = append(k.hides, s.key)
		}
	}
	k.fill = func(r *reader, field any, path string, v *hujson.Value) {
		fillSection(r, field, path, v, k.accepts, table, form, fresh)
	}
	return k
}

func fillSection[T any](r *reader, target any, path string, v *hujson.Value, accepts string, table []Setting[T],
	form *lazyregexp.Regexp, fresh func(name string) T) {
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
			if before, there := merged[name]; there && r.over {
				one = before
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
