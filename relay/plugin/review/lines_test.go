package review

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/google/go-cmp/cmp"
)

func TestLinesBreaksLongLinesOnly(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/lines.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(archive.Files); i += 2 {
		in, want := archive.Files[i], archive.Files[i+1]
		t.Run(in.Name, func(t *testing.T) {
			// Only lines that are too long are broken; the blanks make one of every case.
			code := strings.TrimSuffix(string(in.Data), "\n")
			got := Lines(code + strings.Repeat(" ", longLine))
			if diff := cmp.Diff(strings.TrimSuffix(string(want.Data), "\n"),
				strings.TrimRight(got, " \n")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got := Lines(code); got != code {
				t.Errorf("short lines became %q", got)
			}
		})
	}
}

// bare is text without what Lines adds, and without what it could take away.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '\n' {
			return -1
		}
		return r
	}, text)
}

func TestLinesOfRealAdapters(t *testing.T) {
	files, err := filepath.Glob("../../../adapters/dist/*/adapter.js")
	if err != nil || len(files) == 0 {
		t.Skip("the adapters were not built")
	}
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := Lines(string(code))
		if bare(got) != bare(string(code)) {
			t.Errorf("%s: something was lost", file)
		}
		lines, long := 0, 0
		for line := range strings.SplitSeq(got, "\n") {
			lines++
			if len(line) > 300 {
				long++
			}
		}
		if long*50 > lines {
			t.Errorf("%s: %d of %d lines are too long to read", file, long, lines)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add("var a={b:[1,2,`x${{y:1}}z`,/[/}]\\//g],c(){return 1/2;}};//}\n/*{*/'}'")
	f.Add("})`${`}{([\"")
	f.Fuzz(func(t *testing.T, code string) {
		code += strings.Repeat(";", longLine+1)
		got := Lines(code)
		if bare(got) != bare(code) {
			t.Errorf("%q became %q", code, got)
		}
		if len(got) > (3+2*deepest)*len(code) {
			t.Errorf("%d bytes became %d", len(code), len(got))
		}
	})
}
