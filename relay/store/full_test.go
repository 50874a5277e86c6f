package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tabrelay/relay/call"
	"tabrelay/relay/config"
)

// A disk without room is said in words, with the next step, and the database goes on when there is room again.
func TestFullDisk(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "x.db"))
	pages := func(most string) {
		t.Helper()
		if err := s.do(t.Context(), func(w *writer) error {
			n, err := w.number("PRAGMA max_page_count = " + most)
			if most == "1" && n < 2 {
				err = fmt.Errorf("the database has %d pages", n)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	rule := call.Rule{Target: strings.Repeat("wiki", 50_000), Mode: call.Off}
	pages("1") // no more than there are
	var file *config.FileError
	if err := s.SetRule(t.Context(), rule); !errors.As(err, &file) ||
		err.Error() != "the disk with tabrelay.db is full" || !strings.HasPrefix(file.Hint(), "free some disk space") {
		t.Errorf("on a full disk: %v", err)
	}
	pages("100000")
	if err := s.SetRule(t.Context(), rule); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
