// Package deed says in sentences what an act of the browser's tools will do, and to what: for the person who is asked,
// and for who reads later what was done. What the agent wants done stands in the call's arguments; what that is done to
// only the page knows, which tells it before anything happens. Words of a page stand between quotation marks that they
// cannot end.
package deed

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
)

// inPage are the tools whose targets the page knows.
var inPage = []string{"click", "fill", "press", "pointer", "upload", "act"}

// InPage reports whether a page can tell what a tool of the browser would do.
func InPage(tool string) bool { return slices.Contains(inPage, tool) }

// reference is one in arguments. Within a string of JSON no quotation mark stands without a backslash.
var reference = lazyregexp.New(`"(?:ref|to|gone)"\s*:\s*"(?:f\d+)?e\d+"`)

// Refers reports whether the arguments of a tool of the browser name elements by references, such as e12, or by places
// in a picture.
func Refers(arguments json.RawMessage) bool {
	if bytes.Contains(arguments, []byte(`\u`)) { // which may spell any letter
		if value, _, err := rawjson.Decode(arguments); err == nil {
			arguments = rawjson.MustEncode(value)
		}
	}
	if reference.Match(arguments) {
		return true
	}
	members, _ := rawjson.Members(arguments)
	steps, _ := rawjson.Items(rawjson.Get(members, "steps"))
	return isPlace(members) || slices.ContainsFunc(steps, func(one json.RawMessage) bool {
		own, _ := rawjson.Members(one)
		return isPlace(own)
	})
}

func isPlace(args []rawjson.Member) bool {
	return rawjson.Get(args, "x") != nil && rawjson.Get(args, "y") != nil
}

// preview is what a page answers that was asked what a call would do.
type preview struct {
	Origin string      `json:"origin"`
	Steps  [][]*target `json:"steps"`
}

// target is one thing in a page that something is done to.
type target struct {
	Role    string   `json:"role"`
	Name    string   `json:"name"`
	Unnamed bool     `json:"unnamed"` // the name is only a hint
	Shows   string   `json:"shows"`   // what is seen of it, where its name does not say that
	Form    string   `json:"form"`    // where its form is sent: method and address
	Sends   bool     `json:"sends"`   // what is done there sends it
	Link    string   `json:"link"`    // where it leads
	Kind    string   `json:"kind"`    // of a field: how its value is put there
	Secret  string   `json:"secret"`  // why its value is not for anybody to read
	Words   string   `json:"words"`   // the agent's, where nothing in the page is that yet
	Holds   []held   `json:"holds"`   // what else the form holds that is sent
	More    int      `json:"more"`    // of that, not listed
	Filled  []string `json:"filled"`  // fields of the form that the same call fills in before

	origin string // of its document
}

// held is a field of a form, and what it holds.
type held struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Checked bool   `json:"checked"` // it has no value
	Secret  string `json:"secret"`  // as above; without its value
	Unseen  bool   `json:"unseen"`  // the page does not show it
}

// leadsElsewhere reports whether its link leads to another site than that of its document.
func (t *target) leadsElsewhere() bool { return t != nil && isElsewhere(t.Link, t.origin) }

// sentTo is the address that its form is sent to, and whether that is another site; empty: nothing is sent.
func (t *target) sentTo() (address string, elsewhere bool) {
	if t == nil || !t.Sends {
		return "", false
	}
	_, address, _ = strings.Cut(t.Form, " ")
	return address, isElsewhere(address, t.origin)
}

// isElsewhere reports whether an address is that of another website. An origin ends where its path begins.
func isElsewhere(address, origin string) bool {
	return strings.HasPrefix(address, "http") && !strings.HasPrefix(address+"/", origin+"/")
}

// asks are the fields that a person is asked about each time.
var asks = []string{"password", "payment", "code"}

// Of is what a call will do, of what the page answered to its preview. ok is false where that makes no sense.
func Of(tool string, arguments, answer json.RawMessage, origin string) (deeds call.Deeds, ok bool) {
	var told preview
	if json.Unmarshal(answer, &told) != nil {
		return deeds, false
	}
	steps := stepsOf(tool, arguments)
	if len(steps) != len(told.Steps) {
		return deeds, false
	}
	var with []string // what is sent that is not for anybody to read
	for i, one := range steps {
		targets := told.Steps[i]
		for _, t := range targets {
			if t != nil {
				t.origin = told.Origin
			}
		}
		deeds.Sentences = append(deeds.Sentences, one.sentences(targets)...)
		for _, t := range targets {
			with = appendNew(with, one.handsOver(t)...)
			deeds.Secret = deeds.Secret || t != nil && slices.Contains(asks, t.Secret)
			if address, elsewhere := t.sentTo(); elsewhere {
				deeds.Elsewhere = appendNew(deeds.Elsewhere, place(siteOf(address)))
			}
		}
		deeds.Effects = appendNew(deeds.Effects, one.effects(targets)...)
	}
	if len(with) > 0 {
		for i := range deeds.Elsewhere {
			deeds.Elsewhere[i] += ", with " + strings.Join(with, " and ")
		}
	}
	if told.Origin != origin {
		deeds.Frame = told.Origin
	}
	deeds.Targets = answer
	return deeds, true
}

// OfTab is what a call will do that needs no page to say so: to the tab itself.
func OfTab(tool string, arguments json.RawMessage) call.Deeds {
	members, _ := rawjson.Members(arguments)
	switch tool {
	case "close_tab":
		return call.Deeds{Sentences: []string{"Close the tab"}}
	case "navigate":
		to, _ := rawjson.Text(rawjson.Get(members, "to"))
		switch to {
		case "back", "forward":
			return call.Deeds{Sentences: []string{"Go " + to}}
		case "reload":
			return call.Deeds{Sentences: []string{"Load the page again"}}
		}
		return call.Deeds{Sentences: []string{"Go to " + quoted(to, maxAddress)}}
	}
	return call.Deeds{}
}

// step is one act: the tool's name and its arguments.
type step struct {
	tool string
	args []rawjson.Member
}

func stepsOf(tool string, arguments json.RawMessage) (steps []step) {
	members, _ := rawjson.Members(arguments)
	if tool != "act" {
		return []step{{tool, members}}
	}
	each, _ := rawjson.Items(rawjson.Get(members, "steps"))
	for _, one := range each {
		own, _ := rawjson.Members(one)
		name, _ := rawjson.Text(rawjson.Get(own, "tool"))
		steps = append(steps, step{name, own})
	}
	return steps
}

func (s step) text(name string) string {
	text, _ := rawjson.Text(rawjson.Get(s.args, name))
	return text
}
