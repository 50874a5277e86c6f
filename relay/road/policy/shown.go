package policy

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tabrelay/relay/road/call"
)

// What a question shows of arguments at first. Beyond that it shows how they begin and end, and says how much is hidden
// between.
const (
	maxShown   = 3_000 // characters of all values
	firstLines = 40    // names and values, of which each has a line
	lastLines  = 20
	maxOfName  = 100 // characters
	sizeFrom   = 200 // characters of a value from which on its size is said
)

// limits are how many characters of one value are shown: the first with which all of them are no more than maxShown.
var limits = []int{maxShown, 1_500, 600, 300, 120, 60}

// partBytes is how much of arguments is shown at once to whoever opens them.
const partBytes = 64 << 10

// maxForm is how many bytes of arguments a client is asked with; of longer ones it gets the beginnings and the ends.
const maxForm = 16_000

func textBytes(lines []call.Line) (n int) {
	for _, line := range lines {
		for _, piece := range line.Pieces {
			n += len(piece.Text)
		}
	}
	return n
}

// firstShown is what a question shows of arguments before a person opens all of them.
func firstShown(arguments json.RawMessage) call.Shown {
	s := call.Shown{Lines: []call.Line{}}
	var first, last []gist
	skipped, between := 0, 0 // lines, and characters of them
	walk(arguments, false, func(it item) {
		if it.depth == 0 {
			s.Arguments++
		}
		size := it.size()
		s.Characters += size
		s.Secret += it.hides
		if len(first) < firstLines {
			first = append(first, gistOf(it, maxShown))
			return
		}
		last = append(last, gistOf(it, maxShown))
		if len(last) > lastLines {
			gone := last[0]
			last = last[1:]
			skipped++
			open := gone.name.count + gone.value.count // what is secret is counted already
			s.Hidden += open
			between += open + gone.hides
		}
	})
	limit := limits[len(limits)-1]
	for _, one := range limits {
		if charactersShown(first, one)+charactersShown(last, one) <= maxShown {
			limit = one
			break
		}
	}
	add := func(list []gist) {
		for _, g := range list {
			line, hidden := g.line(maxOfName, limit)
			s.Lines = append(s.Lines, line)
			s.Hidden += hidden
		}
	}
	add(first)
	if skipped > 0 {
		gap := note(fmt.Sprintf("… %s with %s hidden …", counted(skipped, "line"), counted(between, "character")))
		s.Lines = append(s.Lines, call.Line{Pieces: []call.Piece{{Kind: call.PieceNote, Text: gap}}})
	}
	add(last)
	s.Summary = summary(s)
	return s
}

func charactersShown(list []gist, most int) (n int) {
	for _, g := range list {
		n += min(g.value.count, most)
	}
	return n
}

// summary says in one line how much there is.
func summary(s call.Shown) string {
	if s.Arguments == 0 {
		return "none"
	}
	text := fmt.Sprintf("%s with %s", thousands(s.Arguments), counted(s.Characters, "character"))
	if s.Secret > 0 {
		text += fmt.Sprintf(", %s of them in secret fields", thousands(s.Secret))
	}
	if s.Hidden > 0 {
		text += fmt.Sprintf("; %s not shown here", counted(s.Hidden, "character"))
	}
	return text
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return thousands(n) + " " + what
}

// thousands writes a number as people read it.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// ends are the beginning and the end of a text, or all of it.
type ends struct {
	head, tail []rune
	count      int
}

// endsOf keeps no more than keep characters at either end.
func endsOf(sent []byte, keep int) (e ends) {
	for r := range characters(sent) {
		e.count++
		if len(e.head) < keep {
			e.head = append(e.head, r)
			continue
		}
		if len(e.tail) == 2*keep {
			e.tail = slices.Delete(e.tail, 0, keep)
		}
		e.tail = append(e.tail, r)
	}
	return e
}

// cut is the text with no more than most characters of it, in one piece or two, and how many are hidden between.
func (e *ends) cut(most int) (head, tail []rune, hidden int) {
	all := append(slices.Clip(e.head), e.tail...)
	if e.count <= most {
		return all, nil, 0
	}
	end := most / 3
	return all[:most-end], all[len(all)-end:], e.count - most
}

// gist is an item with only the ends of long texts.
type gist struct {
	item
	name, value   ends
	named, isText bool
}

func gistOf(it item, keep int) gist {
	g := gist{item: it, name: endsOf(it.name, keep), named: it.name != nil, isText: it.text != nil}
	g.value = endsOf([]byte(it.token), keep)
	if g.isText {
		g.value = endsOf(it.text, keep)
	}
	g.item.name, g.item.text, g.item.token = nil, nil, ""
	return g
}

