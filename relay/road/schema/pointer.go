package schema

import (
	"net/url"
	"strconv"
	"strings"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/lazyregexp"
)

// pointer is a JSON pointer as the library writes it: tokens are percent-encoded on top.
type pointer string

func (p pointer) tokens() []string {
	if p == "" {
		return nil
	}
	tokens := strings.Split(strings.TrimPrefix(string(p), "/"), "/")
	for i, token := range tokens {
		if plain, err := url.PathUnescape(token); err == nil {
			token = plain
		}
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return tokens
}

// find follows the pointer into a decoded document; nil when it leads nowhere.
func find(doc any, tokens []string) any {
	for _, token := range tokens {
		switch at := doc.(type) {
		case map[string]any:
			doc = at[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(at) {
				return nil
			}
			doc = at[i]
		default:
			return nil
		}
	}
	return doc
}

var plainName = lazyregexp.New(`^[A-Za-z_$][A-Za-z0-9_$-]*$`)

// path writes the pointer the way code would: steps[0].click, headers["x y"]. doc tells arrays from objects.
func (p pointer) path(root string, doc any) string {
	b := strings.Builder{}
	b.WriteString(root)
	for _, token := range p.tokens() {
		_, isArray := doc.([]any)
		switch {
		case isArray:
			b.WriteString("[" + token + "]")
		case plainName.MatchString(token):
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(excerpt(token))
		default:
			b.WriteString("[" + quote(token) + "]")
		}
		doc = find(doc, []string{token})
	}
	return clip.Runes(b.String(), 200)
}
