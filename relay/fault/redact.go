package fault

import (
	"regexp"
	"strings"
)

// frames are the lines of a stack trace as Chromium writes them. A thrown message may carry one, when somebody
// threw the text of another error; no agent has a use for it.
var frames = regexp.MustCompile(`[\r\n\x{2028}\x{2029}]+[ \t]*at [^\r\n\x{2028}\x{2029}]*?(?::\d+:\d+\)?|\((?:<anonymous>|native|index \d+)\)|<anonymous>)[ \t]*([\r\n\x{2028}\x{2029}]|$)`)

// withoutStack removes the lines of a stack trace from text.
func withoutStack(text string) string {
	// A match takes the break after its line along, which begins the next one, so it is put back and looked at again.
	for {
		shorter := frames.ReplaceAllString(text, "$1")
		if len(shorter) == len(text) {
			return text
		}
		text = shorter
	}
}

const redacted = "[redacted]"

// secrets are the shapes in which web apps write credentials to a console; what group 1 holds may stay.
var secrets = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b((?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:\w+\s+)?)[^\s"',;]+`),
	regexp.MustCompile(`(?i)\b((?:set-)?cookie["']?\s*[:=]\s*)[^\r\n]+`),
	regexp.MustCompile(`(?i)((?:token|secret|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|session[_-]?id|csrf|xsrf)["']?\s*[:=]\s*["']?)[^\s"'&;,)}\]]+`),
	regexp.MustCompile(`(?i)\b((?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}`),
	regexp.MustCompile(`()\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*`),
	regexp.MustCompile(`()\b(?:sk|pk|rk|gh[opsur]|glpat|xox[abeprs])[-_][A-Za-z0-9_-]{16,}`),
}

// Redact replaces what looks like a credential.
func Redact(text string) string {
	for _, secret := range secrets {
		text = secret.ReplaceAllString(text, "${1}"+redacted)
	}
	return text
}

// consoleLines is a console tail as an agent may see it: harmless lines, without stack traces and credentials.
func consoleLines(tail string) string {
	return strings.Join(lines(Redact(withoutStack(tail))), "\n")
}