// line is what a person sees of it, and how many characters of it they do not see.
func (g *gist) line(mostOfName, mostOfValue int) (line call.Line, hidden int) {
	line.Depth = g.depth
	add := func(kind call.PieceKind, text string) {
		if text != "" {
			line.Pieces = append(line.Pieces, call.Piece{Kind: kind, Text: text})
		}
	}
	cut := func(kind call.PieceKind, e *ends, most int, write func([]rune) string) {
		head, tail, gone := e.cut(most)
		add(kind, write(head))
		if gone > 0 {
			add(call.PieceNote, note(fmt.Sprintf("… %s of %s characters hidden …", thousands(gone),
				thousands(e.count))))
			add(kind, write(tail))
		}
		hidden += gone
	}
	switch {
	case g.named:
		whole := append(slices.Clip(g.name.head), g.name.tail...)
		cut(call.PieceName, &g.name, mostOfName, nameText(whole))
		if odd := nonASCII(whole); odd != "" {
			add(call.PieceNote, " "+note("the name has "+odd))
		}
		if g.again {
			add(call.PieceNote, " "+note("the same name again"))
		}
	case g.index > 0:
		add(call.PieceNote, strconv.Itoa(g.index))
	}
	if g.value.count > sizeFrom && g.value.count <= mostOfValue {
		add(call.PieceNote, " "+note(counted(g.value.count, "character")))
	}
	if len(line.Pieces) > 0 {
		add(call.PieceNote, ": ")
	}
	switch {
	case g.secret:
		add(call.PieceNote, "•••• "+note(counted(g.hides, "character")+" hidden: secret field"))
	case g.about != "":
		add(call.PieceNote, note(g.about))
	}
	cut(call.PieceValue, &g.value, mostOfValue, legible)
	if g.isText && g.about == "" {
		add(call.PieceNote, kindOfText(g.value))
	}
	return line, hidden
}

// kindOfText says of a text that reads like something else, or like nothing, that it is one.
func kindOfText(e ends) string {
	text := string(e.head)
	switch {
	case e.count == 0:
		return note("empty text")
	case e.count > 30:
		return ""
	case text == "true", text == "false", text == "null",
		strings.ContainsRune("-0123456789", e.head[0]) && json.Valid([]byte(text)):
		return " " + note("text")
	case strings.TrimSpace(text) == "":
		return note("blanks")
	}
	return ""
}

// nameText is how the parts of a name are written: a plain one as it is, any other one in quotation marks.
func nameText(whole []rune) func([]rune) string {
	if len(whole) > 0 && !slices.ContainsFunc(whole, func(r rune) bool {
		return r == utf8.RuneError || !strings.ContainsRune("_.$-", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return legible
	}
	return func(part []rune) string {
		text := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", note("U+000A"), "\t",
			note("U+0009")).Replace(legible(part))
		return `"` + text + `"`
	}
}

// nonASCII names the characters of a name that are not ASCII, because some of them look like ASCII letters.
func nonASCII(name []rune) string {
	var list []string
	for _, r := range name {
		if one := numbered(r); r > unicode.MaxASCII && unicode.IsLetter(r) && !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	if len(list) > 5 {
		list = append(list[:5], "…")
	}
	return strings.Join(list, " ")
}

// allLines is a part of all lines there are, with the values of secret fields or without: partBytes of text from an
// offset on, and the offset of the next part, 0 after the last one.
func allLines(arguments json.RawMessage, from int, secrets bool) (_ []call.Line, next int) {
	at, lines := 0, []call.Line{}
	walk(arguments, secrets, func(it item) {
		if at >= from+partBytes {
			next = from + partBytes
			return
		}
		g := gistOf(it, math.MaxInt)
		line, _ := g.line(math.MaxInt, math.MaxInt)
		shown := call.Line{Depth: line.Depth, Continues: at < from}
		for _, piece := range line.Pieces {
			begin, end := at, at+len(piece.Text)
			at = end
			piece.Text = piece.Text[runeAt(piece.Text, from-begin):runeAt(piece.Text, from+partBytes-begin)]
			if piece.Text != "" {
				shown.Pieces = append(shown.Pieces, piece)
			}
			if end > from+partBytes {
				next = from + partBytes
			}
		}
		if len(shown.Pieces) > 0 {
			lines = append(lines, shown)
		}
	})
	return lines, next
}

// runeAt is the first beginning of a character at an offset or after it.
func runeAt(text string, at int) int {
	at = min(max(at, 0), len(text))
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

// ShowAll puts all lines of a question's arguments in place of those that hide some. secrets says that they have the
// values of secret fields.
func ShowAll(q *call.Approval, lines []call.Line, secrets bool) {
	if q.Shown.Lines, q.Shown.Hidden = lines, 0; secrets {
		q.Shown.Secret = 0
	}
	q.Shown.Summary = summary(q.Shown)
}

// LinesText writes lines for a terminal: each of an agent's own lines begins where no line of the relay does.
func LinesText(lines []call.Line) string {
	var b strings.Builder
	for i, line := range lines {
		indent := strings.Repeat("  ", 1+min(line.Depth, deepest))
		if i > 0 && !line.Continues {
			b.WriteByte('\n')
		}
		if !line.Continues {
			b.WriteString(indent)
			if line.Depth > deepest {
				b.WriteString(note("level "+strconv.Itoa(line.Depth)) + " ")
			}
		}
		for _, piece := range line.Pieces {
			b.WriteString(strings.ReplaceAll(piece.Text, "\n", "\n"+indent+"| "))
		}
	}
	return b.String()
}

// deepest is how far lines are indented; further ones say how deep they are.
const deepest = 12
