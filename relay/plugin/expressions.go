package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/grafana/sobek"

	"tabrelay/relay/schema"
)

// browserOnly finds in an expression what browsers know and this engine does not in every place: properties of
// characters, flags of a group, and \B in a class. Other escapes are found so that no half of them is taken for one.
var browserOnly = regexp.MustCompile(`(\\[pP]\{[^{}]*\})|(\\B)|(\(\?[ims]*(?:-[ims]*)?:)|\\.`)

// checkPatterns names the patterns of a schema that are regular expressions neither here nor in JavaScript: nothing
// would ever be checked against them.
func checkPatterns(raw json.RawMessage) (problems []string) {
	for _, p := range schema.Unchecked(raw) {
		if why := notExpression(p.Text); why != "" {
			problems = append(problems, fmt.Sprintf("at %s: %q is not a regular expression: %s", p.Path, p.Text, why))
		}
	}
	return problems
}

// notExpression says why JavaScript cannot compile a pattern; empty when it can, with the flag u or without.
func notExpression(pattern string) string {
	known := browserOnly.ReplaceAllStringFunc(pattern, func(found string) string {
		switch m := browserOnly.FindStringSubmatch(found); {
		case m[1] != "":
			return `\w`
		case m[2] != "":
			return `\b`
		case m[3] != "":
			return "(?:"
		}
		return found
	})
	vm := sobek.New()
	_, err := vm.New(vm.Get("RegExp"), vm.ToValue(known))
	if err == nil {
		return ""
	}
	if _, unicode := vm.New(vm.Get("RegExp"), vm.ToValue(known), vm.ToValue("u")); unicode == nil {
		return ""
	}
	return reason(err)
}

// engineReason is how the engine says what one of its two libraries found; the second says it twice.
var engineReason = regexp.MustCompile(`(?s)\(error parsing regexp: (.*?)\)*$`)

func reason(err error) string {
	text := err.Error()
	if thrown, ok := errors.AsType[*sobek.Exception](err); ok {
		text = thrown.Value().String()
	}
	if found := engineReason.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return strings.TrimPrefix(text, "SyntaxError: ")
}
