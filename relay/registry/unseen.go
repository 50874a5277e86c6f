package registry

import (
	"bytes"
	"errors"
	"regexp"
	"strings"

	"tabrelay/relay/plugin"
)

// unseenEscape finds, in JSON, the same characters written as escapes.
var unseenEscape = regexp.MustCompile(`(?i)\\u(?:202[a-e]|206[6-9]|00(?:0[0-8bcef]|1[0-9a-f]|[89][0-9a-f]|7f))`)

// errUnseen is what becomes of a tool that says something other than what a person who reviews it sees.
var errUnseen = errors.New("what it says of itself has characters that cannot be seen, or that turn the direction of text around")

// legible refuses tools whose words have control characters or marks that turn text around (https://trojansource.codes/):
// a model reads on where a person sees nothing.
func legible(spec *plugin.Tool) error {
	if strings.ContainsFunc(spec.Description, unseen) || strings.ContainsFunc(spec.DisplayName, unseen) {
		return errUnseen
	}
	for _, schema := range [][]byte{spec.InputSchema, spec.OutputSchema} {
		if bytes.ContainsFunc(schema, unseen) || bytes.Contains(schema, []byte(`\u`)) && unseenEscape.Match(schema) {
			return errUnseen
		}
	}
	return nil
}

func unseen(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == '\r':
		return false
	case r < 0x20, r >= 0x7f && r <= 0x9f:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
