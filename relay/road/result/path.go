package result

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/fault"
)

// pathForm is how a path is written: members by name, from the outside in.
var pathForm = lazyregexp.New(`^(\.[a-zA-Z_]\w*)+$`)

// maxPath bounds a path; nothing nests that deep.
const maxPath = 1024

// CheckPath says what is wrong with how a path is written, before anything is run for it. Empty is no path.
func CheckPath(path string) *fault.Error {
	if path == "" || len(path) <= maxPath && pathForm.MatchString(path) {
		return nil
	}
	return wrongPath(fault.TypeInvalidPathSyntax, fmt.Sprintf("%.80q is not a path", path),
		"Write the names of members with a dot before each, such as .data.items.")
}

// step leads from a value into it: to a member, or to an item when name is nil.
type step struct {
	name  *string
	index int
}

// way is the steps of a path that is written correctly.
func way(path string) (steps []step) {
	if path == "" {
		return nil
	}
	for name := range strings.SplitSeq(path[1:], ".") {
		steps = append(steps, step{name: &name})
	}
	return steps
}

// path writes steps as a path, and reports whether there is one: items have none.
func path(steps []step) (string, bool) {
	var b strings.Builder
	for _, s := range steps {
		if s.name == nil || !pathForm.MatchString("."+*s.name) || strings.Contains(*s.name, ".") {
			return "", false
		}
		b.WriteString("." + *s.name)
	}
	return b.String(), b.Len() <= maxPath
}

// query writes steps as a jq expression.
func query(steps []step) string {
	var b strings.Builder
	for _, s := range steps {
		switch {
		case s.name == nil:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case pathForm.MatchString("."+*s.name) && !strings.Contains(*s.name, "."):
			b.WriteString("." + *s.name)
		default:
			quoted, _ := json.Marshal(*s.name) // a string always encodes
			b.WriteString("[" + string(quoted) + "]")
		}
	}
	if text := b.String(); strings.HasPrefix(text, ".") {
		return text
	}
	return "." + b.String()
}

// get returns what the steps lead to.
func get(doc json.RawMessage, steps []step) (json.RawMessage, *fault.Error) {
	for i, s := range steps {
		var next json.RawMessage
		if s.name == nil {
			if items, _ := rawjson.Items(doc); s.index < len(items) {
				next = items[s.index]
			}
		} else {
			members, _ := rawjson.Members(doc)
			if next = rawjson.Get(members, *s.name); next == nil {
				return nil, missing(steps[:i+1], members)
			}
		}
		doc = next
	}
	return doc, nil
}

func missing(steps []step, members []rawjson.Member) *fault.Error {
	hint := "There is no object there that could have members."
	if len(members) > 0 {
		hint = "There are: " + names(members) + "."
	}
	return wrongPath(fault.TypePathNotFound, "There is nothing at "+query(steps), hint)
}

// put returns doc with another value where the steps lead, which must be a place that get found.
func put(doc json.RawMessage, steps []step, value json.RawMessage) json.RawMessage {
	if len(steps) == 0 {
		return value
	}
	s, rest := steps[0], steps[1:]
	if s.name == nil {
		items, _ := rawjson.Items(doc)
		items[s.index] = put(items[s.index], rest, value)
		return rawjson.List(items)
	}
	members, _ := rawjson.Members(doc)
	for i := len(members) - 1; i >= 0; i-- { // the last of a name counts
		if members[i].Name == *s.name {
			members[i].Value = put(members[i].Value, rest, value)
			break
		}
	}
	return rawjson.Join(members)
}

// names lists the first members, for hints.
func names(members []rawjson.Member) string {
	const most = 12
	var list []string
	for i, m := range members {
		if i == most {
			list = append(list, fmt.Sprintf("and %d more", len(members)-most))
			break
		}
		list = append(list, fmt.Sprintf("%.40s", m.Name))
	}
	return strings.Join(list, ", ")
}

func wrongPath(kind fault.Type, message, hint string) *fault.Error {
	return fault.New(fault.ValidationError, message, fault.WithHint(hint), fault.WithType(kind))
}
