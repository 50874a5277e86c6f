package config

import (
	"maps"
	"regexp"

	"github.com/tailscale/hujson"
)

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
		seen[name] = true
	}
	*field = merged
}
