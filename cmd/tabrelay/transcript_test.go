package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

// A transcript is shown without control characters, every line of a page's text under the one that returned it.
func TestTranscriptIsShown(t *testing.T) {
	home := config.Home(t.TempDir())
	s, err := store.Open(t.Context(), home.Database(), store.Limits{}, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	s.KeepTranscript(call.Transcript{Session: "s", Agent: "reader", Client: "ann", Turn: 1, At: time.Now(),
		Ended: "end_turn", Messages: json.RawMessage(`[{"role":"user","text":"Read it"},
			{"role":"assistant","calls":[{"name":"wiki__read","arguments":{"title":"Main"}}]},
			{"role":"user","results":[{"name":"wiki__read","text":"one\ntw\u0007o"}]},
			{"role":"assistant","text":"Two."}]`)})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	a := &app{terminal: terminal{out: &out, err: &errs}, home: home}
	if err := a.showTranscript(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(out.String(), "\n")
	if !strings.HasPrefix(first, "reader for ann, turn 1, ") || !strings.HasSuffix(first, ": end_turn") {
		t.Errorf("the first line is %q", first)
	}
	want := "  user: Read it\n  calls: wiki__read {\"title\":\"Main\"}\n  wiki__read returned: one\n    two\n" +
		"  assistant: Two.\n"
	if rest != want {
		t.Errorf("shown is\n%s\nnot\n%s", rest, want)
	}
	out.Reset()
	if err := a.listTranscripts(t.Context()); err != nil || !strings.Contains(out.String(), "reader") {
		t.Errorf("%v; listed is %q", err, out.String())
	}
}
