package fault

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// maxMessageBytes is how much of a message or of one hint line is kept.
const maxMessageBytes = 8 << 10

// Sanitize makes one harmless line of any bytes: line breaks of every kind and tabs become one space, control
// characters, bidirectional controls and bytes that are not UTF-8 are removed, and it is cut at 8 KiB.
// A run of three backticks would let a message pass for the start of a code block to a reader that looks no
// closer than that, so it becomes three apostrophes.
func Sanitize(message string) string {
	var b strings.Builder
	gap := false
	for i := 0; i < len(message) && b.Len() <= maxMessageBytes; {
		r, size := utf8.DecodeRuneInString(message[i:])
		switch {
		case isBreak(r):
			if !gap {
				b.WriteByte(' ')
			}
			gap = true
		case r == utf8.RuneError && size == 1, isControl(r):
		default:
			b.WriteRune(r)
			gap = false
		}
		i += size
	}
	return cut(strings.ReplaceAll(b.String(), "```", "'''"))
}

func isBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\t', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// isControl reports C0, DEL, C1 and the characters that change the direction of text.
func isControl(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r <= 0x9f:
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}

// cut shortens s to maxMessageBytes, the ellipsis included, at the end of a rune.
func cut(s string) string {
	if len(s) <= maxMessageBytes {
		return s
	}
	end := maxMessageBytes - len("…")
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
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
