package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReviewsKeepOneContent(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "test.db"))
	at := time.UnixMicro(1_700_000_000_000_000).UTC()
	add := func(hash string, verdict Verdict, content []byte) {
		t.Helper()
		if err := s.AddReview(t.Context(), Review{Plugin: "shop", Hash: hash, Created: at, By: "panel",
			Verdict: verdict}, content); err != nil {
			t.Fatal(err)
		}
	}
	kept := func(hash, content string) {
		t.Helper()
		gotHash, got, err := s.ReviewedContent(t.Context(), "shop")
		if err != nil || gotHash != hash || string(got) != content {
			t.Errorf("kept is %q %q %v, want %q %q", gotHash, got, err, hash, content)
		}
	}
	kept("", "")
	add("a", Accepted, []byte("first"))
	kept("a", "first")
	add("b", Refused, nil)
	kept("a", "first")
	add("c", Accepted, []byte("third"))
	kept("c", "third")

	// The first content is used again.
	keep := func(plugin, hash string) {
		t.Helper()
		if err := s.KeepContent(t.Context(), plugin, hash, []byte("again")); err != nil {
			t.Fatal(err)
		}
	}
	keep("shop", "a")
	kept("a", "again")
	keep("shop", "b") // refused
	keep("shop", "d") // never reviewed
	keep("tea", "a")  // another plugin's
	kept("a", "again")

	if list, err := s.Reviews(t.Context()); err != nil || !list[0].Kept || list[1].Kept || list[2].Kept {
		t.Errorf("the first is kept: %+v, %v", list, err)
	}

	// The acceptance is withdrawn.
	add("a", Refused, nil)
	kept("", "")

	list, err := s.Reviews(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []Review{
		{Plugin: "shop", Hash: "a", Created: at, By: "panel", Verdict: Refused},
		{Plugin: "shop", Hash: "b", Created: at, By: "panel", Verdict: Refused},
		{Plugin: "shop", Hash: "c", Created: at, By: "panel", Verdict: Accepted},
	}
	for i := range list {
		list[i].Created = list[i].Created.UTC()
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
