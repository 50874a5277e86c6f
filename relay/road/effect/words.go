package effect

import (
	"encoding/json"
	"iter"
	"strings"
	"unicode"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/rawjson"
)

var (
	refLike = lazyregexp.New(`\[(\s*(?:f\d+)?e\d)`)
	escapes = strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`)
)

// Quote is a text of the page between quotes, in which it can imitate neither a line nor a reference: as the extension
// writes it in a look (extension/src/browser/words.ts).
func Quote(text string) string {
	text = escapes.Replace(legible(text))
	return `"` + refLike.ReplaceAllString(text, `\[$1`) + `"`
}

// legible is a text without characters that nobody sees; its line breaks are all of one kind.
func legible(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n").Replace(text)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case unicode.Is(unicode.Cc, r), isTurn(r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, text)
}

// isTurn reports whether a character changes the direction in which those around it are read.
func isTurn(r rune) bool {
	return r == '\u061c' || r == '\u200e' || r == '\u200f' || r >= '\u202a' && r <= '\u202e' ||
		r >= '\u2066' && r <= '\u2069'
}

// unbroken is a line that the extension wrote. It has no line break: one that comes all the same begins no line.
func unbroken(line string) string { return strings.ReplaceAll(legible(line), "\n", " ") }

// tidy is a text of the extension's own, in which words of the page stand in quotes already.
func tidy(text string) string { return strings.TrimSpace(unbroken(text)) }

// address is a URL as a look shows it, in which nothing can pass for a quote or a reference.
func address(url string) string {
	url = strings.NewReplacer("[", "%5B", `"`, "%22", " ", "%20", "\n", "%0A").Replace(legible(url))
	return strings.ReplaceAll(url, "\u00a0", "%C2%A0")
}

// plain is a number or a word of JSON.
func plain(raw json.RawMessage) string {
	if raw == nil {
		return "?"
	}
	return quoted(raw)
}

// quoted is any value with its texts in quotes, as those of a page.
func quoted(raw json.RawMessage) string {
	if text, ok := rawjson.Text(raw); ok {
		return Quote(text)
	}
	var parts []string
	if items, ok := rawjson.Items(raw); ok {
		for _, one := range items {
			parts = append(parts, quoted(one))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	if members, ok := rawjson.Members(raw); ok {
		for _, one := range members {
			parts = append(parts, word(one.Name)+" "+quoted(one.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return unbroken(string(raw))
}

var plainWord = lazyregexp.New(`^[A-Za-z][A-Za-z0-9]*$`)

// word is a name of a member: as it is, where it is one word.
func word(name string) string {
	if plainWord.MatchString(name) {
		return name
	}
	return Quote(name)
}

var reference = lazyregexp.New(`^\[((?:f\d+)?e\d+)\]`)

// headOf is how the line of a thing begins, up to its reference: what stands behind changes with its state.
func headOf(line string) (head, ref string) {
	for at, ref := range references(line) {
		return line[:at+len(ref)+2], ref
	}
	return "", ""
}

// referencesIn are the references that a line has.
func referencesIn(line string) (refs []string) {
	for _, ref := range references(line) {
		refs = append(refs, ref)
	}
	return refs
}

// references yields the references of a line, and where each begins: what stands in quotes is the page's.
func references(line string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		inQuotes := false
		for i := 0; i < len(line); i++ {
			switch {
			case inQuotes && line[i] == '\\':
				i++
			case line[i] == '"':
				inQuotes = !inQuotes
			case !inQuotes && line[i] == '[':
				if found := reference.FindStringSubmatch(line[i:]); found != nil && !yield(i, found[1]) {
					return
				}
			}
		}
	}
}
