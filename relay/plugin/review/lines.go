package review

import "strings"

const (
	// longLine is how long a line may be before code counts as squeezed together by a bundler, in bytes.
	longLine = 200
	// fullLine is where a list of arguments or items is broken, in bytes.
	fullLine = 100
	// longExpression is how far the end of a regular expression is looked for, in bytes: a slash that is none must not
	// cost a look at all that follows.
	longExpression = 2000
	// deepest is how many levels are indented at the most.
	deepest = 24
)

// Lines writes squeezed code on many lines, for a person. It only ever adds line feeds and indentation: nothing is
// parsed, renamed or left out, so nothing can hide from it, and where it misjudges what a character means a line ends
// in an odd place. It takes time in proportion to the code. Code with lines of an ordinary length stays as it is.
func Lines(code string) string {
	squeezed := false
	for line := range strings.SplitSeq(code, "\n") {
		squeezed = squeezed || len(line) > longLine
	}
	if !squeezed {
		return code
	}
	l := &liner{code: code}
	l.out.Grow(len(code) + len(code)/4)
	for l.at < len(code) {
		l.step()
	}
	return l.out.String()
}

// liner walks over code.
type liner struct {
	code  string
	at    int
	out   strings.Builder
	width int    // of the line so far
	open  []byte // brackets that are open; ` for a template's ${
	last  byte   // the last character that was no blank
	word  string // the word before at, when last belongs to one
}

// step takes the next character, or a whole text, comment or regular expression.
func (l *liner) step() {
	c := l.code[l.at]
	switch {
	case c == '"' || c == '\'':
		l.take(l.quoted(c))
	case c == '`':
		l.take(l.template(l.at + 1))
	case c == '/' && l.follows("//"):
		l.take(l.until("\n", l.at+2))
	case c == '/' && l.follows("/*"):
		l.take(l.until("*/", l.at+2))
	case c == '/' && l.expects():
		l.take(l.regexp())
	case c == '{' || c == '(' || c == '[':
		l.open = append(l.open, c)
		l.take(l.at + 1)
		if c == '{' {
			l.end()
		}
	case c == '}' || c == ')' || c == ']':
		l.shut(c)
	case c == ';' && l.inside() == '{', c == ',' && (l.inside() == '{' || l.width > fullLine):
		l.take(l.at + 1)
		l.end()
	default:
		l.take(l.at + 1)
	}
}

// shut takes a closing bracket.
func (l *liner) shut(c byte) {
	inside := l.inside()
	if len(l.open) > 0 {
		l.open = l.open[:len(l.open)-1]
	}
	switch {
	case c == '}' && inside == '`':
		l.take(l.template(l.at + 1))
	case c == '}':
		if l.last != '{' {
			l.end()
		}
		l.take(l.at + 1)
		if l.at < len(l.code) && !strings.ContainsRune(",;).(]}`", rune(l.code[l.at])) {
			l.end()
		}
	default:
		l.take(l.at + 1)
	}
}

// inside is the innermost open bracket. The outermost level counts as a block.
func (l *liner) inside() byte {
	if len(l.open) == 0 {
		return '{'
	}
	return l.open[len(l.open)-1]
}

// take copies up to a place.
func (l *liner) take(to int) {
	text := l.code[l.at:to]
	l.out.WriteString(text)
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		l.width = len(text) - i - 1
	} else {
		l.width += len(text)
	}
	c := text[len(text)-1]
	switch {
	case len(text) == 1 && isWord(c):
		if !isWord(l.last) {
			l.word = ""
		}
		if len(l.word) < 16 { // no keyword is longer
			l.word += text
		}
	case strings.TrimSpace(text) != "":
		l.word = ""
	}
	if c > ' ' {
		l.last = c
	}
	l.at = to
}

// end ends the line, unless it is empty or ends here anyhow.
func (l *liner) end() {
	rest := strings.TrimLeft(l.code[l.at:min(len(l.code), l.at+2)], " \t\r")
	if l.width == 0 || rest == "" && l.at >= len(l.code) || strings.HasPrefix(rest, "\n") {
		return
	}
	depth := 0
	for _, c := range l.open[:min(len(l.open), deepest)] {
		if c == '{' {
			depth++
		}
	}
	if l.at < len(l.code) && l.code[l.at] == '}' && depth > 0 && l.inside() == '{' && l.last == '{' {
		return // an empty block stays together
	}
	l.out.WriteByte('\n')
	l.out.WriteString(strings.Repeat("  ", depth))
	l.width = 2 * depth
}

func (l *liner) follows(text string) bool { return strings.HasPrefix(l.code[l.at:], text) }

// until is the place after the next occurrence of mark, or the end.
func (l *liner) until(mark string, from int) int {
	i := strings.Index(l.code[min(from, len(l.code)):], mark)
	if i < 0 {
		return len(l.code)
	}
	return min(from, len(l.code)) + i + len(mark)
}

// quoted is the place after a text in quotes, or after its line when it is not closed there.
func (l *liner) quoted(quote byte) int {
	for i := l.at + 1; i < len(l.code); i++ {
		switch l.code[i] {
		case '\\':
			i++
		case quote, '\n':
			return i + 1
		}
	}
	return len(l.code)
}

// template is the place after a template, or after the next ${ in it, which is then open.
func (l *liner) template(from int) int {
	for i := from; i < len(l.code); i++ {
		switch {
		case l.code[i] == '\\':
			i++
		case l.code[i] == '`':
			return i + 1
		case strings.HasPrefix(l.code[i:], "${"):
			l.open = append(l.open, '`')
			return i + 2
		}
	}
	return len(l.code)
}

// regexp is the place after a regular expression, or after a lone slash.
func (l *liner) regexp() int {
	class := false
	for i := l.at + 1; i < min(len(l.code), l.at+longExpression) && l.code[i] != '\n'; i++ {
		switch l.code[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return i + 1
			}
		}
	}
	return l.at + 1
}

// expects reports whether a value comes next, so that a slash begins a regular expression. After a closing bracket it
// mostly divides.
func (l *liner) expects() bool {
	switch {
	case l.last == ')' || l.last == ']' || l.last == '}' || l.last == '"' || l.last == '\'' || l.last == '`':
		return false
	case isWord(l.last):
		switch l.word {
		case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "do", "else", "await", "yield",
			"instanceof":
			return true
		}
		return false
	}
	return true
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
