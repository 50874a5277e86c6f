package faulttest

import (
	"os"
	"regexp"
	"strings"
)

// leaks are what no client may see. They are wider than what package fault removes, and written apart from it.
var leaks = map[string]*regexp.Regexp{
	"a home folder":          regexp.MustCompile(`(?:/home/|/Users/|/root/|[A-Za-z]:\\+Users)`),
	"a folder of the system": regexp.MustCompile(`(?:^|[\s"'(=])/(?:tmp|var|etc|opt|usr|private)/`),
	"a Windows path":         regexp.MustCompile(`\b[A-Za-z]:\\+\w`),
	"a file URL":             regexp.MustCompile(`file:/+[\w~]`),
	"a Go stack":             regexp.MustCompile(`goroutine \d+|\.go:\d+|\+0x[0-9a-f]{2,}`),
	"a JavaScript stack":     regexp.MustCompile(`\bat [^\n]{0,200}:\d+:\d+\)|chrome-extension://|@https?://\S+:\d+:\d+`),
	"a JWT":                  regexp.MustCompile(`eyJ[\w-]{8,}\.[\w-]+\.`),
	"a bearer token":         regexp.MustCompile(`(?i)bearer\s+[\w.~+/=-]*\d[\w.~+/=-]{7,}`),
	"a key":                  regexp.MustCompile(`\b(?:sk|ghp|glpat|xoxb)[-_]\w{16,}|\bAKIA[A-Z0-9]{16}`),
	"a secret in a URL":      regexp.MustCompile(`(?i)[?&](?:access_token|token|key|sig|password|session)=[^&\s"\[]`),
	"a cookie":               regexp.MustCompile(`(?i)cookie:\s*\w+=`),
}

// Leaks names what a text shows that no client may see: stacks, folders of the machine, secrets.
func Leaks(text string) (found []string) {
	for name, shape := range leaks {
		if at := shape.FindString(text); at != "" {
			found = append(found, name+" ("+at+")")
		}
	}
	home, _ := os.UserHomeDir() // without one there is nothing to look for
	for _, dir := range []string{home, strings.TrimRight(os.TempDir(), "/")} {
		if len(dir) > 4 && strings.Contains(text, dir+"/") {
			found = append(found, "the folder "+dir)
		}
	}
	return found
}
