package provider

import (
	"strings"
	"testing"
)

// Each piece of a long text is copied a few times, and not each time the whole before it: 20 MB took a minute.
func TestGeminiJoinsTextsOnce(t *testing.T) {
	var a geminiAnswer
	for range 200_000 {
		if !a.add([]byte(`{"text":"0123456789"}`), func(string) {}) || len(a.parts) > 0 {
			t.Fatal("a text is not taken, or put together before its end")
		}
	}
	a.add([]byte(`{"text":"signed","thoughtSignature":"s"}`), func(string) {})
	m, err := a.message()
	if err != nil || len(m.Text) != 2_000_006 || len(a.parts) != 2 || !strings.HasSuffix(string(m.Provider), `"s"}]}`) {
		t.Errorf("%d bytes, %d parts, %v", len(m.Text), len(a.parts), err)
	}
}
