// Package effect writes the answers of the browser's tools as lines of text: first what was done and to what, then what
// changed in the page, then other facts. Text of a page is quoted so that it cannot end the quotes or begin a line.
// docs/browser-acting.md has the grammar.
package effect

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/rawjson"
)

// Lines returns the answer of a browser tool as text. ok is false when output is not an object.
func Lines(tool string, arguments, output json.RawMessage) (text string, ok bool) {
	members, ok := rawjson.Members(output)
	if !ok {
		return "", false
	}
	var w writer
	switch steps, several := rawjson.Items(rawjson.Get(members, "steps")); {
	case tool == "navigate":
		w.arrival(members)
	case tool == "close_tab":
		w.say("closed tab " + plain(rawjson.Get(members, "closed")))
		w.facts(members, "closed")
	case tool == "act" && several:
		w.facts(members, "steps", "outcome") // what is said of all of them
		w.steps(arguments, steps)
	default:
		w.act(verbOf(tool, arguments), members)
	}
	return strings.Join(w.lines, "\n"), true
}

type writer struct {
	lines []string
	later *later // what the steps behind the one that is written changed
}

func (w *writer) say(line string) { w.lines = append(w.lines, line) }

// arrival writes where a tab went, and the snapshot of that page. status and httpStatus are left out when they are
// "complete" and 200.
func (w *writer) arrival(members []rawjson.Member) {
	page, _ := rawjson.Text(rawjson.Get(members, "page"))
	said := []string{"tabId", "url", "title", "page"}
	first := "went to this page"
	if len(headSays(page, members)) < 2 {
		first = "went to " + arrivedAt(members)
	}
	if tab := rawjson.Get(members, "tabId"); tab != nil {
		first += " in tab " + plain(tab)
	}
	w.say(first)
	if status, _ := rawjson.Text(rawjson.Get(members, "status")); status == "complete" {
		said = append(said, "status")
	}
	if string(rawjson.Get(members, "httpStatus")) == "200" {
		said = append(said, "httpStatus")
	}
	w.facts(members, said...)
	w.look(page)
}

// arrivedAt names the page that a tab shows by its title and address.
func arrivedAt(members []rawjson.Member) string {
	first := "page"
	if title, _ := rawjson.Text(rawjson.Get(members, "title")); title != "" {
		first += " " + Quote(title)
	}
	url, _ := rawjson.Text(rawjson.Get(members, "url"))
	return first + " " + address(url)
}

// Before returns the lines of the steps that were done before an act failed. They are the member "done" of data, the
// data of the failure; other is data without it.
func Before(arguments, data json.RawMessage) (text string, other json.RawMessage, ok bool) {
	members, _ := rawjson.Members(data)
	done, ok := rawjson.Items(rawjson.Get(members, "done"))
	if !ok || len(done) == 0 {
		return "", data, false
	}
	var w writer
	w.steps(arguments, done)
	members = slices.DeleteFunc(members, func(one rawjson.Member) bool { return one.Name == "done" })
	if len(members) > 0 {
		other = rawjson.Join(members)
	}
	return strings.Join(w.lines, "\n"), other, true
}

// steps writes the steps of an act that were done, numbered.
func (w *writer) steps(arguments json.RawMessage, done []json.RawMessage) {
	var asked struct{ Steps []json.RawMessage }
	_ = json.Unmarshal(arguments, &asked) // checked against the tool's schema before the call
	after := laterOf(done)
	for i, one := range done {
		members, _ := rawjson.Members(one)
		w.later = &after[i]
		var step json.RawMessage
		var named struct{ Tool string }
		if i < len(asked.Steps) {
			step = asked.Steps[i]
			_ = json.Unmarshal(step, &named)
		}
		at := len(w.lines)
		w.act(verbOf(named.Tool, step), members)
		w.lines[at] = strconv.Itoa(i+1) + ". " + w.lines[at]
	}
}

// act is one act: what was done to what, what changed, and everything else.
func (w *writer) act(verb verb, members []rawjson.Member) {
	news := newsOf(members)
	on, _ := rawjson.Text(rawjson.Get(members, "on"))
	said := []string{"outcome", "on", "changes", "page", "filled"}
	filled, fills := rawjson.Items(rawjson.Get(members, "filled"))
	for _, one := range filled {
		w.say("filled " + fieldIn(one, &news))
	}
	if !fills || len(filled) == 0 {
		w.say(verb.done(tidy(on), &news))
	}
	if string(rawjson.Get(members, "noEffect")) == "true" {
		w.say("noEffect: true")
		said = append(said, "noEffect")
	}
	w.lines = append(w.lines, w.later.left(news.lines)...)
	page, _ := rawjson.Text(rawjson.Get(members, "page"))
	said = append(said, headSays(page, members)...)
	w.focus(members, &news, actedOn(on, filled), &said)
	if verb == verbs["scroll"] && rawjson.Get(members, "position") != nil {
		said = append(said, "scrolled") // where it is now says so
	}
	w.facts(members, said...)
	w.look(page)
}

// actedOn returns a function that reports whether a reference is of what was acted on: of several fields, of the last.
func actedOn(on string, filled []json.RawMessage) func(ref string) bool {
	if len(filled) > 0 {
		var last field
		_ = json.Unmarshal(filled[len(filled)-1], &last) // one that is not as it should be is none
		return func(ref string) bool { return ref == last.Ref }
	}
	return func(ref string) bool { return slices.Contains(referencesIn(on), ref) }
}

// look is a look at a page that came: everything to the end.
func (w *writer) look(page string) {
	if page == "" {
		return
	}
	for line := range strings.SplitSeq(page, "\n") {
		w.say(unbroken(line))
	}
}

// focus is where the focus has gone: its reference is enough where a line has the rest. That it is in what was acted on
// is said where nothing else came of the act: a person would expect it there.
func (w *writer) focus(members []rawjson.Member, news *news, acted func(ref string) bool, said *[]string) {
	focused, ok := rawjson.Text(rawjson.Get(members, "focused"))
	if !ok {
		return
	}
	*said = append(*said, "focused")
	_, ref := headOf(focused)
	if bareReference.MatchString(focused) {
		ref = focused
	}
	switch {
	case ref != "" && acted(ref), ref == "":
		if w.tellsMore(members) {
			return
		}
	case news.tells(ref):
		focused = ref
	}
	w.say("focused: " + tidy(focused))
}

var bareReference = lazyregexp.New(`^(?:f\d+)?e\d+$`)

// tellsMore reports whether anything but the focus came of an act.
func (w *writer) tellsMore(members []rawjson.Member) bool {
	return slices.ContainsFunc(members, func(one rawjson.Member) bool {
		return one.Name != "outcome" && one.Name != "on" && one.Name != "focused" && string(one.Value) != "null"
	})
}

var pageHead = lazyregexp.New(`^page (?:("(?:[^"\\]|\\.)*") )?(\S+)`)

// headSays are the members that the first line of a look says already: where the page is, and what it is called.
func headSays(page string, members []rawjson.Member) (said []string) {
	head := pageHead.FindStringSubmatch(page)
	if head == nil {
		return nil
	}
	if url, ok := rawjson.Text(rawjson.Get(members, "url")); ok && head[2] == address(url) {
		said = append(said, "url")
	}
	if title, ok := rawjson.Text(rawjson.Get(members, "title")); ok && (title == "" || head[1] == Quote(title)) {
		said = append(said, "title")
	}
	return said
}
