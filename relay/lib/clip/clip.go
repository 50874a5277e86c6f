// Package clip shortens what others wrote, for messages, lists and records.
package clip

import "unicode/utf8"

const ellipsis = "…"

// Runes returns a text, or its first characters with an ellipsis where it has more than most of them.
func Runes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	count := 0
	for i := range text {
		if count == most {
			return text[:i] + ellipsis
		}
		count++
	}
	return text
}

// Bytes returns a text, or its beginning with an ellipsis where it has more than most bytes. The ellipsis counts.
func Bytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := max(most-len(ellipsis), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}
