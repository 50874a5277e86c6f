package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
)

// A disk without room is said in words, with the next step, and the database goes on when there is room again.
func TestFullDisk(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "x.db"))
	rule := call.Rule{Target: strings.Repeat("wiki", 50_000), Mode: call.Off}
	mostPages(t, s, 1) // no more than there are
	var file *config.FileError
	if err := s.SetRule(t.Context(), rule); !errors.As(err, &file) ||
		err.Error() != "the disk with tabrelay.db is full" || !strings.HasPrefix(file.Hint(), "free some disk space") {
		t.Errorf("on a full disk: %v", err)
	}
	mostPages(t, s, 100_000)
	if err := s.SetRule(t.Context(), rule); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// What is written together with something that the disk has no room for fails with it, whether it came before or after.
func TestBatchOnAFullDisk(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "x.db"))
	if err := s.do(t.Context(), func(w *writer) error {
		return w.exec("CREATE TABLE probe (target TEXT)")
	}); err != nil {
		t.Fatal(err)
	}
	mostPages(t, s, 1)
	begun, queued := make(chan struct{}), make(chan struct{})
	results := make(chan error, 4)
	add := func(run func(*writer) error) {
		t.Helper()
		if err := s.enqueue(t.Context(), work{run: run, done: func(err error) { results <- err }}); err != nil {
			t.Fatal(err)
		}
	}
	add(func(*writer) error {
		close(begun)
		<-queued
		return nil
	})
	<-begun
	for _, target := range []string{"before", strings.Repeat("x", 200_000), "after"} {
		add(func(w *writer) error { return w.exec("INSERT INTO probe (target) VALUES (?)", target) })
	}
	close(queued)
	<-results // of what only waited
	for range 3 {
		if err := <-results; !errors.Is(err, errFull) {
			t.Errorf("together with what did not fit: %v", err)
		}
	}
	if err := s.do(t.Context(), func(w *writer) error {
		n, err := w.number("SELECT count(*) FROM probe")
		if n != 0 {
			t.Errorf("%d rows are there that were reported as failed", n)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// mostPages lets the database have so many pages, but at least those it has.
func mostPages(t *testing.T, s *Store, most int) {
	t.Helper()
	if err := s.do(t.Context(), func(w *writer) error {
		n, err := w.number(fmt.Sprintf("PRAGMA max_page_count = %d", most))
		if most == 1 && n < 2 {
			err = fmt.Errorf("the database has %d pages", n)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
