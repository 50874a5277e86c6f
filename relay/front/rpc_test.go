package front

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzAppendString: what is written reads back as what it was, on one line.
func FuzzAppendString(f *testing.F) {
	for _, seed := range []string{"", "plain", `"\`, "a\nb\r\tc\x00\x1f", "<>&\u2028é", "bad \xff\xfe utf8", strings.Repeat("x", 100) + `"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		encoded := appendString(nil, text)
		var got string
		if err := json.Unmarshal(encoded, &got); err != nil {
			t.Fatalf("%q: %v", encoded, err)
		}
		if want := strings.ToValidUTF8(text, "\uFFFD"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if strings.ContainsAny(string(encoded), "\r\n") {
			t.Errorf("a line break in %q", encoded)
		}
	})
}
