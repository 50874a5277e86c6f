package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/relay/road/call"
)

// What a killed relay leaves is copied while the database is open. Without the end of its write-ahead log, the rules
// that were set last are gone, and that is known; with it they are there.
func TestLostRulesAreNoticed(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir)
	for _, target := range []string{"shop", "wiki", "https://bank.example"} {
		if err := s.SetRule(t.Context(), call.Rule{Target: target, Mode: call.Off}); err != nil {
			t.Fatal(err)
		}
	}
	if s.Lost() != "" || s.Used() {
		t.Errorf("a new database: lost %q, used %t", s.Lost(), s.Used())
	}
	for name, test := range map[string]struct {
		log  func(whole []byte) []byte // what is left of the write-ahead log
		want string
		note string // what is left of the note; empty: it is
	}{
		"all is there":        {func(b []byte) []byte { return b }, "", ""},
		"without the log":     {func([]byte) []byte { return nil }, "3 changes", ""},
		"a log that is cut":   {func(b []byte) []byte { return b[:len(b)-100] }, "1 changes", ""},
		"a damaged log":       {func(b []byte) []byte { b[len(b)-50] ^= 0xff; return b }, "1 changes", ""},
		"a damaged note":      {func(b []byte) []byte { return b }, "was damaged", `{"chan`},
		"another note's note": {func(b []byte) []byte { return b }, "4 changes", `{"changes":7}`},
	} {
		t.Run(name, func(t *testing.T) {
			left := t.TempDir()
			for _, file := range []string{"tabrelay.db", "tabrelay.db-wal", "rules.position"} {
				content, err := os.ReadFile(filepath.Join(dir, file))
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(file, "-wal") {
					content = test.log(content)
				}
				if file == "rules.position" && test.note != "" {
					content = []byte(test.note)
				}
				if content == nil {
					continue
				}
				if err := os.WriteFile(filepath.Join(left, file), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			next := openAt(t, left)
			if got := next.Lost(); !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
				t.Errorf("lost: %q, want %q", got, test.want)
			}
			if err := next.SetSwitch(t.Context(), "rules-lost", "noted"); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func openAt(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(dir, "tabrelay.db"), Limits{}, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
