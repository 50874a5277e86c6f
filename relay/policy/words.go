package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tabrelay/relay/call"
	"tabrelay/relay/clip"
	"tabrelay/relay/fault"
	"tabrelay/relay/plugin"
)

// Risk is how much a tool can do, as far as it says.
func Risk(a *call.Access) string {
	switch {
	case a.ReadOnly:
		return "reads"
	case a.Destructive:
		return "destroys"
	}
	return "changes"
}

// changes says what will be different after a call, as far as the tool says.
func changes(a *call.Access) string {
	said := "It changes something; the tool does not say whether that can be undone."
	switch {
	case a.ReadOnly:
		return "It only reads."
	case a.Destructive:
		said = "It can delete or overwrite something."
	case a.Additive:
		said = "It adds something; nothing is deleted or overwritten."
	}
	if a.Idempotent {
		said += " Doing it again changes nothing more."
	}
	return said
}

const (
	mostName  = 40  // characters of what a client calls itself
	mostTitle = 80  // characters of a tab's title, which the page chose
	mostAbout = 300 // characters of what the author of a tool says
	mostURL   = 300 // characters of a tab's address

	mostReason = 200 // characters of why an agent says that it needs a call
)

// Called is what a client without a name calls itself, as it can stand between quotation marks.
func Called(s call.Session) string { return claimed(s.Called, mostName) }

// claimed is what somebody calls something, without what would end the quotation marks around it, pass for a note of
// the relay's, or be drawn over the lines above and below.
func claimed(name string, most int) string {
	var b strings.Builder
	var last rune
	stacked := 0 // over and under one character
	for _, r := range fault.Sanitize(name) {
		if unicode.In(r, unicode.Mn, unicode.Me) {
			if stacked++; stacked > mostMarks {
				continue
			}
		} else {
			stacked = 0
		}
		r = harmless(r)
		if r != '\'' || last != '\'' { // two of them are drawn like one that ends a quotation
			b.WriteRune(r)
		}
		last = r
	}
	return clip.Runes(strings.TrimSpace(b.String()), most)
}

// harmless is a character of a name as it can stand between quotation marks of ours.
func harmless(r rune) rune {
	switch {
	case strings.ContainsRune("'`‘’‚‛′‵ʹʻʼʽˈ＇❛❜\"“”„‟″‴‶‷⁗ʺ˝ˮ״〝〞〟＂❝❞❠", r):
		return '\''
	case strings.ContainsRune("⟨〈〈", r):
		return '('
	case strings.ContainsRune("⟩〉〉", r):
		return ')'
	}
	return r
}

// address is where a tab is, without the values of secret parameters: how it begins and how it ends.
func address(url string) string {
	var b strings.Builder
	for rest := fault.Sanitize(url); rest != ""; {
		end := strings.IndexAny(rest, "?&#")
		stretch := rest
		if end >= 0 {
			stretch = rest[:end]
		}
		name, value, has := strings.Cut(stretch, "=")
		if has && b.Len() > 0 && fault.SecretName(name) {
			stretch = name + "=" + note(counted(utf8.RuneCountInString(value), "character")+" hidden: secret field")
		}
		b.WriteString(stretch)
		if end < 0 {
			break
		}
		b.WriteByte(rest[end])
		rest = rest[end+1:]
	}
	all := []rune(b.String())
	if len(all) <= mostURL {
		return string(all)
	}
	end := mostURL / 3
	hidden := note(fmt.Sprintf("… %s hidden …", counted(len(all)-mostURL, "character")))
	return string(all[:mostURL-end]) + hidden + string(all[len(all)-end:])
}

// sentence is what a person is asked, in one line: about what only reads, for the session; about all else, for this
// call.
func sentence(a *call.Access, q call.Approval, grant call.Binding) string {
	who := asker(q)
	if q.Called != "" {
		who += ", which calls itself “" + q.Called + "”,"
	}
	use := "May " + who + " use " + named(q)
	if q.TabID != 0 {
		use += " on " + site(q.Origin)
	}
	switch {
	case q.Choices[0] != "session":
		return use + "?"
	case grant.Tool != "":
		return use + " for this session?"
	}
	return "May " + who + " read " + matter(a, site(q.Origin)) + " for this session?"
}

