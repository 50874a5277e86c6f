package suggest

import (
	"strings"
	"testing"
)

func TestNearestNameIsSuggested(t *testing.T) {
	known := []string{"selector", "listen", "mediawiki", "mediawiki__edit_page", "wiki__edit_page", "b", "abcd", "abce"}
	for name, want := range map[string]string{
		"selecter": "selector", "LISTN": "listen", "mediawkii": "mediawiki", "edit_page": "mediawiki__edit_page",
		"MediaWiki__edit": "mediawiki__edit_page", "wiki__ed": "",
		"abcf": "abcd", "a": "", "": "", "other": "", strings.Repeat("x", 100): "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := DidYouMean("listn", known); got != "; did you mean listen?" {
		t.Error(got)
	}
	if got := DidYouMean("other", known); got != "" {
		t.Error(got)
	}
}
