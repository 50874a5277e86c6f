package fault

import (
	"net/url"
	"strings"
)

// assigned is a place in a text where a value follows a name: `password=…`, `"token": "…"`, `<pin>…`,
// `{\"key\":\"…\"}`.
type assigned struct {
	name   string
	quote  string // what stands around the name: a quotation mark, behind as many backslashes
	equals bool
	tag    bool
	query  bool // it is a parameter of an address or of a form
	from   int  // where the value begins, before spaces
	level  secrecy
}

// withoutAssigned replaces what follows the name of a credential, in what is a sentence, a console's line, JSON (also
// JSON in a text of JSON, and cut), a header, an address or a form. extension/src/browser/dev/redact.ts does the same.
func withoutAssigned(text string) string {
	var out strings.Builder
	s := scan{text: text, form: isForm(text)}
	done := 0
	for i := 0; i < len(text); i++ {
		if c := text[i]; c != ':' && c != '=' && c != '>' {
			continue
		}
		a, ok := s.at(i)
		if !ok {
			continue
		}
		i = a.from - 1
		start, end, by := s.value(a)
		if by == "" {
			continue
		}
		out.WriteString(text[done:start] + by)
		done, i = end, end-1
	}
	return out.String() + text[done:]
}

type scan struct {
	text  string
	form  bool // all of it is a form's body
	inner int  // until here: within an object that has the name of a credential
	named int  // until here: a member that is called value has a credential, as the one before it says
}

const spaces = " \t"

// at is the assignment whose sign stands at i.
func (s *scan) at(i int) (assigned, bool) {
	t, a := s.text, assigned{from: i + 1}
	switch next := byteAt(t, i+1); t[i] {
	case ':':
		if next == '/' && byteAt(t, i+2) == '/' {
			return a, false
		}
		if next == '=' {
			a.from, a.equals = i+2, true
		}
	case '=':
		if next == '=' || i > 0 && strings.IndexByte("=!<>", t[i-1]) >= 0 {
			return a, false
		}
		if a.equals = true; next == '>' {
			a.from = i + 2
		}
	}
	end := i
	for end > 0 && i-end < 3 && strings.IndexByte(spaces, t[end-1]) >= 0 {
		end--
	}
	quote, slashes := byte(0), 0
	if end > 0 && isQuote(t[end-1]) {
		quote = t[end-1]
		for end--; end > 0 && t[end-1] == '\\'; end-- {
			slashes++
		}
	}
	start := end
	for start > 0 && end-start <= longestName && isOfName(t[start-1], quote != 0) {
		start--
	}
	if start == end || end-start > longestName {
		return a, false
	}
	if a.name = unescaped(t[start:end]); quote != 0 {
		a.quote = strings.Repeat(`\`, slashes) + string(quote)
		if !strings.HasSuffix(t[:start], a.quote) {
			return a, false
		}
	}
	if a.tag = t[i] == '>'; a.tag {
		return s.judged(a, start), start > 0 && t[start-1] == '<' && i == end
	}
	a.query = a.equals && quote == 0 && (start > 0 && strings.IndexByte("?&#", t[start-1]) >= 0 || start == 0 && s.form)
	return s.judged(a, start), true
}

// judged says whether a value of that name is a credential. In a sentence a name may have several words.
func (s *scan) judged(a assigned, start int) assigned {
	a.level = secrecyOf(a.name)
	list := wordsOf(a.name)
	last := ""
	if len(list) > 0 {
		last = list[len(list)-1]
	}
	if a.quote == "" && !a.query && !a.tag {
		phrase := a.name
		for range 2 {
			before := wordBefore(s.text, start)
			if before == "" {
				break
			}
			start -= len(before) + 1
			phrase = before + " " + phrase
			if words().aboutFirst[strings.ToLower(before)] && a.level > never {
				a.level = never
				break
			}
			if a.level < always && secrecyOf(phrase) == always {
				a.level, a.name = always, phrase
			}
		}
	}
	if a.level < always && s.named > a.from && words().valued[last] {
		a.level, s.named = always, 0
	}
	return a
}

// wordBefore is the word before a position, with one space between.
func wordBefore(t string, at int) string {
	if at == 0 || t[at-1] != ' ' {
		return ""
	}
	from := at - 1
	for from > 0 && at-from < 24 && (isUpper(t[from-1]) || isLower(t[from-1]) || isDigit(t[from-1]) ||
		t[from-1] == '-') {
		from--
	}
	return t[from : at-1]
}

// value is what stands where the value begins, and what is to stand there; nothing where it stays.
func (s *scan) value(a assigned) (start, end int, by string) {
	t, at := s.text, a.from
	for !a.query && !a.tag && at < len(t) && at-a.from < 3 && strings.IndexByte(spaces, t[at]) >= 0 {
		at++
	}
	if isMasked(t[at:]) {
		return 0, 0, ""
	}
	slashes := 0
	for byteAt(t, at+slashes) == '\\' {
		slashes++
	}
	inner := s.inner > a.from
	switch c := byteAt(t, at+slashes); {
	case isQuote(c) && !a.query && !a.tag:
		from := at + slashes + 1
		to, closed := closing(t, from, c, slashes)
		if s.names(a, t[from:to], closed) {
			return s.part(t, to+slashes+1)
		}
		if !a.hides(t[from:to], true, inner) {
			return 0, 0, ""
		}
		return from, to, redacted
	case c == '{' && slashes == 0:
		if a.level >= inData {
			s.inner = max(s.inner, at+bracket(t[at:], '{', '}'))
		}
		return 0, 0, ""
	case c == '[' && slashes == 0 && !a.query && a.level == always:
		to := at + bracket(t[at:], '[', ']')
		if inside := strings.Trim(t[at:to], "[] \t\r\n"); inside == "" || inside == "redacted" {
			return 0, 0, ""
		}
		return at, to, a.quote + redacted + a.quote
	}
	return s.bare(a, at, inner)
}

// isMasked reports whether a text begins with a value that was left out before, as dots in its place.
func isMasked(text string) bool {
	rest := strings.TrimLeft(text, "•")
	return len(rest) < len(text) && (rest == "" || strings.IndexByte(" \t\r\n\"'`,;.)]}<&", rest[0]) >= 0)
}

