package delegation

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tabrelay/relay/capability"
	"tabrelay/relay/state/config"
)

// A transcript is shown without control characters, every line of a page's text under the one that returned it.
func TestTranscriptIsShown(t *testing.T) {
	home := config.Home(t.TempDir())
	r := openRecords(t, home)
	r.KeepTranscript(Transcript{Session: "s", Agent: "reader", Client: "ann", Turn: 1, At: time.Now(),
		Ended: "end_turn", Messages: json.RawMessage(`[{"role":"user","text":"Read it"},
			{"role":"assistant","calls":[{"name":"wiki__read","arguments":{"title":"Main"}}]},
			{"role":"user","results":[{"name":"wiki__read","text":"one\ntw\u0007o"}]},
			{"role":"assistant","text":"Two."}]`)})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	a := commands{capability.Terminal{
		Home: func() config.Home { return home }, JSON: func() bool { return false },
		Printf: func(format string, args ...any) { fmt.Fprintf(&out, format, args...) },
		Table: func(rows ...[]string) error {
			for _, row := range rows {
				fmt.Fprintln(&out, strings.Join(row, " "))
			}
			return nil
		},
	}}
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
