package match

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
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
	return slices.ContainsFunc(patterns, func(p Pattern) bool { return p.Matches(u) })
}

// Tabs are tabs of a browser: those with some ids, and those that show an address which a pattern covers. The zero
// Tabs are all tabs.
type Tabs struct {
	bound    bool
	ids      []int
	patterns []Pattern
}

// NewTabs reads ids and URL match patterns; none of either are all tabs. Its error is a sentence about one of them.
func NewTabs(texts []string) (Tabs, error) {
	t := Tabs{bound: len(texts) > 0}
	for _, text := range texts {
		if id, err := strconv.Atoi(text); err == nil && id > 0 {
			t.ids = append(t.ids, id)
			continue
		}
		p, err := Parse(text)
		if err != nil {
			return Tabs{}, fmt.Errorf("%.80q is neither the id of a tab nor a URL match pattern: %w", text, err)
		}
		t.patterns = append(t.patterns, p)
	}
	return t, nil
}

// Bound reports whether they are not all tabs.
func (t Tabs) Bound() bool { return t.bound }

// Covers reports whether a tab with an address is one of them. A tab that does not exist yet has the id 0.
func (t Tabs) Covers(id int, address string) bool {
	if !t.bound || id != 0 && slices.Contains(t.ids, id) {
		return true
	}
	u, err := url.Parse(address)
	return err == nil && covers(t.patterns, u)
}
