package review

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Legible makes text safe to look at: whatever a terminal would obey, whatever turns the direction of text around, and
// whatever cannot be seen is spelled out as \u{…}, and bytes that are not UTF-8 as \x….. Line feeds and tabs stay.
// Otherwise code could look other than it is (https://trojansource.codes/).
func Legible(text string) string {
	if !strings.ContainsFunc(text, hidden) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\r' && strings.HasPrefix(text[i+1:], "\n"): // how some editors end lines
		case hidden(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// hidden reports what is not there for the eye. Fillers are letters that show nothing.
func hidden(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case '\u115f', '\u1160', '\u3164', '\uffa0', '\u2800', '\u034f', '\u17b4', '\u17b5':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Variation_Selector) ||
		unicode.Is(unicode.Zs, r) && r != ' '
}
