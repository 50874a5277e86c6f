package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/untrusted"
	"tabrelay/relay/state/config"
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
	maxName  = 40  // characters of what a client, or its machine, calls itself
	maxTitle = 80  // characters of a tab's title, which the page chose
	maxAbout = 300 // characters of what the author of a tool says
	maxURL   = 300 // characters of a tab's address

	maxReason = 200 // characters of why an agent says that it needs a call
)

// Called is the name that a client without a configured one gives itself, safe between quotation marks.
func Called(s call.Session) string { return quotable(s.Called, maxName) }

// Machine says in words that a client is on another machine, and on which; empty: it is on this one. What that machine
// calls itself proves nothing.
func Machine(s call.Session) string {
	switch called := quotable(s.Machine, 2*maxName); {
	case !s.Remote:
		return ""
	case called == "":
		return "another machine"
	default:
		return "another machine (“" + called + "”, as far as it says)"
	}
}

// Doubt is why the person is not to take a client for what it calls itself; empty: nothing speaks against that.
func (p *Policy) Doubt(s call.Session) string {
	var known []config.Client
	if p.options.Clients != nil {
		if list := p.options.Clients.Load(); list != nil {
			known = *list
		}
	}
	return config.Doubt(Called(s), known)
}

// quotable returns a name that is not ours so that it can stand between quotation marks.
func quotable(name string, most int) string { return untrusted.Name(name, most) }

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
	if len(all) <= maxURL {
		return string(all)
	}
	end := maxURL / 3
	hidden := note(fmt.Sprintf("… %s hidden …", counted(len(all)-maxURL, "character")))
	return string(all[:maxURL-end]) + hidden + string(all[len(all)-end:])
}

// sentence is what a person is asked, in one line: about what only reads, and the demo, for the session; about all
// else, for this call.
func sentence(a *call.Access, q call.Approval, grant call.Binding) string {
	who := whoAsks(q)
	use := "May " + who + " use " + named(q)
	switch {
	case a.Opens != "" && q.TabID != 0:
		use = fmt.Sprintf("May %s open %s in tab %d", who, address(a.Opens), q.TabID)
	case a.Opens != "":
		use = "May " + who + " open " + address(a.Opens) + " in a new tab"
	case q.TabID != 0:
		use += " on " + site(q.Origin) + frameOf(q)
	}
	switch {
	case q.Lead != "":
		return strings.TrimSuffix(q.Lead, "?") + ": " + listed(q.Deeds) + "?"
	case q.Choices[0] != "session":
		return use + "?"
	case grant.Tool != "":
		return use + " for this session?"
	}
	does := " read "
	if !a.ReadOnly {
		does = " make changes in "
	}
	said := "May " + who + does + matter(a, site(q.Origin))
	if frame := frameOf(q); frame != "" {
		said += frame + ","
	}
	return said + " for this session?"
}

// frameOf says that a call is for a frame, and in which site's page that is.
func frameOf(q call.Approval) string {
	if q.Within == "" {
		return ""
	}
	return ", a frame of " + site(q.Within)
}

// lead is the question about an act without what it does, which is listed behind it; empty where that is not known.
func lead(a *call.Access, q call.Approval) string {
	who := whoAsks(q)
	place := whereDone(a, q, site)
	switch n := len(a.Deeds.Sentences); n {
	case 0:
		return ""
	case 1:
		return "May " + who + " do this" + place + "?"
	default:
		return "May " + who + " do these " + strconv.Itoa(n) + " things" + place + "?"
	}
}

// whereDone is the site, or the frame of another one, in which an act is done.
func whereDone(a *call.Access, q call.Approval, site func(origin string) string) string {
	switch frame := a.Deeds.Frame; {
	case q.Within != "":
		return " in " + site(q.Origin) + ", a frame of " + site(q.Within)
	case frame == "null":
		return " in a frame of " + site(q.Origin) + " that has no site of its own"
	case frame != "":
		return " in " + site(frame) + ", a frame of " + site(q.Origin)
	}
	return " on " + site(q.Origin)
}

// sendsTo says to which other sites an act sends something; empty: to none.
func sendsTo(sites []string) string {
	switch len(sites) {
	case 0:
		return ""
	case 1:
		return "Sends to another site: " + sites[0]
	}
	return "Sends to other sites: " + strings.Join(sites, ", ")
}

const (
	maxOfOne  = 120 // characters of the only thing that is done, where there is little room
	maxOfEach = 60  // of each of several
	maxOfSite = 60
	maxBrief  = 3 // things that are named
)

