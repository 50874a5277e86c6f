package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/yuin/goldmark/ast"
)

// written is a command as a page shows it.
type written struct {
	page string
	line int
	text string
}

// TestCommandsOfTheDocs: every `tabrelay …` that the documentation shows is a command, with flags that it has and as
// many arguments as it takes; every `make …` is a target.
func TestCommandsOfTheDocs(t *testing.T) {
	makefile, err := fs.ReadFile(repository, "Makefile")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, page := range docPages(t) {
		for _, w := range commandsOf(t, page) {
			words := shellWords(w.text)
			if len(words) == 0 || strings.HasPrefix(w.text, `"`) { // a key in JSON
				continue
			}
			var problem error
			switch program := strings.TrimPrefix(words[0], "bin/"); program {
			case "tabrelay":
				problem = wrongCommand(words[1:])
				seen[w.text] = true
			case "make":
				problem = wrongTarget(string(makefile), words[1:])
			}
			if problem != nil {
				t.Errorf("%s:%d: `%s`: %v", w.page, w.line, w.text, problem)
			}
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d commands were found", len(seen))
	}
}

// commandsOf are the lines of the code blocks of a page, and what stands in code spans of its text. The log of changes
// and the decisions tell what commands were called before.
func commandsOf(t *testing.T, page *docPage) (found []written) {
	if page.name == "CHANGELOG.md" || page.name == "docs/decisions.md" {
		return nil
	}
	add := func(at int, text string) {
		text = strings.TrimPrefix(strings.TrimSpace(text), "$ ")
		found = append(found, written{page.name, page.line(at), text})
	}
	lines := func(node ast.Node) {
		for _, segment := range node.Lines().Sliced(0, node.Lines().Len()) {
			add(segment.Start, string(segment.Value(page.source)))
		}
	}
	each(t, page.tree, func(block *ast.CodeBlock) { lines(block) })
	each(t, page.tree, func(block *ast.FencedCodeBlock) { lines(block) })
	each(t, page.tree, func(span *ast.CodeSpan) {
		if first, is := span.FirstChild().(*ast.Text); is {
			add(first.Segment.Start, plain(span, page.source))
		}
	})
	return found
}

var (
	oneWord    = regexp.MustCompile(`'[^']*'|"(?:[^"\\]|\\.)*"|[^\s'"]+`)
	assignment = regexp.MustCompile(`^[A-Z_]+=\S*$`)
	ends       = regexp.MustCompile(`^(?:#.*|[|;&]+|>.*|<|\\)$`)
	optional   = regexp.MustCompile(`[\[\]…]|\.\.\.`)
)

// shellWords are the words of the first command of a line, without what it sets in its environment.
func shellWords(line string) (words []string) {
	for _, word := range oneWord.FindAllString(line, -1) {
		if ends.MatchString(word) {
			break
		}
		if len(words) == 0 && assignment.MatchString(word) {
			continue
		}
		word, last := strings.CutSuffix(word, ";")
		words = append(words, strings.Trim(word, `'"`))
		if last {
			break
		}
	}
	return words
}

// wrongCommand says why the program would not understand these words. Words that stand for others (TOKEN, […]) count
// as arguments that may be there.
func wrongCommand(words []string) error {
	a := &app{terminal: terminal{out: io.Discard, err: io.Discard, in: strings.NewReader("")}}
	root := a.commands()
	if len(words) == 0 {
		return nil
	}
	open := false // whether more or fewer arguments may follow than are written
	var kept []string
	for _, word := range words {
		if optional.MatchString(word) && !strings.HasPrefix(word, "{") {
			open = true
			if word = strings.Trim(word, "[]…. "); !strings.HasPrefix(word, "-") {
				continue
			}
		}
		kept = append(kept, word)
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(kept...)
	command, rest, err := root.Find(kept)
	if err != nil {
		return err
	}
	if command == root && !strings.HasPrefix(kept[0], "-") {
		return fmt.Errorf("there is no command %q", kept[0])
	}
	return wrongRest(command, rest, open)
}

// wrongRest looks at what follows the name of a command.
func wrongRest(command *cobra.Command, rest []string, open bool) error {
	command.InitDefaultHelpFlag()
	command.InitDefaultVersionFlag()
	err := command.ParseFlags(rest)
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		return err
	}
	if err != nil || open { // `--limit N` stands for a number
		return nil
	}
	arguments := command.Flags().Args()
	if command.HasSubCommands() {
		if len(arguments) > 0 {
			return fmt.Errorf("there is no %q", command.CommandPath()+" "+arguments[0])
		}
		return nil
	}
	if len(arguments) == 0 { // a sentence about a command names it without its arguments
		return nil
	}
	return command.Args(command, arguments)
}

func wrongTarget(makefile string, words []string) error {
	for _, word := range words {
		if strings.Contains(word, "=") || strings.HasPrefix(word, "-") {
			continue
		}
		if !strings.Contains(makefile, "\n"+word+":") {
			return fmt.Errorf("the Makefile has no target %q", word)
		}
	}
	return nil
}

// TestWrongCommands: what TestCommandsOfTheDocs must find.
func TestWrongCommands(t *testing.T) {
	for line, wrong := range map[string]bool{
		"tabrelay": false,
		"tabrelay up --browser none   # no browser":    false,
		"tabrelay status --json | jq .state":           false,
		"tabrelay call demo__hello '{\"a\": \"b c\"}'": false,
		"tabrelay permit set TOOL ask":                 false,
		"tabrelay connect CLIENT":                      false,
		"tabrelay tabs release [ID]":                   false,
		"tabrelay --version":                           false,
		"tabrelay help":                                false,
		"tabrelay completion bash":                     false,
		"tabrelay fly":                                 true,
		"tabrelay status --everything":                 true,
		"tabrelay tabs let-go 3":                       true,
		"tabrelay status now":                          true,
		"tabrelay connect one two":                     true,
	} {
		if err := wrongCommand(shellWords(line)[1:]); (err != nil) != wrong {
			t.Errorf("`%s`: %v", line, err)
		}
	}
}
