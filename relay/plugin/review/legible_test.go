package review

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLegibleSpellsOutWhatCannotBeSeen(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "const ä = 'naïve 你好';\n\tif\r\n", "const ä = 'naïve 你好';\n\tif\n"},
		{"terminal", "a\x1b[2Kb\a\u009b1m", `a\u{1b}[2Kb\u{7}\u{9b}1m`},
		{"carriage return", "evil()\rgood()", `evil()\u{d}good()`},
		{"direction", "/*\u202e } \u2066if (isAdmin)\u2069 */", `/*\u{202e} } \u{2066}if (isAdmin)\u{2069} */`},
		{"invisible", "a\u200bb\ufeff\u3164\U000e0041\u00a0", `a\u{200b}b\u{feff}\u{3164}\u{e0041}\u{a0}`},
		{"not UTF-8", "a\xffb\ufffd", "a\\xffb\ufffd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Legible(c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzLegible(f *testing.F) {
	f.Add("a\x1b[2K\r\n\u202eb\xff")
	f.Fuzz(func(t *testing.T, text string) {
		got := Legible(text)
		if strings.ContainsFunc(got, hidden) || !utf8.ValidString(got) {
			t.Errorf("%q became %q", text, got)
		}
		if again := Legible(got); again != got {
			t.Errorf("%q becomes %q the second time", got, again)
		}
	})
}
