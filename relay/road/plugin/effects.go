package plugin

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
)

// A tool that says nothing of what it does counts as one that may destroy. Where an author left that out, a person can
// say it: what the author did say is never changed.

// Effect is what a tool does to the site, as a person says it.
type Effect string

// The effects of tools.
const (
	Reads    Effect = "read"
	Writes   Effect = "write"
	Destroys Effect = "destroy"
	Unsaid   Effect = ""
)

// annotations are those that mean an effect.
func (e Effect) annotations() Annotations {
	yes, no := true, false
	switch e {
	case Reads:
		return Annotations{ReadOnlyHint: &yes}
	case Writes:
		return Annotations{ReadOnlyHint: &no, DestructiveHint: &no}
	case Destroys:
		return Annotations{ReadOnlyHint: &no, DestructiveHint: &yes}
	}
	return Annotations{}
}

// SaysNothing reports whether the author of a tool left out what it does.
func (t *Tool) SaysNothing() bool {
	return t.Annotations.ReadOnlyHint == nil && t.Annotations.DestructiveHint == nil
}

// Hint is an effect of the tools whose names a pattern has, where * stands for any characters.
type Hint struct {
	Pattern string
	Effect  Effect
}

var patternForm = lazyregexp.New(fmt.Sprintf(`^[a-z0-9_*]{1,%d}$`, maxFullName))

// ValidPattern reports whether a pattern has the form of a tool's name, with * for any characters.
func ValidPattern(pattern string) bool {
	return patternForm.MatchString(pattern)
}

func (h Hint) matches(tool string) bool {
	is, err := path.Match(h.Pattern, tool)
	return err == nil && is
}

// Hinted is the effect that hints give a tool that says nothing of itself: that of the last one which has its name.
func (t *Tool) Hinted(hints []Hint) Effect {
	if !t.SaysNothing() {
		return Unsaid
	}
	for _, h := range slices.Backward(hints) {
		if h.matches(t.Name) {
			return h.Effect
		}
	}
	return Unsaid
}

// Annotate is the plugin with hints: what its tools say of themselves stays. The plugin itself is left as it is.
func (p Plugin) Annotate(hints []Hint) Plugin {
	if len(hints) == 0 {
		return p
	}
	p.Manifest.Tools = slices.Clone(p.Manifest.Tools)
	for i := range p.Manifest.Tools {
		t := &p.Manifest.Tools[i]
		if effect := t.Hinted(hints); effect != Unsaid {
			title := t.Annotations.Title
			idempotent, open := t.Annotations.IdempotentHint, t.Annotations.OpenWorldHint
			t.Annotations = effect.annotations()
			t.Annotations.Title, t.Annotations.IdempotentHint, t.Annotations.OpenWorldHint = title, idempotent, open
		}
	}
	return p
}

// readingWords begin the names of tools that only read; doubtful are words after which that is not certain.
var (
	readingWords = []string{
		"get", "list", "read", "search", "find", "count", "view", "show", "describe", "lookup", "query",
	}
	doubtfulWords = []string{"and", "or", "create", "update", "set", "delete", "remove", "mark", "send", "clear"}
)

// SuggestReading are patterns of tools that say nothing of themselves and whose names say that they read: list_* where
// that holds for all with that beginning, else their names.
func SuggestReading(tools []Tool) (patterns []string) {
	for _, word := range readingWords {
		prefix := word + "_"
		var certain []string
		all := true
		for i := range tools {
			t := &tools[i]
			if !strings.HasPrefix(t.Name, prefix) || !t.SaysNothing() {
				continue
			}
			doubtful := func(word string) bool { return slices.Contains(doubtfulWords, word) }
			if slices.ContainsFunc(strings.Split(t.Name, "_")[1:], doubtful) {
				all = false
			} else {
				certain = append(certain, t.Name)
			}
		}
		if all && len(certain) > 0 {
			certain = []string{prefix + "*"}
		}
		patterns = append(patterns, certain...)
	}
	return patterns
}
