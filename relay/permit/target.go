package permit

import (
	"errors"
	"fmt"
	"strings"

	"tabrelay/relay/fault"
)

// ErrTarget is that a rule is about nothing that exists.
var ErrTarget = errors.New("no such target")

// Spelled is the one spelling of a target, whether or not it exists.
func Spelled(text string) string {
	if spelled, err := target(text, nil); err == nil {
		return spelled
	}
	return text
}

// Target is the one spelling of what a rule is about. Its error is an [ErrTarget] with a suggestion.
func (p *Permits) Target(text string) (string, error) { return target(text, p.options.Known) }

// target checks a target: the default, an origin, or a name that known knows.
func target(text string, known func(string) (bool, string)) (string, error) {
	switch {
	case text == Default, text == "all", text == "*":
		return Default, nil
	case strings.Contains(text, "://"):
		return originTarget(text)
	case known == nil:
		return text, nil
	}
	exists, suggestion := known(text)
	if exists {
		return text, nil
	}
	if suggestion != "" {
		suggestion = "; did you mean " + suggestion + "?"
	}
	return "", fmt.Errorf("%w: %q is neither a tool nor a plugin, nor an origin such as https://example.org, nor default%s", ErrTarget, fault.Sanitize(text), suggestion)
}
