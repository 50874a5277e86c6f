package registry

import "unicode/utf8"

// Tokens estimates how many tokens a text is for a model, without a vocabulary of 2 MB.
// Of the tools that ship it is 6 % more than o200k counts, of scripts other than Latin up to three times as many.
func Tokens[T ~string | ~[]byte](text T) int {
	tenths := 0
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c >= utf8.RuneSelf:
			i += runeBytes(c)
			tenths += 10
			continue
		case isLetter(c):
			end := i + 1
			for end < len(text) && isLetter(text[end]) && !(isUpper(text[end]) && !isUpper(text[end-1])) {
				end++
			}
			tenths += 10 * ((end - i + 8) / 9)
			i = end
			continue
		case isDigit(c):
			end := i + 1
			for end < len(text) && isDigit(text[end]) {
				end++
			}
			tenths += 10 * ((end - i + 2) / 3)
			i = end
			continue
		case c != ' ': // a blank belongs to the word behind it, and to no number
			tenths += 4
		case i+1 < len(text) && isDigit(text[i+1]):
			tenths += 10
		}
		i++
	}
	return (tenths + 9) / 10
}

func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isLetter(c byte) bool { return isUpper(c) || c >= 'a' && c <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// runeBytes is the length of the UTF-8 sequence that a byte begins.
func runeBytes(first byte) int {
	switch {
	case first >= 0xf0:
		return 4
	case first >= 0xe0:
		return 3
	}
	return 2
}
