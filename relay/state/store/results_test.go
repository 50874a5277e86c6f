package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"tabrelay/relay/road/call"
)

func openLimited(t testing.TB, path string, l Limits) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, l, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func result(n, size int) call.StoredResult {
	data := bytes.Repeat([]byte(fmt.Sprintf("%07d,", n)), size/8+1)[:size]
	return call.StoredResult{
		ID: fmt.Sprintf("r%d", n), CallID: record(n).ID, Session: record(n).Session, Tool: "demo__list",
		Created: time.UnixMicro(time.Now().UnixMicro()), MIMEType: "application/json", Data: data, Size: int64(size),
	}
}

func TestResultsSurviveRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tabrelay.db")
	s := openStore(t, path)
	var want []call.StoredResult
	for i, size := range []int{0, 1, pieceBytes - 1, pieceBytes, pieceBytes + 1, 10 << 20} {
		r := result(i, size)
		if err := s.KeepResult(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		want = append(want, r)
	}
	for range 2 {
		for _, r := range want {
			got, found, err := s.Result(t.Context(), r.ID)
			if err != nil || !found {
				t.Fatalf("%s of %d bytes: %v, %v", r.ID, r.Size, found, err)
			}
			if !bytes.Equal(got.Data, r.Data) {
				t.Errorf("%s came back with %d other bytes", r.ID, len(got.Data))
			}
			got.Data, r.Data = nil, nil
			if diff := cmp.Diff(r, got); diff != "" {
				t.Error(diff)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openStore(t, path)
	}
	if _, found, err := s.Result(t.Context(), "r17"); found || err != nil {
		t.Error(found, err)
	}
}

// The oldest results are removed first; those beyond the age limit always.
func TestOldestResultsArePruned(t *testing.T) {
	s := openLimited(t, filepath.Join(t.TempDir(), "x.db"), Limits{ResultBytes: 10 << 20, ResultAge: time.Hour})
	old := result(0, 100)
	old.Created = time.Now().Add(-2 * time.Hour)
	for _, r := range []call.StoredResult{old, result(1, 5<<20), result(2, 4<<20), result(3, 3<<20)} {
		if err := s.KeepResult(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.KeepResult(t.Context(), result(4, 11<<20)); !errors.Is(err, ErrNoRoom) {
		t.Error("more than everything was kept:", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.KeepResult(gone, result(5, 1<<20)); err == nil {
		t.Error("a result was kept for a call that had ended")
	}
	s.settle()
	pruneAll(t, s)
	var left []string
	for i := range 6 {
		if _, found, err := s.Result(t.Context(), fmt.Sprintf("r%d", i)); err != nil {
			t.Error(err)
		} else if found {
			left = append(left, fmt.Sprintf("r%d", i))
		}
	}
	if !slices.Equal(left, []string{"r2", "r3"}) {
		t.Error("left:", left)
	}
	var pieces, rows int
	if err := s.do(t.Context(), func(w *writer) error {
		return errors.Join(w.conn.QueryRowContext(t.Context(), "SELECT count(*) FROM result_pieces").Scan(&pieces),
			w.conn.QueryRowContext(t.Context(), "SELECT count(*) FROM results").Scan(&rows))
	}); err != nil {
		t.Fatal(err)
	}
	if pieces != 28 || rows != 2 {
		t.Errorf("%d pieces of %d results are in the file", pieces, rows)
	}
}

// pruneAll runs rounds of pruning until there is nothing more to remove.
func pruneAll(t *testing.T, s *Store) {
	t.Helper()
	if err := s.do(t.Context(), func(w *writer) error {
		for w.prune() {
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// A relay that dies while it writes a result leaves nothing that could be read.
func TestIncompleteResultIsNotReadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s := openStore(t, path)
	n, err := s.beginResult(t.Context(), result(1, 300<<10))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.do(t.Context(), func(w *writer) error {
		return w.exec(insertPiece, n*maxPieces,
			[]byte("half"))
	}); err != nil {
		t.Fatal(err)
	}
	if _, found, err := s.Result(t.Context(), "r1"); found || err != nil {
		t.Error("half a result was read", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, path)
	pruneAll(t, s)
	if _, found, err := s.Result(t.Context(), "r1"); found || err != nil {
		t.Error("half a result was read after a restart", err)
	}
	if err := s.KeepResult(t.Context(), result(1, 10)); err != nil {
		t.Error("its place is not free:", err)
	}
}

// BenchmarkDispatchBesideResult measures how long the journal takes to record a call while 10 MiB results are written.
func BenchmarkDispatchBesideResult(b *testing.B) {
	for _, busy := range []bool{false, true} {
		b.Run(fmt.Sprintf("results=%v", busy), func(b *testing.B) {
			s := openLimited(b, filepath.Join(b.TempDir(), "x.db"), Limits{ResultBytes: 64 << 20})
			ctx, cancel := context.WithCancel(b.Context())
			var wg sync.WaitGroup
			kept := 0
			if busy {
				wg.Go(func() {
					for ; ctx.Err() == nil; kept++ {
						_ = s.KeepResult(ctx, result(kept, 10<<20))
					}
				})
			}
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				dispatch(b, s, record(i))
				took = append(took, time.Since(began))
			}
			cancel()
			wg.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
			b.ReportMetric(float64(took[len(took)-1].Microseconds()), "max-us")
			b.ReportMetric(float64(kept), "results")
		})
	}
}

// KeepResult does not wait for the disk; Close does.
func TestUnwrittenResultsAreReadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s := openStore(t, path)
	held, release := make(chan struct{}), make(chan struct{})
	go func() {
		_ = s.do(t.Context(), func(*writer) error { close(held); <-release; return nil }) // the disk is slow
	}()
	<-held
	for i := range 3 {
		if err := s.KeepResult(t.Context(), result(i, 300<<10)); err != nil {
			t.Fatal(err)
		}
	}
	got, found, err := s.Result(t.Context(), "r1")
	if err != nil || !found || int64(len(got.Data)) != got.Size {
		t.Errorf("%v %v: %d bytes of %d", found, err, len(got.Data), got.Size)
	}
	if s.writeLater(result(3, maxUnwritten)) {
		t.Error("more than memory allows was put off")
	}
	close(release)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.KeepResult(t.Context(), result(4, 1)); err == nil {
		t.Error("a result was kept after the end")
	}
	s = openStore(t, path)
	for _, id := range []string{"r0", "r1", "r2"} {
		if r, found, err := s.Result(t.Context(), id); !found || err != nil || len(r.Data) != 300<<10 {
			t.Errorf("%s: %v %v, %d bytes", id, found, err, len(r.Data))
		}
	}
}

// After a failed write the next KeepResult waits for its own write.
func TestFailedWriteIsReportedToNextCall(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "x.db"))
	rename := func(from, to string) {
		if err := s.do(t.Context(), func(w *writer) error {
			return w.exec("ALTER TABLE " + from + " RENAME TO " +
				to)
		}); err != nil {
			t.Fatal(err)
		}
	}
	rename("result_pieces", "away")
	for i, fails := range []bool{false, true, true} {
		if err := s.KeepResult(t.Context(), result(i, 100)); (err != nil) != fails {
			t.Errorf("%d: %v", i, err)
		}
		s.settle()
	}
	rename("away", "result_pieces")
	if err := s.KeepResult(t.Context(), result(3, 100)); err != nil {
		t.Error(err)
	}
	if s.unwritten.failing {
		t.Error("it works again, and results still are not put off")
	}
}

// settle waits until no result is unwritten.
func (s *Store) settle() {
	s.unwritten.mu.Lock()
	writing := s.unwritten.writing
	s.unwritten.mu.Unlock()
	if writing != nil {
		<-writing
	}
}
