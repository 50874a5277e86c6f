package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// maxWords bounds, in bytes, what one tool says of itself besides its schemas.
const maxWords = 16 << 10

// unseenEscape finds, in JSON, characters that nobody sees, written as escapes. An escaped backslash begins none: a
// pattern may name such characters.
var unseenEscape = regexp.MustCompile(`(?i)(?:^|[^\\])(?:\\\\)*\\u(?:202[a-e]|206[6-9]|00(?:0[0-8bcef]|1[0-9a-f]|[89][0-9a-f]|7f))`)

// errUnseen is what becomes of a tool that says something other than what a person who reviews it sees.
var errUnseen = errors.New("what it says of itself has characters that cannot be seen, or that turn the direction of text around")

// CheckWords refuses a description that is too long for a conversation, and words with control characters or marks that
// turn text around (https://trojansource.codes/): a model reads on where a person sees nothing.
func (t *Tool) CheckWords() error {
	if len(t.Description) > maxWords {
		return fmt.Errorf("its description has %d bytes, more than %d", len(t.Description), maxWords)
	}
	if strings.ContainsFunc(t.Description, unseen) || strings.ContainsFunc(t.DisplayName, unseen) {
		return errUnseen
	}
	for _, schema := range [][]byte{t.InputSchema, t.OutputSchema} {
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
