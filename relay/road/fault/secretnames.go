package fault

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The words by which credentials are known, here and in the extension: go generate writes them there, and
// testdata/redact.json has what both have to make of a text.
//
//go:embed secretnames.json
var secretNamesJSON []byte

// Vocabulary is secretnames.json.
type Vocabulary struct {
	Words       []string `json:"words"`      // words of a name that make it that of a credential
	Parts       []string `json:"parts"`      // and what such a word may have in it
	Ends        []string `json:"ends"`       // or at its end
	Phrases     []string `json:"phrases"`    // several words of a name
	Harmless    []string `json:"harmless"`   // that are none, whatever else the name has: "page token"
	Data        []string `json:"data"`       // last words that mean a credential in data, and not in a sentence
	Whole       []string `json:"whole"`      // and names that do so
	Loose       []string `json:"loose"`      // and those that do so in an address alone
	Lines       []string `json:"lines"`      // whose values have several words
	AboutFirst  []string `json:"aboutFirst"` // names that begin so tell something about a credential: maxTokens
	AboutLast   []string `json:"aboutLast"`  // or end so: tokenType
	Stay        []string `json:"stay"`       // words of a sentence, where a value might stand
	Literals    []string `json:"literals"`
	Schemes     []string `json:"schemes"` // of an Authorization header
	Inner       []string `json:"inner"`   // names, in an object that has the name of a credential
	Naming      []string `json:"naming"`  // of the one of two members that names the other
	Valued      []string `json:"valued"`  // and of that other
	Shapes      []string `json:"shapes"`  // credentials that show by their form; groups stay
	MixedShapes []string `json:"mixedShapes"`
}

// wordList is the vocabulary as it is used.
type wordList struct {
	word, data, whole, loose, lines, aboutFirst, aboutLast map[string]bool
	stay, literals, schemes, inner, naming, valued         map[string]bool
	parts, ends, phrases, harmless                         []string
	shapes, mixed                                          []*regexp.Regexp
}

var words = sync.OnceValue(func() *wordList {
	var v Vocabulary
	if err := json.Unmarshal(secretNamesJSON, &v); err != nil {
		panic(err) // a test reads it
	}
	set := func(list []string) map[string]bool {
		m := make(map[string]bool, len(list))
		for _, s := range list {
			m[s] = true
		}
		return m
	}
	compiled := func(list []string) (all []*regexp.Regexp) {
		for _, s := range list {
			all = append(all, regexp.MustCompile(s))
		}
		return all
	}
	return &wordList{
		word: set(v.Words), data: set(v.Data), whole: set(v.Whole), loose: set(v.Loose), lines: set(v.Lines),
		aboutFirst: set(v.AboutFirst), aboutLast: set(v.AboutLast), stay: set(v.Stay), literals: set(v.Literals),
		schemes: set(v.Schemes), inner: set(v.Inner), naming: set(v.Naming), valued: set(v.Valued), parts: v.Parts,
		ends: v.Ends, phrases: v.Phrases, harmless: v.Harmless, shapes: compiled(v.Shapes),
		mixed: compiled(v.MixedShapes),
	}
})

// VocabularyJSON is the vocabulary as it was written, for who writes it elsewhere.
func VocabularyJSON() []byte { return slices.Clone(secretNamesJSON) }

// secrecy is where the value of a name is a credential.
type secrecy int

const (
	never     secrecy = iota
	inAddress         // "code": only in the query of an address, or where the value looks generated
	inData            // "auth": in data, not in a sentence
	always
)

const longestName = 80 // bytes

// secrecyOf judges a name by its words: accessToken, access_token, "access token".
func secrecyOf(name string) secrecy {
	if len(name) < 2 || len(name) > longestName {
		return never
	}
	w := words()
	list := wordsOf(name)
	if len(list) == 0 {
		return never
	}
	last := list[len(list)-1]
	whole := strings.Join(list, " ")
	if w.whole[whole] {
		return inData
	}
	has := func(phrase string) bool { return strings.Contains(" "+whole+" ", " "+phrase+" ") }
	if len(list) > 1 && (w.aboutFirst[list[0]] || w.aboutLast[last] || slices.ContainsFunc(w.harmless, has)) {
		return never
	}
	found := never
	for i, one := range list {
		switch {
		case w.word[one], slices.ContainsFunc(w.parts, func(part string) bool { return strings.Contains(one, part) }),
			slices.ContainsFunc(w.ends, func(end string) bool { return strings.HasSuffix(one, end) }):
			return always
		case w.data[one] && (i == len(list)-1 || w.valued[list[i+1]]):
			found = inData
		case w.loose[one] && len(list) == 1:
			found = max(found, inAddress)
		}
	}
	if slices.ContainsFunc(w.phrases, has) {
		return always
	}
	return found
}

// wordsOf splits a name at what is no letter or digit, and before capitals. A number at the end of a word is none of
// it.
func wordsOf(name string) []string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		if isUpper(c) && i > 0 && (isLower(name[i-1]) || isDigit(name[i-1]) ||
			isUpper(name[i-1]) && i+1 < len(name) && isLower(name[i+1])) {
			b.WriteByte(' ')
		}
		if c < 0x80 && !isUpper(c) && !isLower(c) && !isDigit(c) {
			c = ' '
		}
		b.WriteByte(c)
	}
	list := strings.Fields(strings.ReplaceAll(strings.ToLower(b.String()), "\u017f", "s"))
	for i, one := range list {
		if short := strings.TrimRight(one, digits); short != "" {
			list[i] = short
		}
	}
	return list
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// SecretName reports whether a value with that name, such as an argument's, is taken for a credential whatever it is.
func SecretName(name string) bool { return secrecyOf(unescaped(name)) >= inData }

// withoutShapes replaces credentials that show by their form, whatever stands around them.
func withoutShapes(text string) string {
	for _, shape := range words().shapes {
		text = shape.ReplaceAllString(text, "${1}"+redacted+"${2}")
	}
	for _, shape := range words().mixed {
		text = shape.ReplaceAllStringFunc(text, func(found string) string {
			before := shape.FindStringSubmatch(found)[1]
			value := found[len(before):]
			isBearer := len(before) > 0 && (before[0] == 'b' || before[0] == 'B') && (before[1] == 'e' ||
				before[1] == 'E')
			if words().stay[strings.ToLower(value)] || !isBearer && !isMixed(value) {
				return found // a word: "basic understanding"
			}
			return before + redacted
		})
	}
	return text
}

// isMixed tells what no person writes: digits, or a capital behind a small letter.
func isMixed(value string) bool {
	for i := range len(value) {
		if isDigit(value[i]) || value[i] == '=' || i > 0 && isUpper(value[i]) && isLower(value[i-1]) {
			return true
		}
	}
	return false
}

// isGenerated tells a value of letters and digits of at least some length.
func isGenerated(value string, least int) bool {
	digit, letter := false, false
	for i := range len(value) {
		switch c := value[i]; {
		case isDigit(c):
			digit = true
		case isUpper(c), isLower(c):
			letter = true
		case !strings.ContainsRune("_.~+/=%-", rune(c)):
			return false
		}
	}
	return digit && letter && len(value) >= least
}
