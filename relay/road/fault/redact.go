package fault

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"

	"tabrelay/relay/lib/lazyregexp"
)

// scrub removes from text what no client may see: stack traces, folders of this machine, credentials. What a person
// or a model needs to understand the sentence stays: the name of a file, the host of a URL. Words that only sound like
// a secret stay as well ("the token is invalid", "password: expected string").
func scrub(text string) string {
	return withoutSecrets(withoutFolders(withoutStack(text)))
}

// longest is how much of a message is looked at; a multiple of what is kept.
const longest = 2 * maxMessageBytes

// head is the beginning of a long text, up to the end of a word: half a secret is not known as one.
func head(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[:most]
	if i := strings.LastIndexAny(text, " \t\r\n"); i > 0 {
		text = text[:i]
	}
	return text
}

// Plain is a sentence as an agent may see it: one line without stack traces, folders of this machine and credentials.
func Plain(text string) string { return plain(text) }

// plain is a message as an agent may see it: one harmless line. What Sanitize takes out may have kept apart what
// belongs together, so the result is looked at until nothing changes.
func plain(message string) string {
	message = head(message, longest)
	for range 4 {
		next := Sanitize(scrub(message))
		if next == message {
			break
		}
		message = next
	}
	return message
}

// plainLines is a text of several lines, each as an agent may see it.
func plainLines(text string) string {
	list := strings.Split(scrub(head(text, longest)), "\n")
	for i, line := range list {
		list[i] = plain(line)
	}
	return strings.Join(list, "\n")
}

// plainData scrubs the texts in a JSON value. A URI that a failure is about stays whole: the client sent it.
func plainData(raw json.RawMessage) json.RawMessage {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return raw
	}
	changed := false
	value = scrubbed(value, &changed)
	clean, err := json.Marshal(value)
	if !changed || err != nil {
		return raw // as it was written, member by member
	}
	return clean
}

func scrubbed(value any, changed *bool) any {
	switch v := value.(type) {
	case string:
		if len(v) > longest {
			*changed = true
			return plainLines(v)
		}
		list := strings.Split(v, "\n")
		for i, line := range list {
			list[i] = Sanitize(line)
		}
		clean := plainLines(v)
		if clean == strings.Join(list, "\n") {
			return v // nothing but control characters in it, which JSON carries
		}
		*changed = true
		return clean
	case []any:
		for i := range v {
			v[i] = scrubbed(v[i], changed)
		}
	case map[string]any:
		for name := range v {
			if name != "uri" && name != "location" {
				v[name] = scrubbed(v[name], changed)
			}
		}
	}
	return value
}

// hasOne reports whether text has one of signs. An expression costs far more than a look for what each of its matches
// has in it, and most sentences have none of that.
func hasOne(text string, signs []string) bool {
	return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(text, sign) })
}

// frames are the lines of a stack trace as Chromium writes them. A thrown message may carry one, when somebody
// threw the text of another error; no agent has a use for it.
var frames = lazyregexp.New(`[\r\n\x{2028}\x{2029}]+[ \t]*at [^\r\n\x{2028}\x{2029}]*?(?::\d+:\d+\)?` +
	`|\((?:<anonymous>|native|index \d+)\)|<anonymous>)[ \t]*([\r\n\x{2028}\x{2029}]|$)`)

// framesInLine are such frames after somebody joined the lines, and those of other browsers.
var framesInLine = lazyregexp.New(`[ \t]*(?:\bat (?:async )?(?:new )?[\w$.<>\[\] ]{0,80}\((?:[a-z-]+://[^\s()]*` +
	`|[^\s():]*)(?::\d+){2}\)|\bat (?:[a-z-]+://[^\s()]*)(?::\d+){2}|[\w$./<]{0,80}@[a-z-]+://[^\s()]*(?::\d+){2}` +
	`|\((?:chrome|moz|safari-web)-extension://[^\s()]*\)|\b(?:chrome|moz|safari-web)-extension://[^\s()"']*)`)

// goFrames are the stack of a Go program: its header, and pairs of a function and its place.
var goFrames = lazyregexp.New(`(?m)goroutine \d+[^\n\[]*\[[^\n\]]*\]:|^(?:\[signal [^\n]*\]|created by [^\n]*` +
	`|[\w./*()\[\]{}·-]+\([^\n]*\)\r?\n[ \t]+\S[^\n]*\.go:\d+[^\n]*|[ \t]+\S[^\n]*\.go:\d+(?: \+0x[0-9a-f]+)?)[ ` +
	`\t\r]*(?:\n|$)|\S+\.go:\d+(?: \+0x[0-9a-f]+)?`)

// What every match of frames, goFrames and framesInLine has in it.
var (
	signsOfFrames       = []string{"\r", "\n", "\u2028", "\u2029"}
	signsOfGoFrames     = []string{".go:", "goroutine ", "[signal ", "created by "}
	signsOfFramesInLine = []string{"://", "at "}
)

