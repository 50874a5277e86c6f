package match

import (
	"net/url"
)

// Rule is where a plugin may run: on addresses that one of its patterns covers and none of its exclusions does.
// The zero Rule matches nothing.
type Rule struct {
	includes, excludes []Pattern
}

// NewRule parses the patterns of a rule. It takes any pattern that Parse takes; whoever publishes a plugin also
// checks each include with Narrow.
func NewRule(includes, excludes []string) (Rule, error) {
	in, err := parseAll(includes)
	if err != nil {
		return Rule{}, err
	}
	out, err := parseAll(excludes)
	if err != nil {
		return Rule{}, err
	}
	return Rule{includes: in, excludes: out}, nil
}

func parseAll(texts []string) ([]Pattern, error) {
	patterns := make([]Pattern, 0, len(texts))
	for _, text := range texts {
		p, err := Parse(text)
		if err != nil {
			return nil, err
		}
		patterns = append(patterns, p)
	}
	return patterns, nil
}

// Matches reports whether the rule covers an address. What is no http or https address is not covered.
func (r Rule) Matches(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	return covers(r.includes, u) && !covers(r.excludes, u)
}

func covers(patterns []Pattern, u *url.URL) bool {
	for _, p := range patterns {
		if p.Matches(u) {
			return true
		}
	}
	return false
}
