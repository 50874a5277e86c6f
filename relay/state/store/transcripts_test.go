package store

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
)

func transcriptOf(t *testing.T, h config.Home, session string) []call.Transcript {
	t.Helper()
	all, err := Transcript(t.Context(), h, session)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Turns are kept in order, listed by session, forgotten by session, and removed when they are too old or too many.
func TestTranscripts(t *testing.T) {
	h := home(t)
	if all := transcriptOf(t, h, "a"); len(all) != 0 {
		t.Errorf("before the first relay: %v", all)
	}
	s := openStore(t, h.Database())
	turn := func(session string, n int, at time.Time) call.Transcript {
		return call.Transcript{Session: session, Agent: "reader", Client: "ann", Turn: n, Ended: "end_turn",
			At: at.UTC().Truncate(time.Microsecond), Messages: json.RawMessage(`[{"role":"user","text":"x"}]`)}
	}
	now := time.Now()
	kept := []call.Transcript{turn("a", 1, now), turn("a", 2, now)}
	for _, one := range append(kept, turn("b", 1, now), turn("old", 1, now.Add(-91*24*time.Hour))) {
		s.KeepTranscript(one)
	}
	s.ForgetTranscript("b")
	if err := s.do(t.Context(), func(w *writer) error { _, err := w.pruneTranscripts(now); return err }); err != nil {
		t.Fatal(err)
	}
	if all := transcriptOf(t, h, "a"); !cmp.Equal(all, kept) {
		t.Error(cmp.Diff(kept, all))
	}
	listed, err := Transcripts(t.Context(), h)
	if err != nil || len(listed) != 1 || listed[0].Turn != 2 || string(listed[0].Messages) != "[]" {
		t.Errorf("listed are %+v, %v", listed, err)
	}
	for range maxTranscripts {
		s.KeepTranscript(turn("c", 1, now))
	}
	if err := s.do(t.Context(), func(w *writer) error { _, err := w.pruneTranscripts(now); return err }); err != nil {
		t.Fatal(err)
	}
	if a, c := transcriptOf(t, h, "a"), transcriptOf(t, h, "c"); len(a) != 0 || len(c) != maxTranscripts {
		t.Errorf("%d of the old and %d of the new are kept", len(a), len(c))
	}
}