// covers is what a grant allows, in words after "may".
func covers(a *call.Access, grant call.Binding) string {
	at := site(grant.Origin)
	switch {
	case grant.Tool != "":
		if at != "" {
			at = " on " + at
		}
		return "use " + a.Tool + at
	case a.ReadOnly:
		return "read " + matter(a, at)
	}
	return "make changes in " + matter(a, at) +
		" with tools that do not say that they delete or overwrite"
}

// matter is what is read or changed: what a plugin works on, at a site, empty where no tab is concerned. The title of a
// plugin that is not part of tabrelay is its author's.
func matter(a *call.Access, site string) string {
	switch {
	case a.Plugin == RelayPlugin && site != "":
		return "open pages on " + site
	case plugin.Browses(a.Plugin) && site != "":
		return "pages on " + site + " through the browser"
	case plugin.Browses(a.Plugin):
		return "the browser's windows and tabs"
	}
	if a.OfPage {
		return strings.TrimSpace("pages "+on(site)) + " through tools of their own"
	}
	what := claimed(a.PluginTitle, mostTitle)
	switch {
	case what == "":
		what = a.Plugin
	case !a.Shipped && !a.BuiltIn:
		what = "“" + what + "”"
	}
	if site == "" {
		return what
	}
	return what + " on " + site
}

func on(site string) string {
	if site == "" {
		return ""
	}
	return "on " + site
}

// site is an origin as people write it: where it is encrypted and has the usual port, the host alone.
func site(origin string) string { return strings.TrimPrefix(fault.Sanitize(origin), "https://") }

// asker names who wants to call: the client, or an agent to which it has delegated.
func asker(q call.Approval) string {
	if q.Agent == "" {
		return q.Client
	}
	return "the agent " + q.Agent + " for " + q.Client
}

func named(q call.Approval) string {
	if q.Title == "" {
		return q.Tool
	}
	return "“" + q.Title + "” (" + q.Tool + ")"
}

// place is where a call is to run: the origin cannot be chosen by the page, its title can.
func place(q call.Approval) string {
	if q.TabID == 0 {
		return ""
	}
	return " on " + q.Origin
}

// Text is what a person is asked, in several lines.
func Text(q call.Approval) string {
	lines := []string{q.Sentence}
	add := func(name, value string) {
		if value != "" {
			lines = append(lines, name+": "+value)
		}
	}
	add("Note", q.Note)
	if q.Reason != "" {
		add(q.Client+" says why", "“"+q.Reason+"”")
	}
	if q.Risk == "reads" {
		add("First call", named(q))
	}
	if q.TabID != 0 {
		add("Tab", fmt.Sprintf("%d “%s”, %s", q.TabID, q.TabTitle, q.URL))
		add("Profile", q.Profile)
	}
	add("Plugin", q.PluginTitle)
	add("Risk", q.Changes)
	if q.Shown.Arguments > 0 || len(q.Shown.Lines) > 0 {
		add("Arguments", q.Shown.Summary+"\n"+LinesText(q.Shown.Lines))
	}
	if q.Covers != "" && slices.Contains(q.Choices, "session") {
		add("For the session", q.Client+" may "+q.Covers+", until it disconnects or an hour passes without a call")
	}
	if q.Shown.Hidden > 0 || q.Shown.Secret > 0 {
		lines = append(lines, "A part is not shown here, so it can only be allowed once until it is.")
	}
	return strings.Join(lines, "\n")
}

// form is what a client asks its person. The permanent answer is not in it: that is for the panel and the terminal.
func form(q call.Approval) (schema json.RawMessage, meaning map[string]call.Decision) {
	meaning = map[string]call.Decision{"Deny": {By: byClient}}
	texts := map[string]string{"once": "Allow once", "session": "Allow for this session"}
	var words []string
	for _, choice := range q.Choices {
		if text, ok := texts[choice]; ok {
			words = append(words, text)
			meaning[text] = call.Decision{Allow: true, For: choice, By: byClient}
		}
	}
	if words = append(words, "Deny"); q.Risk == "destroys" { // nothing suggests the answer
		slices.Reverse(words)
	}
	schema, _ = json.Marshal(map[string]any{ // strings always encode
		"type": "object", "required": []string{"answer"},
		"properties": map[string]any{
			"answer": map[string]any{"type": "string", "title": "Answer", "enum": words},
		},
	})
	return schema, meaning
}
