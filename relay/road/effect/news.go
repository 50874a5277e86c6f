package effect

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/rawjson"
)

// news are the lines of the page that an act changed.
type news struct{ lines []string }

// marks begin the lines that are new, different or gone, and the one that counts what is left out.
var marks = []string{"+ ", "~ ", "- ", "… "}

func newsOf(members []rawjson.Member) (n news) {
	changes, _ := rawjson.Text(rawjson.Get(members, "changes"))
	if changes == "" {
		return n
	}
	for line := range strings.SplitSeq(changes, "\n") {
		line = unbroken(line)
		if !slices.ContainsFunc(marks, func(mark string) bool { return strings.HasPrefix(line, mark) }) {
			line = "~ " + Quote(line) // which no line of a page is without a mark
		}
		n.lines = append(n.lines, line)
	}
	return n
}

// take removes the line that says how a thing is now, and returns what that says behind its reference. A line that says
// nothing there stays: it tells that something is over.
func (n *news) take(head string) (state string, ok bool) {
	if head == "" {
		return "", false
	}
	for i, line := range n.lines {
		state, ok = strings.CutPrefix(line, "~ "+head+" ")
		if ok && !strings.HasSuffix(line, ")") { // it also stands elsewhere
			n.lines = slices.Delete(n.lines, i, i+1)
			return state, true
		}
	}
	return "", false
}

// drop removes lines that say nothing else than what was said already.
func (n *news) drop(said ...string) {
	n.lines = slices.DeleteFunc(n.lines, func(line string) bool { return slices.Contains(said, line) })
}

// tells reports whether a line that is new or different has a thing.
func (n *news) tells(ref string) bool {
	return slices.ContainsFunc(n.lines, func(line string) bool {
		return !strings.HasPrefix(line, "- ") && slices.Contains(referencesIn(line), ref)
	})
}

// field is one that was filled, and what it holds since.
type field struct {
	Ref      string          `json:"ref"`
	On       string          `json:"on"`
	Value    json.RawMessage `json:"value"`
	Asked    json.RawMessage `json:"asked"`
	Verified bool            `json:"verified"`
	Note     string          `json:"note"`
}

// maxOfValue is how many characters of a value are read back that is as it was asked for.
const maxOfValue = 400

// fieldIn says what a field holds: in the words of its own line, where that changed and says it.
func fieldIn(raw json.RawMessage, n *news) string {
	var f field
	if json.Unmarshal(raw, &f) != nil {
		return quoted(raw)
	}
	on := tidy(f.On)
	if on == "" {
		on = tidy(f.Ref)
	}
	head, ref := headOf(on)
	if ref == "" {
		head = on
	}
	said := head + " = " + f.held()
	if state, ok := n.take(head); ok {
		if says(state, f.Value) {
			said = head + " " + state
		} else {
			n.lines = append([]string{"~ " + head + " " + state}, n.lines...)
		}
	}
	n.drop("+ "+said, f.emptied(head))
	var more []string
	if !f.Verified {
		more = append(more, "not verified")
	}
	if f.Asked != nil {
		more = append(more, "asked for "+quoted(f.Asked))
	}
	if f.Note != "" {
		more = append(more, tidy(f.Note))
	}
	if more != nil {
		said += " (" + strings.Join(more, "; ") + ")"
	}
	return said
}

// emptied is the line of a field that holds nothing any more, where that was asked for.
func (f *field) emptied(head string) string {
	if value := string(f.Value); f.Verified && (value == "false" || value == `""`) {
		return "~ " + head
	}
	return ""
}

// held is the value that was read back; of one that nobody may read, dots.
func (f *field) held() string {
	if f.Value == nil {
		return "•••"
	}
	text, ok := rawjson.Text(f.Value)
	if !ok || !f.Verified || len(text) <= maxOfValue {
		return quoted(f.Value)
	}
	return Quote(clip.Runes(text, maxOfValue)) + " (" + strconv.Itoa(len([]rune(text))) + " characters)"
}

// says reports whether the state of a thing is or has a value.
func says(state string, value json.RawMessage) bool {
	if string(value) == "true" {
		words := strings.Fields(state)
		return slices.Contains(words, "checked") || slices.Contains(words, "pressed") ||
			slices.Contains(words, "selected")
	}
	if items, ok := rawjson.Items(value); ok && len(items) > 0 {
		all := strings.Trim(quoted(value), "[]")
		return state == "= "+all || strings.HasPrefix(state, "= "+all+" or ")
	}
	text, ok := rawjson.Text(value)
	if !ok {
		return false
	}
	said := "= " + Quote(text)
	return text != "" && (state == said || strings.HasSuffix(state, " "+said) || strings.HasPrefix(state, said+" ") ||
		strings.Contains(state, " "+said+" "))
}
