package relay

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// glossary has phrases that no person is shown, and what is said instead.
var glossary = []struct{ phrase, say string }{
	{`for ever`, "never expires"},
	{`any end`, "any outcome"},
	{`it holds (at once|for|from|until)`, "it applies"},
	{`a locked door`, "security"},
	{`nothing leaves`, "no telemetry"},
	{`name tab groups`, "group agent tabs"},
	{`whose end nobody saw`, "with unknown outcome"},
	{`seats?`, "session"},
	{`shims?`, "proxy"},
	{`desks?`, "approvals"},
	{`(that )?no rule names`, "without a rule"},
	{`through the browser for`, "with the browser's own tools for"},
	{`no terminal to confirm`, "run this in a terminal, or confirm it in the side panel"},
	{`(it is no folder|is no (time|address|number|name)|are no unicode)`, "is not a …"},
	{`(it|that|which) is no (function|message|reply|string)`, "is not a …"},
	{`do what the message says`, "the step itself"},
	{`(it was withdrawn|the agent withdrew it|answered or withdrawn)`, "the agent no longer waits for an answer"},
	{`question is over`, "the question is closed"},
	{`one thing is so`, "one condition"},
	{`(is|are|was|were) shut out`, "loses access"},
	{`answers what (changed|came)|or noEffect`, "returns what"},
	{`one from a store`, "an extension installed from a store"},
	{`its letter says`, "the dead letter says"},
}

// TestGlossary reads what people and agents read: the documentation, the panel, the tools, and what the relay and the
// command line say.
func TestGlossary(t *testing.T) {
	root := os.DirFS("..")
	for _, pattern := range []string{"README.md", "docs/*.md", "extension/src/panel/*.ts*",
		"extension/src/browser/*.ts", "extension/src/browser/*/*.ts",
		"extension/src/worker/*.ts", "extension/src/worker/*/*.ts",
		"extension/src/capabilities/*/*.ts*", "extension/src/shared/*.ts",
		"cmd/tabrelay/*.go", "relay/*/*.go", "relay/*/*/*.go", "adapters/*/src/*.ts"} {
		names, err := fs.Glob(root, pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no files: %v", pattern, err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(root, name)
			if err != nil {
				t.Fatal(err)
			}
			if name == "docs/decisions.md" || strings.HasSuffix(name, "_test.go") {
				continue // for who works on it
			}
			for i, line := range shown(name, text) {
				if line = strings.TrimSpace(line); testing.Verbose() && strings.Contains(line, " ") && line != "" {
					t.Logf("%s:%d: %s", name, i+1, line) // go test ./relay -run TestGlossary -v: to be reread
				}
				for _, word := range forbidden(line) {
					t.Errorf("%s:%d: %s", name, i+1, word)
				}
			}
		}
	}
}

// TestGlossaryFinds has what is a phrase of the glossary, and what only looks like one.
func TestGlossaryFinds(t *testing.T) {
	for line, want := range map[string]int{
		"It holds at once, for ever.":         2,
		"Once for everybody: it holds a name": 0,
		"the seat of an agent":                1,
		"a desktop":                           0,
	} {
		if got := forbidden(line); len(got) != want {
			t.Errorf("%q: %q", line, got)
		}
	}
}

var phrases, anyPhrase = func() (list []*regexp.Regexp, any *regexp.Regexp) {
	var all []string
	for _, one := range glossary {
		bounded := `(?i)\b` + one.phrase + `\b`
		list, all = append(list, regexp.MustCompile(bounded)), append(all, bounded)
	}
	return list, regexp.MustCompile(strings.Join(all, "|"))
}()

func forbidden(line string) (found []string) {
	if !anyPhrase.MatchString(line) { // which is most of them, and one look instead of one for each phrase
		return nil
	}
	for i, phrase := range phrases {
		if hit := phrase.FindString(line); hit != "" {
			found = append(found, "“"+hit+"”: say “"+glossary[i].say+"”")
		}
	}
	return found
}

var comment = regexp.MustCompile(`^\s*(//|/?\*)`)

// shown are the lines of a file, without what nobody is shown.
func shown(name string, text []byte) []string {
	lines := strings.Split(string(text), "\n")
	switch path.Ext(name) {
	case ".go":
		return literals(text, len(lines))
	case ".ts", ".tsx":
		for i, line := range lines {
			if comment.MatchString(line) {
				lines[i] = ""
			}
		}
	}
	return lines
}

// literals are the strings of a Go file, at the lines on which they are.
func literals(text []byte, count int) []string {
	lines := make([]string, count)
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	for s.Init(file, text, nil, 0); ; {
		at, kind, literal := s.Scan()
		if kind == token.EOF {
			return lines
		}
		if kind != token.STRING {
			continue
		}
		for i, line := range strings.Split(literal, "\n") {
			lines[file.Line(at)-1+i] += " " + line
		}
	}
}
