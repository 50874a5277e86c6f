package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
)

// Right is what one setting, or the things of one kind, let agents do: T is what it belongs to.
type Right[T any] struct {
	Keys  []string // as the documents list them
	name  string   // in the database
	of    func(*T) json.RawMessage
	grown func(before, after json.RawMessage) []call.Difference
	bound func(target *T, before json.RawMessage)
}

// NewRight is a right that is kept under a name as a V; what an older database does not have is a zero V. grows says
// what the setting of a key was and is, both empty when it grants no more than before. bound takes back what it grants
// beyond that.
func NewRight[T, V any](name, key string, of func(T) V, grows func(before, after V) (was, is string),
	bound func(target *T, before V)) Right[T] {
	return Right[T]{[]string{key}, name, func(t *T) json.RawMessage { return rawjson.MustEncode(of(*t)) },
		func(before, after json.RawMessage) []call.Difference {
			if was, is := grows(kept[V](before), kept[V](after)); is != "" {
				return []call.Difference{{What: key, Before: was, After: is}}
			}
			return nil
		}, func(target *T, before json.RawMessage) { bound(target, kept[V](before)) }}
}

// kept is what a database has of a right.
func kept[V any](text json.RawMessage) (value V) {
	if json.Unmarshal(text, &value) != nil {
		return *new(V) // it has none, or one of another form
	}
	return value
}

// Switch is true or false, of which one grants more. Kept is whether it differs from what it was before it was kept.
func Switch[T any](name, key string, more, unkept bool, of func(*T) *bool) Right[T] {
	grew := func(before, after bool) bool { return before != unkept != more && after != unkept == more }
	return NewRight(name, key, func(t T) bool { return *of(&t) != unkept }, func(before, after bool) (was, is string) {
		if !grew(before, after) {
			return "", ""
		}
		return fmt.Sprint(!more), fmt.Sprint(more)
	}, func(target *T, before bool) {
		if field := of(target); grew(before, *field != unkept) {
			*field = !more
		}
	})
}

// Elsewhere is an address that leads out of this machine: another one grants more, none does not.
func Elsewhere[T any](name, key string, of func(*T) *string) Right[T] {
	return NewRight(name, key, func(t T) string { return *of(&t) }, func(before, after string) (was, is string) {
		if after == before || after == "" {
			return "", ""
		}
		return cmp.Or(before, "none"), after
	}, func(target *T, before string) {
		if field := of(target); *field != "" {
			*field = before
		}
	})
}

// Longer is a list that grants more when something is added to it.
func Longer[T any](name, key string, of func(*T) *[]string) Right[T] {
	return NewRight(name, key, func(t T) []string { return *of(&t) }, func(before, after []string) (was, is string) {
		if len(without(after, before)) == 0 {
			return "", ""
		}
		return listText(before), listText(after)
	}, func(target *T, before []string) { *of(target) = common(before, *of(target)) })
}

// shorter is a list that grants more when something is taken out of it.
func shorter[T any](name, key string, of func(*T) *[]string) Right[T] {
	return NewRight(name, key, func(t T) []string { return *of(&t) }, func(before, after []string) (was, is string) {
		if len(without(before, after)) == 0 {
			return "", ""
		}
		return listText(before), listText(after)
	}, func(target *T, before []string) {
		*of(target) = append(slices.Clone(*of(target)), without(before, *of(target))...)
	})
}

// Laxer is a choice whose values are given from the strictest to the laxest.
func Laxer[T any](name, key string, of func(*T) *string, strictFirst ...string) Right[T] {
	more := func(before, after string) bool {
		was := slices.Index(strictFirst, before)
		return was >= 0 && slices.Index(strictFirst, after) > was
	}
	return NewRight(name, key, func(t T) string { return *of(&t) }, func(before, after string) (was, is string) {
		if !more(before, after) {
			return "", ""
		}
		return before, after
	}, func(target *T, before string) {
		if field := of(target); more(before, *field) {
			*field = before
		}
	})
}

// Others are things by name, each of which grants something when it is new, or another one than before. keep is what is
// kept of one and compared, and text what a person reads of that. keys are for the documents; none: the one given.
func Others[T, V, W any](name, key string, keys []string, of func(*T) *map[string]V, keep func(V) W,
	text func(W) string) Right[T] {
	if keys == nil {
		keys = []string{key}
	}
	return Right[T]{keys, name, func(t *T) json.RawMessage {
		all := map[string]W{}
		for id, one := range *of(t) {
			all[id] = keep(one)
		}
		return rawjson.MustEncode(all)
	}, func(before, after json.RawMessage) (list []call.Difference) {
		was, is := kept[map[string]W](before), kept[map[string]W](after)
		for _, id := range slices.Sorted(maps.Keys(is)) {
			if !reflect.DeepEqual(was[id], is[id]) {
				list = append(list, call.Difference{What: key + "." + id, Before: cmp.Or(text(was[id]), "none"),
					After: text(is[id])})
			}
		}
		return list
	}, func(target *T, before json.RawMessage) {
		was, all := kept[map[string]W](before), maps.Clone(*of(target))
		maps.DeleteFunc(all, func(id string, one V) bool { return !reflect.DeepEqual(was[id], keep(one)) })
		*of(target) = all
	}}
}
