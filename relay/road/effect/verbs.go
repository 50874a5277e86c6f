package effect

import (
	"encoding/json"
	"strings"
)

// verb is what was done, in words before what it was done to, and without that.
type verb struct{ to, alone string }

var verbs = map[string]verb{
	"click":   {"clicked", "clicked"},
	"fill":    {"filled", "filled"},
	"press":   {"pressed keys in", "pressed keys"},
	"type":    {"typed in", "typed"},
	"hover":   {"hovered over", "hovered"},
	"drag":    {"dragged", "dragged"},
	"scroll":  {"scrolled", "scrolled the page"},
	"select":  {"selected text of", "selected text"},
	"upload":  {"gave files to", "gave files"},
	"unknown": {"did something to", "did something"},
}

// verbOf is what a call of a tool does.
func verbOf(tool string, arguments json.RawMessage) verb {
	var how struct {
		Action string
		Text   *string
	}
	_ = json.Unmarshal(arguments, &how) // they were checked before the call
	switch {
	case tool == "pointer":
		tool = how.Action
	case tool == "press" && how.Text != nil:
		tool = "type"
	}
	if known, ok := verbs[tool]; ok {
		return known
	}
	return verbs["unknown"]
}

// done says what was done to what. Where nothing but the state of that is different, it is said here, behind an arrow.
func (v verb) done(on string, news *news) string {
	if on == "" {
		return v.alone
	}
	said := v.to + " " + on
	head, _ := headOf(on)
	if state, ok := news.take(head); ok {
		said += " → " + strings.TrimSpace(state)
	}
	return said
}