// bare is a value that no quotation marks stand around.
func (s *scan) bare(a assigned, at int, inner bool) (start, end int, by string) {
	t, list := s.text, wordsOf(a.name)
	last := list[max(0, len(list)-1):]
	if len(last) == 1 && a.level == always && !a.query {
		switch {
		case last[0] == "cookie":
			if to := at + until(t[at:], "\r\n\"'`"); strings.Contains(t[at:to], "=") {
				return at, to, redacted
			}
		case last[0] == "authorization":
			if to := at + until(t[at:], " \t\r\n\"'`,;"); words().schemes[strings.ToLower(t[at:to])] &&
				byteAt(t, to) == ' ' {
				at = to + 1
				a.equals = true // a word that follows is the value
			}
		case words().lines[last[0]]:
			to := at + until(t[at:], "\r\n\"'`<>{}&,")
			if !words().stay[strings.ToLower(strings.TrimSpace(firstWord(t[at:to])))] && t[at:to] != "" {
				return at, to, redacted
			}
			return 0, 0, ""
		}
	}
	stops := " \t\r\n\"'`<>,;&)]}"
	switch {
	case a.query:
		stops = " \t\r\n\"'`<>&#"
	case a.tag:
		stops = "<"
	}
	to := at + until(t[at:], stops)
	if !a.query && strings.HasPrefix(t[at:], redacted) {
		return 0, 0, ""
	}
	if cut := strings.Index(t[at:to], `\`); cut >= 0 && !a.tag {
		if next := byteAt(t, at+cut+1); next == 'n' || next == 'r' || next == 't' || isQuote(next) || next == '\\' {
			to = at + cut
		}
	}
	if at == to || !a.hides(t[at:to], false, inner) {
		return 0, 0, ""
	}
	if strings.HasSuffix(t[at:to], ":") { // "password: token: …": a name again
		return 0, 0, ""
	}
	return at, to, a.quote + redacted + a.quote
}

// hides reports whether the value of such a name is not told.
func (a assigned) hides(value string, quoted, inner bool) bool {
	lower := strings.ToLower(strings.TrimRight(strings.TrimSpace(value), ".!?"))
	list := wordsOf(a.name)
	if lower == "" || lower == redacted || len(list) == 0 {
		return false
	}
	numeric := strings.Trim(lower, "0123456789.,-+ ") == ""
	switch {
	case inner && (words().inner[list[len(list)-1]] || isGenerated(value, 8)):
		return !numeric && !words().literals[lower]
	case a.level == never, a.level == inAddress && !a.query:
		return a.level == inAddress && (quoted || a.equals) && isGenerated(value, 16)
	case a.query:
		return true
	case words().literals[lower]:
		return false
	case list[len(list)-1] == "tokens" && numeric:
		return false
	case a.level == always:
		return quoted || a.equals || a.tag || a.quote != "" || !words().stay[lower]
	}
	inData := a.quote != "" || a.equals || quoted || a.tag || isGenerated(value, 16)
	return inData && !numeric && !words().stay[lower] && !strings.ContainsAny(lower, " \t\n")
}

// names notes that a member says what the next one is: {"name": "password", "value": "…"}, and the same in a form of
// several parts, whose value stands two lines below.
func (s *scan) names(a assigned, value string, closed bool) (parted bool) {
	list := wordsOf(a.name)
	if !closed || len(list) != 1 || !words().naming[list[0]] || secrecyOf(unescaped(value)) < inData {
		return false
	}
	s.named = a.from + 200
	if end := strings.IndexAny(s.text[a.from:min(len(s.text), a.from+200)], "}>"); end >= 0 {
		s.named = a.from + end
	}
	return a.equals
}

// part is the value of a part of a form, where one begins two lines behind the name.
func (s *scan) part(t string, at int) (start, end int, by string) {
	for _, gap := range []string{"\r\n\r\n", "\n\n", `\r\n\r\n`} {
		if !strings.HasPrefix(t[min(at, len(t)):], gap) {
			continue
		}
		from := at + len(gap)
		to := from + until(t[from:], "\r\n\\")
		if to > from {
			return from, to, redacted
		}
	}
	return 0, 0, ""
}

// closing is where a text in quotation marks ends that stand behind as many backslashes: at the latest with its line.
func closing(t string, from int, quote byte, slashes int) (end int, closed bool) {
	run := 0
	for i := from; i < len(t); i++ {
		switch c := t[i]; {
		case c == '\\':
			run++
			continue
		case c == '\n' || c == '\r':
			return i, false
		case c == quote && (slashes == 0 && run%2 == 0 || slashes > 0 && run == slashes):
			return i - slashes, true
		}
		run = 0
	}
	return len(t), false
}

const longestBracket = 10_000 // bytes that are looked through

// bracket is where a text ends that begins with an opening bracket.
func bracket(t string, opens, closes byte) int {
	deep := 0
	for i := range min(len(t), longestBracket) {
		switch t[i] {
		case opens:
			deep++
		case closes:
			if deep--; deep == 0 {
				return i + 1
			}
		}
	}
	return min(len(t), longestBracket)
}

// until is how many bytes of a text come before one of stops.
func until(t, stops string) int {
	if i := strings.IndexAny(t, stops); i >= 0 {
		return i
	}
	return len(t)
}

func firstWord(t string) string { return t[:until(t, " \t")] }

// isForm tells the body of a form: a=1&b=2.
func isForm(t string) bool {
	name := until(t, "=& \t\r\n\"'{}<>:")
	return name > 0 && byteAt(t, name) == '=' && strings.Contains(t, "&") && !strings.ContainsAny(t, " \t\r\n\"'{}<>")
}

// isOfName tells what a name has in it. One in quotation marks may have spaces.
func isOfName(c byte, quoted bool) bool {
	return isUpper(c) || isLower(c) || isDigit(c) || c >= 0x80 || strings.IndexByte("_-.$[]%@", c) >= 0 ||
		quoted && c == ' '
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

func byteAt(t string, i int) byte {
	if i < 0 || i >= len(t) {
		return 0
	}
	return t[i]
}

// unescaped is a name without the escapes of addresses.
func unescaped(name string) string {
	if !strings.Contains(name, "%") {
		return name
	}
	if plain, err := url.QueryUnescape(name); err == nil {
		return plain
	}
	return name
}
