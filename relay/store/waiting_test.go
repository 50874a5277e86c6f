package store

import (
	"path/filepath"
	"testing"
)

// A result can be read at once, and an answer does not wait for the disk; what waits is written before the end.
func TestResultsAreReadBeforeTheyAreWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s := opened(t, path)
	held, release := make(chan struct{}), make(chan struct{})
	go func() {
		_ = s.do(t.Context(), func(*writer) error { close(held); <-release; return nil }) // the disk is slow
	}()
	<-held
	for i := range 3 {
		if err := s.KeepResult(t.Context(), stored(i, 300<<10)); err != nil {
			t.Fatal(err)
		}
	}
	got, found, err := s.Result(t.Context(), "r1")
	if err != nil || !found || int64(len(got.Data)) != got.Size {
		t.Errorf("%v %v: %d bytes of %d", found, err, len(got.Data), got.Size)
	}
	if s.postpone(stored(3, mostWaiting)) {
		t.Error("more than memory allows was put off")
	}
	close(release)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.KeepResult(t.Context(), stored(4, 1)); err == nil {
		t.Error("a result was kept after the end")
	}
	s = opened(t, path)
	for _, id := range []string{"r0", "r1", "r2"} {
		if r, found, err := s.Result(t.Context(), id); !found || err != nil || len(r.Data) != 300<<10 {
			t.Errorf("%s: %v %v, %d bytes", id, found, err, len(r.Data))
		}
	}
}

// When one result could not be written, the next agent is not told that its result is kept.
func TestAFullDiskIsToldToTheNext(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "x.db"))
	rename := func(from, to string) {
		if err := s.do(t.Context(), func(w *writer) error { return w.exec("ALTER TABLE " + from + " RENAME TO " + to) }); err != nil {
			t.Fatal(err)
		}
	}
	rename("result_pieces", "away")
	for i, fails := range []bool{false, true, true} {
		if err := s.KeepResult(t.Context(), stored(i, 100)); (err != nil) != fails {
			t.Errorf("%d: %v", i, err)
		}
		s.settle()
	}
	rename("away", "result_pieces")
	if err := s.KeepResult(t.Context(), stored(3, 100)); err != nil {
		t.Error(err)
	}
	if s.waiting.failing {
		t.Error("it works again, and results still are not put off")
	}
}

// settle waits until nothing waits to be written.
func (s *Store) settle() {
	s.waiting.mu.Lock()
	writing := s.waiting.writing
	s.waiting.mu.Unlock()
	if writing != nil {
		<-writing
	}
}
