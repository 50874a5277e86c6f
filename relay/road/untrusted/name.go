package untrusted

import (
	"strings"
	"unicode"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/road/fault"
)

// maxMarks is how many accents one letter can have; more of them would cover the lines around it.
const maxMarks = 2

// Name is what somebody calls something, of at most so many characters, without what would end the quotation marks
// around it, pass for a note of the relay's, or be drawn over the lines above and below.
func Name(name string, most int) string {
	var b strings.Builder
	var last rune
	stacked := 0 // over and under one character
	for _, r := range fault.Sanitize(name) {
		if unicode.In(r, unicode.Mn, unicode.Me) {
			if stacked++; stacked > maxMarks {
				continue
			}
		} else {
			stacked = 0
		}
		r = harmless(r)
		if r != '\'' || last != '\'' { // two of them are drawn like one that ends a quotation
			b.WriteRune(r)
		}
		last = r
	}
	return clip.Runes(strings.TrimSpace(b.String()), most)
}

// harmless is a character of a name as it can stand between quotation marks of ours.
func harmless(r rune) rune {
	switch {
	case strings.ContainsRune("'`‘’‚‛′‵ʹʻʼʽˈ＇❛❜\"“”„‟″‴‶‷⁗ʺ˝ˮ״〝〞〟＂❝❞❠", r):
		return '\''
	case strings.ContainsRune("⟨〈〈", r):
		return '('
	case strings.ContainsRune("⟩〉〉", r):
		return ')'
	}
	return r
}
