package main

import (
	"slices"
	"strings"
	"testing"
)

func TestLinesAreWrappedBetweenWords(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		hang    int
		want    string
	}{
		{"one two three", 8, 0, "one two\nthree"},
		{"  one two three\n", 9, 0, "  one two\n  three\n"},
		{"next: one two three", 13, 6, "next: one two\n      three"},
		{"/a/path/that/is/long and more", 10, 0, "/a/path/that/is/long\nand more"},
		{"one two three", 0, 0, "one two three"},
		{"größe über alles", 10, 0, "größe über\nalles"},
		{"a  b", 10, 0, "a  b"},
		{"", 5, 0, ""},
	} {
		if got := wrapWords(c.text, c.columns, c.hang); got != c.want {
			t.Errorf("%q in %d columns is %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

func TestLastColumnIsWrapped(t *testing.T) {
	rows := [][]string{{"NAME", "WHAT IT DOES"}, {"demo__hello", "Greets from inside the demo site, and says so"}}
	want := [][]string{{"NAME", "WHAT IT DOES"}, {"demo__hello", "Greets from inside the demo"},
		{"", "site, and says so"}}
	if got := wrapLastColumn(rows, 40); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %q", got)
	}
	for _, columns := range []int{0, 20} { // no terminal, and one that is too narrow
		if got := wrapLastColumn(rows, columns); !slices.EqualFunc(got, rows, slices.Equal) {
			t.Errorf("in %d columns: %q", columns, got)
		}
	}
}

func TestNoColourWithoutTerminal(t *testing.T) {
	if got := paint(&strings.Builder{}, red, "x"); got != "x" {
		t.Errorf("got %q", got)
	}
}

func TestParagraphsJoinWrappedLines(t *testing.T) {
	const in = "Start\nit.\n\n--fix does\nthis.\n--json that."
	if got := paragraphs(in); got != "Start it.\n\n--fix does this.\n--json that." {
		t.Errorf("got %q", got)
	}
}
