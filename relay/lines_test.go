package relay

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

const maxColumns = 120 // a tab counts as four

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// TestLineLength checks hand-written Go. The lines of a raw string that spans several are exempt: they are text whose
// line breaks mean something.
func TestLineLength(t *testing.T) {
	root := os.DirFS("..")
	for _, s := range sources(t) {
		text, err := fs.ReadFile(root, s.name)
		if err != nil {
			t.Fatal(err)
		}
		if generated.Match(text) {
			continue
		}
		exempt := rawLines(text)
		for i, line := range strings.Split(string(text), "\n") {
			if utf8.RuneCountInString(line)+3*strings.Count(line, "\t") > maxColumns && !exempt[i+1] {
				t.Errorf("%s:%d has more than %d columns", s.name, i+1, maxColumns)
			}
		}
	}
}

// rawLines are the lines of raw strings that span several.
func rawLines(text []byte) map[int]bool {
	lines := map[int]bool{}
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(text))
	var s scanner.Scanner
	for s.Init(file, text, nil, 0); ; {
		at, kind, literal := s.Scan()
		if kind == token.EOF {
			return lines
		}
		if n := strings.Count(literal, "\n"); kind == token.STRING && n > 0 {
			for first := file.Line(at); n >= 0; n-- {
				lines[first+n] = true
			}
		}
	}
}
