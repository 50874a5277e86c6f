package permit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
)

// originTarget is an origin as rules have it: scheme, host and port, in lower case.
func originTarget(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Contains(u.Host, "*") || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%w: %q is not an origin, such as https://example.org or http://localhost:8080", ErrTarget, fault.Sanitize(text))
	}
	host := strings.ToLower(u.Host)
	if u.Scheme == "https" {
		host = strings.TrimSuffix(host, ":443")
	} else {
		host = strings.TrimSuffix(host, ":80")
	}
	return u.Scheme + "://" + host, nil
}

func stopped() *fault.Error {
	return fault.New(fault.PermissionDenied, "The person has stopped all agents",
		fault.WithHint("Do not try again by yourself. The person can let agents go on in tabrelay's side panel, or with: tabrelay resume"))
}

func forbidden(a *call.Access, v verdict) *fault.Error {
	command := "tabrelay permit set " + a.Tool + " ask"
	switch v.level {
	case clientAndTool, clientAndPlugin, client:
		command += " --client " + a.Session.Client
	}
	hint := "Do not look for a way around it. The person can enable it in tabrelay's side panel (Rules), or with: " + command
	if v.from == fromConfig {
		hint = "Do not look for a way around it. The person can change `permissions` in config.json."
	}
	return fault.New(fault.PermissionDenied, fmt.Sprintf("%s is off: %s", a.Tool, v.why()), append(at(a), fault.WithHint(hint))...)
}

// at says of a failure where the call was to run.
func at(a *call.Access) []fault.Option {
	if a.At == nil {
		return nil
	}
	return []fault.Option{fault.WithTab(a.At.TabID, a.At.Profile)}
}

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
	mostArguments = 4_000 // characters of arguments that a person is shown
	mostName      = 40    // characters of what a client calls itself
	mostTitle     = 80    // characters of a tab's title, which the page chose
	mostAbout     = 300   // characters of what the author of a tool says
)

// readable is the arguments as a person may see them, without credentials. What is long becomes a string.
func readable(arguments json.RawMessage) json.RawMessage {
	text := legible(fault.Redact(string(arguments)))
	if len(text) <= mostArguments && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	b, _ := json.Marshal(shorten(text, mostArguments)) // a string always encodes
	return b
}

// legible writes characters of JSON that nobody sees, or that turn text round, as escapes: the agent chose them, and the
// person is to see what they allow.
func legible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < 0x7f || !fault.Invisible(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// shorten cuts text at so many characters.
func shorten(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// claimed is what a client calls itself, without what would end the quotation marks around it.
func claimed(name string) string {
	return shorten(strings.NewReplacer("“", "'", "”", "'", `"`, "'").Replace(fault.Sanitize(name)), mostName)
}

// Sentence is what a person is asked, in one line.
func Sentence(q call.Approval) string {
	who := q.Client
	if q.Called != "" {
		who += ", which calls itself “" + q.Called + "”,"
	}
	return "May " + who + " use " + named(q) + place(q) + "?"
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
	lines := []string{Sentence(q)}
	add := func(name, value string) {
		if value != "" {
			lines = append(lines, name+": "+value)
		}
	}
	add("Note", q.Note)
	if q.TabID != 0 {
		add("Tab", fmt.Sprintf("%d “%s”, %s", q.TabID, q.TabTitle, q.URL))
		add("Profile", q.Profile)
	}
	add("Plugin", q.PluginTitle)
	add("Risk", q.Changes)
	var pretty bytes.Buffer
	if text := q.Arguments; string(text) != "{}" && len(text) > 0 {
		if json.Indent(&pretty, text, "", "  ") == nil {
			add("Arguments", pretty.String())
		}
	}
	return strings.Join(lines, "\n")
}

// form is what a client asks its person. The permanent answer is not in it: that is for the panel and the terminal.
func form(choices []string) (schema json.RawMessage, meaning map[string]call.Decision) {
	meaning = map[string]call.Decision{}
	var words []string
	for _, c := range []struct{ choice, word string }{{"once", "Allow once"}, {"session", "Allow for this session"}} {
		if slices.Contains(choices, c.choice) {
			words = append(words, c.word)
			meaning[c.word] = call.Decision{Allow: true, For: c.choice, By: byClient}
		}
	}
	words = append(words, "Deny")
	meaning["Deny"] = call.Decision{By: byClient}
	schema, _ = json.Marshal(map[string]any{ // strings always encode
		"type": "object", "required": []string{"answer"},
		"properties": map[string]any{"answer": map[string]any{"type": "string", "title": "May it?", "enum": words}},
	})
	return schema, meaning
}
