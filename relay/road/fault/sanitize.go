package fault

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"tabrelay/relay/lib/clip"
)

// maxMessageBytes is how much of a message or of one hint line is kept.
const maxMessageBytes = 8 << 10

// Sanitize makes one harmless line of any bytes: line breaks of every kind and tabs become one space, control
// characters, bidirectional controls, characters that cannot be seen and bytes that are not UTF-8 are removed, except
// where they shape their neighbours, and it is cut at 8 KiB.
// A run of three backticks would let a message pass for the start of a code block to a reader that looks no
// closer than that, so it becomes three apostrophes.
func Sanitize(message string) string {
	var b strings.Builder
	var last rune // what was written
	gap := false
	for i := 0; i < len(message) && b.Len() <= maxMessageBytes; {
		r, size := utf8.DecodeRuneInString(message[i:])
		switch {
		case shapes(last, r, message[i+size:]):
			b.WriteRune(r)
			last = r
		case isBreak(r):
			if !gap {
				b.WriteByte(' ')
			}
			gap, last = true, ' '
		case r == utf8.RuneError && size == 1, Invisible(r):
		default:
			b.WriteRune(r)
			gap, last = false, r
		}
		i += size
	}
	return clip.Bytes(strings.ReplaceAll(b.String(), "```", "'''"), maxMessageBytes)
}

// Excerpt is the beginning of what somebody sent, on one line, for a message about it.
func Excerpt(text string) string { return Sanitize(clip.Bytes(text, 80)) }

// Visible is a text, such as an address, without the characters that nobody sees; the others stay as they are.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || Invisible(r) || isBreak(r) {
			return -1
		}
		return r
	}, text)
}

// shapes reports whether r, which nobody sees, changes what is seen: a joiner between characters beyond ASCII, as in
// Persian words and emoji, and a selector of emoji or text after one character.
func shapes(last, r rune, rest string) bool {
	switch r {
	case '\u200c', '\u200d':
		next, size := utf8.DecodeRuneInString(rest)
		return last > 0xff && next > 0xff && size > 1 && (last == '\ufe0f' || !Invisible(last)) && !Invisible(next) &&
			!isBreak(next)
	case '\ufe0e', '\ufe0f':
		return last == '#' || last == '*' || last >= '0' && last <= '9' || last > 0xa0 && !Invisible(last) &&
			!isBreak(last)
	}
	return false
}

func isBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\t', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// Invisible reports whether a character has no place in a line of prose: C0, DEL, C1, the characters that change the
// direction of text, and those that nobody sees. An agent reads what is written with the last, a person does not
// (https://www.unicode.org/reports/tr36/, section 3).
func Invisible(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r <= 0x9f:
		return true
	case r < 0xad:
		return false
	// fillers, which are letters by name
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0:
		return true
	// selectors of variants, tags
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0x180b && r <= 0x180f, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// lines splits a hint into its harmless, non-empty lines.
func lines(hint string) []string {
	var out []string
	for line := range strings.SplitSeq(hint, "\n") {
		if line = strings.TrimSpace(Sanitize(line)); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// dropSurrogates removes from JSON text what no decoder could give back: escapes of lone surrogates, which Go
// would turn into U+FFFD, and bytes that are not UTF-8.
func dropSurrogates(raw []byte) []byte {
	if utf8.Valid(raw) && !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		n, keep := unit(raw[i:])
		if keep {
			out = append(out, raw[i:i+n]...)
		}
		i += n
	}
	return out
}

// unit measures what stands at the start of JSON text: a rune, an escape, or a pair of surrogate escapes.
func unit(raw []byte) (n int, keep bool) {
	if raw[0] != '\\' || len(raw) < 2 {
		r, size := utf8.DecodeRune(raw)
		return size, r != utf8.RuneError || size > 1
	}
	high, ok := escape(raw)
	switch {
	case !ok:
		return 2, true
	case high < 0xd800 || high > 0xdfff:
		return 6, true
	case high > 0xdbff:
		return 6, false
	}
	if low, ok := escape(raw[6:]); ok && low >= 0xdc00 && low <= 0xdfff {
		return 12, true
	}
	return 6, false
}

// escape reads \uXXXX.
func escape(raw []byte) (value rune, ok bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	for _, c := range raw[2:6] {
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		if digit < 0 {
			return 0, false
		}
		value = value<<4 | rune(digit)
	}
	return value, true
}
