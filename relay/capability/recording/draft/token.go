package draft

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
)

// token is a value that proves to the site that a request comes from its own page, and where it is read afresh.
type token struct {
	name   string // of the function that reads it
	about  string // where it comes from, in words
	code   string // an expression; signal is there
	main   bool   // only the main world sees it
	prefix string // before it, in its header

	cookies, local, session, globals map[string]any // what a fixture's page has
	request                          map[string]any // what it asks of the site, and what that answers
}

// tokens are those of one draft.
type tokens struct {
	recording *Recording
	list      []*token
}

// of finds the token that a value is; nil when the recording does not show where it came from.
func (t *tokens) of(name, value string) *token {
	prefix := scheme.FindString(value)
	value = strings.TrimPrefix(value, prefix)
	made := t.fromPage(value)
	if made == nil {
		made = t.fromAnswer(value)
	}
	if made == nil {
		return nil
	}
	made.prefix = prefix
	for _, known := range t.list {
		if known.code == made.code && known.prefix == prefix {
			return known
		}
	}
	base := camel("read "+name, "token") + "Value" // no variable of a tool ends like this
	made.name = base
	for n := 2; slices.ContainsFunc(t.list, func(one *token) bool { return one.name == made.name }); n++ {
		made.name = fmt.Sprintf("%s%d", base, n)
	}
	t.list = append(t.list, made)
	return made
}

// fromPage is a token that a page had: stored, or in its markup, else in a global.
func (t *tokens) fromPage(value string) *token {
	var best *token
	rank := 0
	for _, f := range t.recording.found {
		if f.value != value {
			continue
		}
		for _, p := range f.places {
			if made, r := t.at(p, f.page); made != nil && (best == nil || r < rank ||
				r == rank && len(made.code) < len(best.code)) {
				best, rank = made, r
			}
		}
	}
	return best
}

// otherText is a text in a script that a page has besides the one that is looked for.
var otherText = lazyregexp.New(`[:=]\s*(?:"[^"]+"|'[^']+')`)

// at is a token at one place, and how good the place is.
func (t *tokens) at(p Place, page string) (made *token, rank int) {
	quoted, plain := quote(p.Name), plainText(p.Name)
	if p.In != "script" && !isASCIIName(p.Name) || mayBePersonal(p.Name) ||
		slices.ContainsFunc(p.Path, func(s string) bool { return !plainKey(s) }) {
		return nil, 0
	}
	address := pageAddress(page)
	switch p.In {
	case "local", "session":
		area, function := "localStorage", "getLocalStorage"
		if p.In == "session" {
			area, function = "sessionStorage", "getSessionStorage"
		}
		made = &token{about: area + ", where the page keeps it as " + plain,
			code: fmt.Sprintf("stored(%s(%s), %s)", function, quoted, toJSON(append([]string{}, p.Path...)))}
		seed := map[string]any{p.Name: stored(p.Path)}
		if made.local = seed; p.In == "session" {
			made.local, made.session = nil, seed
		}
		return made, 1
	case "cookie":
		return &token{about: "the cookie " + plain, code: "present(getCookie(" + quoted + "))",
			cookies: map[string]any{p.Name: Placeholder}}, 2
	case "meta":
		return &token{about: "a meta tag of the page, " + plain,
			code:    fmt.Sprintf("fromMeta(%s, %s, signal)", quote(address), quoted),
			request: page200(address, `<meta name="`+markup(p.Name)+`" content="`+Placeholder+`">`)}, 3
	case "field":
		return &token{about: "a hidden field of the page, " + plain,
			code:    fmt.Sprintf("fromField(%s, %s, signal)", quote(address), quoted),
			request: page200(address, `<input type="hidden" name="`+markup(p.Name)+`" value="`+Placeholder+`">`)}, 4
	case "script":
		odd := func(r rune) bool { return r < 0x20 || r > 0x7e }
		if otherText.MatchString(p.Name) || strings.ContainsFunc(p.Name, odd) {
			return nil, 0
		}
		return &token{about: "a script in the page, after " + plain,
			code:    fmt.Sprintf("fromScript(%s, %s, signal)", quote(address), quoted),
			request: page200(address, "<script>"+p.Name+Placeholder+p.Name[len(p.Name)-1:]+"</script>")}, 5
	case "global":
		return &token{about: "a global of the page, " + plain, code: "present(getPageGlobal(" + quoted + "))",
			main:    true,
			globals: map[string]any{p.Name: Placeholder}}, 6
	}
	return nil, 0
}

