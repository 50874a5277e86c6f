package match

import (
	"fmt"
	"net/url"
	"strings"
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

// Site returns the pattern that covers everything on the site of an address: *://host/* or *://host:port/*.
// It is how the address of someone's own installation, given in a setting, widens where a plugin runs.
func Site(address string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%q is not the address of a site; write it as https://example.com/", address)
	}
	pattern := "*://" + u.Host + "/*"
	p, err := Parse(pattern)
	if err != nil {
		return "", err
	}
	if p.subdomains {
		return "", fmt.Errorf("%q names many sites; write the address of one", address)
	}
	return pattern, p.Narrow()
}
