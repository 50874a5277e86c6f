package config

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"

	"github.com/tailscale/hujson"
)

// section is an object of things by name, each with settings of its own. The reader fills it member by member, so that
// every fault has its line.
type section[T any] struct {
	what  string // the things, after "an object of"
	table func() []setting[T]
	name  *regexp.Regexp      // that each name has to match; nil: any
	fresh func(name string) T // of which nothing is set; nil: what the table says
}

// filler is a kind that the reader fills itself.
type filler interface {
	fill(r *reader, field any, path string, v *hujson.Value)
}

// set only serves the default.
func (k section[T]) set(field any, raw []byte) error {
	var names map[string]json.RawMessage
	if err := json.Unmarshal(raw, &names); err != nil || len(names) > 0 {
		return errors.New("not the empty default")
	}
	return put[map[string]T](field, raw)
}

func (k section[T]) allowed() string     { return "an object of " + k.what + " by name" }
func (k section[T]) env(s string) []byte { return []byte(s) }

func (k section[T]) schema() map[string]any {
	s := map[string]any{"type": "object", "additionalProperties": tree(k.table())}
	if k.name != nil {
		s["propertyNames"] = map[string]any{"pattern": k.name.String()}
	}
	return s
}

func (k section[T]) fill(r *reader, target any, path string, v *hujson.Value) {
	field := target.(*map[string]T)
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		r.fault(v.StartOffset, path, "expected "+k.allowed()+", but got "+excerpt(*v))
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
		case k.name != nil && !k.name.MatchString(name):
			r.fault(m.Name.StartOffset, path+"."+name, "expected a name of lower-case letters, digits, dots, _ and "+
				"hyphens, at most 64")
		case !ok:
			r.fault(m.Value.StartOffset, path+"."+name, "expected an object, but got "+excerpt(m.Value))
		default:
			one := defaults(k.table())
			if k.fresh != nil {
				one = k.fresh(name)
			}
			r.places[path+"."+name] = r.place(m.Name.StartOffset, path+"."+name)
			fill(r, own, "", path+"."+name+".", k.table(), &one)
			merged[name] = one
		}
		seen[name] = true
	}
	*field = merged
}
