package clip

import (
	"testing"
	"unicode/utf8"
)

func TestLongTextIsClipped(t *testing.T) {
	for _, tt := range []struct {
		text           string
		most           int
		shortened, fit string
	}{
		{"", 0, "", ""},
		{"abc", 3, "abc", "abc"},
		{"abcdef", 5, "abcde…", "ab…"},
		{"äöüäöü", 6, "äöüäöü", "ä…"},
		{"äöüäöü", 5, "äöüäö…", "ä…"},
		{"abc", 0, "…", "…"},
		{"a\xff\xffb", 2, "a\xff…", "…"},
	} {
		if got := Runes(tt.text, tt.most); got != tt.shortened {
			t.Errorf("Runes(%q, %d) is %q, want %q", tt.text, tt.most, got, tt.shortened)
		}
		if got := Bytes(tt.text, tt.most); got != tt.fit {
			t.Errorf("Bytes(%q, %d) is %q, want %q", tt.text, tt.most, got, tt.fit)
		}
	}
}

func FuzzBytes(f *testing.F) {
	f.Add("äöü", 4)
	f.Fuzz(func(t *testing.T, text string, most int) {
		if most < len(ellipsis) {
			return
		}
		if got := Bytes(text, most); len(got) > most || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("Bytes(%q, %d) is %q", text, most, got)
		}
		if got := Runes(text, most); utf8.RuneCountInString(got) > most+1 {
			t.Errorf("Runes(%q, %d) is %q", text, most, got)
		}
	})
}
