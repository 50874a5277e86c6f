package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
)

// maxDescription is the longest description of a tool, in bytes.
const maxDescription = 16 << 10

// invisibleEscape finds escapes of invisible characters in JSON. After an escaped backslash they are text: a pattern
// may name such characters.
var invisibleEscape = lazyregexp.New(
	`(?i)(?:^|[^\\])(?:\\\\)*\\u(?:202[a-e]|206[6-9]|00(?:0[0-8bcef]|1[0-9a-f]|[89][0-9a-f]|7f))`)

// errInvisible is the error for a tool whose text differs from what a person who reviews it sees.
var errInvisible = errors.New("what it says of itself has characters that cannot be seen, " +
	"or that turn the direction of text around")

// CheckText refuses a description that is too long, and text with control characters or marks that reverse its
// direction (https://trojansource.codes/): a model reads what a person cannot see.
func (t *Tool) CheckText() error {
	if len(t.Description) > maxDescription {
		return fmt.Errorf("its description has %d bytes, more than %d", len(t.Description), maxDescription)
	}
	if strings.ContainsFunc(t.Description, IsInvisible) || strings.ContainsFunc(t.DisplayName, IsInvisible) {
		return errInvisible
	}
	for _, schema := range [][]byte{t.InputSchema, t.OutputSchema} {
		if bytes.ContainsFunc(schema, IsInvisible) || bytes.Contains(schema, []byte(`\u`)) &&
			invisibleEscape.Match(schema) {
			return errInvisible
		}
	}
	return nil
}

func IsInvisible(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == '\r':
		return false
	case r < 0x20, r >= 0x7f && r <= 0x9f:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