// stored is an entry of a storage that has the placeholder at the end of a path.
func stored(path []string) string {
	if len(path) == 0 {
		return Placeholder
	}
	var value any = Placeholder
	for _, step := range slices.Backward(path) {
		value = map[string]any{step: value}
	}
	return string(toJSON(value))
}

func page200(address, body string) map[string]any {
	return map[string]any{"url": address, "body": "<!doctype html><title>Sample</title>" + body}
}

// pageAddress is where a page is read again: where it was, as far as that says nothing about one thing.
func pageAddress(page string) string {
	u, err := url.Parse(page)
	if err != nil || u.Path == "" {
		return "/"
	}
	if strings.HasPrefix(u.Path, "//") || slices.Contains(generalise(split(u.EscapedPath()), nil), "*") {
		return "/"
	}
	kept := url.Values{}
	for name, values := range u.Query() {
		if len(values) == 1 && isRoute(name, values[0]) {
			kept[name] = values
		}
	}
	if len(kept) > 0 {
		return u.EscapedPath() + "?" + kept.Encode()
	}
	return u.EscapedPath()
}

// fromAnswer is a token that an earlier GET answered as JSON.
func (t *tokens) fromAnswer(value string) *token {
	for _, q := range t.recording.requests {
		if q.method != "GET" || !strings.Contains(q.answer, value) {
			continue
		}
		var answer any
		if json.Unmarshal([]byte(q.answer), &answer) != nil {
			continue
		}
		path := wayTo(answer, value, 0)
		if path == nil || slices.ContainsFunc(path, func(s string) bool { return !plainKey(s) }) ||
			q.url.Path != "/" && strings.HasPrefix(pageAddress(q.url.String())+"?", "/?") {
			continue
		}
		var body any = Placeholder
		for _, step := range slices.Backward(path) {
			body = map[string]any{step: body}
		}
		address := pageAddress(q.url.String())
		return &token{about: "the answer of " + plainText(address),
			code:    fmt.Sprintf("fromAnswer(%s, %s, signal)", quote(address), toJSON(path)),
			request: map[string]any{"url": address, "body": body}}
	}
	return nil
}

func wayTo(value any, text string, depth int) []string {
	object, ok := value.(map[string]any)
	if !ok || depth > 4 {
		return nil
	}
	for key, one := range object {
		if one == text {
			return []string{key}
		}
		if rest := wayTo(one, text, depth+1); rest != nil {
			return append([]string{key}, rest...)
		}
	}
	return nil
}

// readable names of tokens must not clash with what the helpers are called; all of them begin with read.
func (t *tokens) main() bool {
	return slices.ContainsFunc(t.list, func(one *token) bool { return one.main })
}

// quote writes a text as a literal of TypeScript.
func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a text always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

func markup(text string) string {
	return strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;").Replace(text)
}

// plainText is a text of the site for a comment or a description: one short line, and nothing that ends a comment.
func plainText(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return r <= 0x20 || r == 0x2028 ||
			r == 0x2029
	}), " ")
	text = strings.Map(func(r rune) rune {
		if r == '`' || r == '\\' || r < 0x20 || r == 0x7f || r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e ||
			r >= 0x2060 && r <= 0x206f || r == 0xfeff || r == 0xfffd {
			return -1
		}
		return r
	}, text)
	text = strings.ReplaceAll(text, "*/", "* /")
	if runes := []rune(text); len(runes) > 80 {
		text = string(runes[:79]) + "…"
	}
	return text
}