// inBrief is what an act does and where, where there is little room; empty where that is not known.
func inBrief(a *call.Access, q call.Approval) string {
	place := whereDone(a, q, endOfSite)
	first := ""
	if q.Elsewhere != "" {
		first = q.Elsewhere + ". "
	}
	switch n := len(q.Deeds); {
	case n == 0:
		return ""
	case n == 1:
		return first + shortened(q.Deeds[0], maxOfOne) + place + "?"
	default:
		each := make([]string, min(n, maxBrief))
		for i := range each {
			each[i] = fmt.Sprintf("%d. %s", i+1, shortened(q.Deeds[i], maxOfEach))
		}
		if n > maxBrief {
			each = append(each, fmt.Sprintf("and %d more", n-maxBrief))
		}
		return fmt.Sprintf("%s%d things%s: %s?", first, n, place, strings.Join(each, "; "))
	}
}

// shortened cuts what is done so that no words of a page seem to go on behind their quotation mark.
func shortened(deed string, most int) string {
	short := clip.Runes(deed, most)
	if strings.Count(short, `"`)%2 != 0 {
		short += `"`
	}
	return short
}

// endOfSite is a site, and of a long one the end, which says whose it is: anybody may begin theirs as they like.
func endOfSite(origin string) string {
	all := []rune(site(origin))
	if len(all) <= maxOfSite {
		return string(all)
	}
	return "…" + string(all[len(all)-maxOfSite+1:])
}

const (
	maxListed    = 6    // of what is done, in one line
	maxInOneLine = 1000 // characters
)

// listed is what an act does, in one line.
func listed(deeds []string) string {
	if len(deeds) == 1 {
		return deeds[0]
	}
	var b strings.Builder
	for i, one := range deeds {
		if i == maxListed || b.Len() > maxInOneLine {
			fmt.Fprintf(&b, "; and %d more", len(deeds)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%d. %s", i+1, one)
	}
	return b.String()
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
	if a.Opens != "" && a.BuiltIn {
		return "open pages of " + at + " in new tabs"
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
		return "pages on " + site + " with the browser's own tools"
	case plugin.Browses(a.Plugin):
		return "the browser's windows and tabs"
	}
	if a.OfPage {
		return strings.TrimSpace("pages "+on(site)) + " through tools of their own"
	}
	what := quotable(a.PluginTitle, maxTitle)
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

// whoAsks is the asker, with what it calls itself where nothing proves a name.
func whoAsks(q call.Approval) string {
	switch {
	case q.Machine != "":
		return asker(q) + " on " + q.Machine + ","
	case q.Called == "":
		return asker(q)
	case q.Doubt == "":
		return asker(q) + ", which calls itself “" + q.Called + "”,"
	}
	return asker(q) + ", which calls itself “" + q.Called + "” (" + q.Doubt + "),"
}

// asker names who wants to call: the client, or an agent that acts for it.
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

// location says where a call is to run, by the origin, which the page cannot choose, unlike its title.
func location(q call.Approval) string {
	if q.TabID == 0 {
		return ""
	}
	if q.Within != "" {
		return " on " + q.Origin + ", a frame of " + q.Within
	}
	return " on " + q.Origin
}

// Text is a question in several lines, for terminals and clients.
func Text(q call.Approval) string {
	lines := []string{q.Sentence}
	if q.Lead != "" {
		lines = append([]string{q.Lead}, numberedDeeds(q.Deeds)...)
		if q.Elsewhere != "" {
			lines = append(lines, "  ! "+q.Elsewhere)
		}
	}
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
	if q.Lead != "" {
		add("Tool", named(q))
	}
	add("Plugin", q.PluginTitle)
	add("Risk", strings.Join(append(slices.Clone(q.Effects), q.Changes), ". "))
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

// numberedDeeds is what an act does, a line for each thing.
func numberedDeeds(deeds []string) (lines []string) {
	for i, one := range deeds {
		if len(deeds) > 1 {
			one = strconv.Itoa(i+1) + ". " + one
		}
		lines = append(lines, "  "+one)
	}
	return lines
}

// form is the elicitation form for a question. It has no "always": that is for the panel and the terminal.
func form(q call.Approval) (schema json.RawMessage, meaning map[string]call.Decision) {
	meaning = map[string]call.Decision{"Deny": {By: ByClient}}
	texts := map[string]string{"once": "Allow once", "session": "Allow for this session"}
	var words []string
	for _, choice := range q.Choices {
		if text, ok := texts[choice]; ok {
			words = append(words, text)
			meaning[text] = call.Decision{Allow: true, For: choice, By: ByClient}
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