// withoutStack removes the lines of a stack trace from text.
func withoutStack(text string) string {
	// A match takes the break after its line along, which begins the next one, so it is put back and looked at again.
	for hasOne(text, signsOfFrames) {
		shorter := frames.ReplaceAllString(text, "$1")
		if len(shorter) == len(text) {
			break
		}
		text = shorter
	}
	if hasOne(text, signsOfGoFrames) {
		text = goFrames.ReplaceAllString(text, "")
	}
	if hasOne(text, signsOfFramesInLine) && strings.Contains(text, ":") {
		text = framesInLine.ReplaceAllString(text, "")
	}
	return text
}

const (
	redacted = "[redacted]"
	hidden   = "…" // stands for the folders before a file's name
)

// folders are absolute paths, up to the name at their end. Group 1 stays. Of a home folder its owner's name goes too.
var folders = []struct {
	path  *lazyregexp.Regexp
	by    string
	signs []string
}{
	{lazyregexp.New(`(?i)\bfile:/{1,3}[^\s"'<>()]*/`), "file://" + hidden + "/", []string{":/"}},
	{lazyregexp.New(`\b[A-Za-z]:\\+(?:[^\\/:*?"<>|\r\n]{1,255}\\+)*`), hidden + `\`, []string{`:\`}},
	{lazyregexp.New(`\b[A-Za-z]:/(?:[^\s/:*?"<>|]+/)+`), hidden + "/", []string{":/"}},
	{lazyregexp.New(`(^|[\s"'(=])\\\\+[\w.$-]+\\+(?:[^\\/:*?"<>|\r\n]{1,255}\\+)*`),
		"${1}" + hidden + `\`, []string{`\\`}},
	{lazyregexp.New(`(^|[^\w/.~…-])/(?:home|Users)/[^\s/"'<>|:;,()\[\]{}]+(?:/[^\s/"'<>|:;,()\[\]{}]+)*/`),
		"${1}" + hidden + "/", []string{"/home/", "/Users/"}},
	{lazyregexp.New(`(^|[^\w/.~…-])/(?:home|Users)/[^\s/"'<>|:;,()\[\]{}]+`),
		"${1}" + hidden, []string{"/home/", "/Users/"}},
	{lazyregexp.New(`(^|[^\w/.~…-])/(?:root|tmp|var|etc|opt|usr|private|mnt|srv|Volumes|Library|Applications|proc|` +
		`sys|run|nix|snap)/(?:[^\s/"'<>|:;,()\[\]{}]+/)*`), "${1}" + hidden + "/", []string{"/"}},
	{lazyregexp.New(`(^|[^\w/.~…-])/(?:[^\s/"'<>|:;,()\[\]{}]+/)*\.tabrelay/(?:[^\s/"'<>|:;,()\[\]{}]+/)*`),
		"${1}" + hidden + "/", []string{".tabrelay/"}},
}

// own are the folders of this process, wherever the machine has them.
var own = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	home, _ := os.UserHomeDir() // without one there is nothing to hide
	for _, dir := range []string{os.Getenv("TABRELAY_HOME"), home, strings.TrimRight(os.TempDir(), `/\`)} {
		if len(dir) > 4 { // "/" and the like stand for too much
			pairs = append(pairs, dir+"/", hidden+"/", dir+`\`, hidden+`\`)
		}
	}
	return strings.NewReplacer(pairs...)
})

func withoutFolders(text string) string {
	if !strings.ContainsAny(text, `/\`) {
		return text
	}
	text = own().Replace(text)
	for _, f := range folders {
		if hasOne(text, f.signs) {
			text = f.path.ReplaceAllString(text, f.by)
		}
	}
	return text
}

const digits = "0123456789"

// withoutSecrets replaces credentials: by their form, and by the name before them.
func withoutSecrets(text string) string {
	if !suspicious(text) {
		return text
	}
	return redact(text)
}

// Redact replaces what looks like a credential in a text: a sentence, a console's line, arguments, JSON, an address.
func Redact(text string) string { return withoutSecrets(text) }

// suspicious reports whether text could hold a credential at all. Arguments are mostly words and numbers, and many
// expressions over each cost more than everything else that is done with a call.
func suspicious(text string) bool {
	return strings.ContainsAny(text, "=:-_@>. \t") || strings.Contains(text, "AKIA") ||
		strings.Contains(text, "ASIA") || strings.Contains(text, "AIza")
}

func redact(text string) string { return withoutAssigned(withoutShapes(text)) }

// ConsoleLines is a console tail as an agent may see it: harmless lines, without stack traces, folders and credentials.
func ConsoleLines(tail string) string {
	return strings.Join(lines(plainLines(Redact(tail))), "\n")
}
