package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"tabrelay/relay/road/call"
)

func openStore(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Limits{}, zerolog.Nop())
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

func record(n int) call.Record {
	return call.Record{
		ID: call.ID(fmt.Sprintf("%032x", n)), Session: call.Session{ID: "session", Client: "claude-code", Via: "stdio"},
		Tool: "demo__click", ProfileID: "p1", TabID: 7, Epoch: "e1",
		Dispatched: time.UnixMicro(1_800_000_000_000_000 + int64(n)), State: call.Dispatched,
	}
}

func dispatch(t testing.TB, s *Store, records ...call.Record) {
	t.Helper()
	for _, r := range records {
		if err := s.RecordSent(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

func find(t testing.TB, s *Store, id call.ID) call.Record {
	t.Helper()
	r, ok, err := s.Find(t.Context(), id)
	if err != nil || !ok {
		t.Fatalf("call %s was not found: %v", id, err)
	}
	return r
}

func TestJournalReadsBackWhatBecameOfCalls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tabrelay.db")
	s := openStore(t, path)
	dispatch(t, s, record(1), record(2), record(3))
	s.RecordEnd(record(1).ID, call.Executed, json.RawMessage(`{"ok":true}`), nil)
	s.RecordEnd(record(2).ID, call.Unknown, nil, json.RawMessage(`{"code":"EXTENSION_LOST"}`))

	one := find(t, s, record(1).ID)
	if one.State != call.Executed || string(one.Output) != `{"ok":true}` || one.Failure != nil ||
		one.Resolved.IsZero() {
		t.Errorf("an executed call reads back as %+v", one)
	}
	open, err := s.OpenCalls(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]call.Record{record(3)}, open); diff != "" {
		t.Errorf("open calls (-want +got):\n%s", diff)
	}
	if _, ok, err := s.Find(t.Context(), "nothing"); ok || err != nil {
		t.Errorf("a call that was never written: found %v, %v", ok, err)
	}
	recent, err := s.Recent(t.Context(), 2)
	if err != nil || len(recent) != 2 || recent[0].ID != record(3).ID || recent[1].ID != record(2).ID {
		t.Errorf("recent calls: %v, %v", recent, err)
	}
	if err := s.RecordSent(t.Context(), record(1)); err == nil {
		t.Error("the same id was written twice")
	}

	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, path)
	three := find(t, s, record(3).ID)
	if three.State != call.Recovering || !three.Resolved.IsZero() {
		t.Errorf("after a restart, an open call reads back as %+v", three)
	}
}

func TestCertainOutcomeIsFinal(t *testing.T) {
	tests := []struct {
		states []call.State
		want   call.State
		open   bool
	}{
		{[]call.State{call.Executed, call.Unknown}, call.Executed, false},
		{[]call.State{call.NotExecuted, call.Executed}, call.NotExecuted, false},
		{[]call.State{call.Unknown, call.Executed}, call.Executed, false},
		{[]call.State{call.Recovering}, call.Recovering, true},
		{[]call.State{call.Recovering, call.NotExecuted}, call.NotExecuted, false},
	}
	s := openStore(t, filepath.Join(t.TempDir(), "x.db"))
	for i, test := range tests {
		r := record(i)
		dispatch(t, s, r)
		for _, state := range test.states {
			s.RecordEnd(r.ID, state, nil, nil)
		}
		if got := find(t, s, r.ID); got.State != test.want || got.Resolved.IsZero() != test.open {
			t.Errorf("%v ended as %s, resolved %v", test.states, got.State, got.Resolved)
		}
	}
}

func TestResolveCopiesAndBoundsOutput(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "x.db"))
	dispatch(t, s, record(1), record(2))
	output := json.RawMessage(`"abc"`)
	s.RecordEnd(record(1).ID, call.Executed, output, nil)
	copy(output, `"xyz"`)
	s.RecordEnd(record(2).ID, call.Executed, json.RawMessage(`"`+strings.Repeat("x", maxOutput)+`"`), nil)
	if got := find(t, s, record(1).ID); string(got.Output) != `"abc"` {
		t.Errorf("the output became %s after the caller reused its bytes", got.Output)
	}
	if got := find(t, s, record(2).ID); got.Output != nil || got.State != call.Executed {
		t.Errorf("an output that is too large: %d bytes, %s", len(got.Output), got.State)
	}
}

func TestCloseWritesQueuedWork(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s := openStore(t, path)
	const calls = 300
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			r := record(i)
			if err := s.RecordSent(t.Context(), r); err != nil {
				t.Error(err)
			}
			s.RecordEnd(r.ID, call.Executed, nil, nil)
		})
	}
	wg.Wait()
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if err := s.RecordSent(t.Context(), record(calls)); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	s = openStore(t, path)
	if open, err := s.OpenCalls(t.Context()); err != nil || len(open) > 0 {
		t.Errorf("%d calls are open after Close, %v", len(open), err)
	}
	if all, err := s.Recent(t.Context(), 2*calls); err != nil || len(all) != calls {
		t.Errorf("%d calls after Close, %v", len(all), err)
	}
}

// A process of its own is killed right after Dispatch returned.
func TestKilledRelayLosesNoCommittedCall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if os.Getenv("TABRELAY_STORE_TEST") != "" {
		dieAfterDispatch(t, os.Getenv("TABRELAY_STORE_TEST"))
	}
	c := exec.Command(os.Args[0], "-test.run=^TestKilledRelayLosesNoCommittedCall$")
	c.Env = append(os.Environ(), "TABRELAY_STORE_TEST="+path)
	out, err := c.CombinedOutput()
	if !strings.Contains(string(out), "dispatched") || err == nil {
		t.Fatalf("the other process: %v\n%s", err, out)
	}
	if got := find(t, openStore(t, path), record(1).ID); got.State != call.Recovering {
		t.Errorf("the call is %s", got.State)
	}
}

func dieAfterDispatch(t *testing.T, path string) {
	s, err := Open(t.Context(), path, Limits{}, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	dispatch(t, s, record(1))
	_, _ = os.Stdout.WriteString("dispatched\n")
	self, err := os.FindProcess(os.Getpid())
	if err != nil || self.Kill() != nil {
		t.Fatal("cannot kill the process")
	}
	select {}
}

func TestCallsArePruned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s := openStore(t, path)
	now := time.Now()
	old, open, young := record(1), record(2), record(3)
	old.Dispatched, open.Dispatched, young.Dispatched = now.Add(-8*24*time.Hour), now.Add(-8*24*time.Hour), now
	dispatch(t, s, old, open, young)
	s.RecordEnd(old.ID, call.Executed, nil, nil)
	s.RecordEnd(young.ID, call.Executed, json.RawMessage(`1`), nil)
	if err := s.do(t.Context(), func(w *writer) error {
		w.prune()
		_, err := w.conn.ExecContext(context.Background(), "UPDATE calls SET resolved = ? WHERE id = ?",
			now.Add(-2*time.Hour).UnixMicro(), string(young.ID))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := s.Find(t.Context(), old.ID); ok {
		t.Error("an old call that is resolved was kept")
	}
	if got := find(t, s, open.ID); got.State != call.Dispatched {
		t.Errorf("an old call that is open became %s", got.State)
	}
	if got := find(t, s, young.ID); got.Output == nil {
		t.Error("a fresh output was forgotten")
	}
	if err := s.do(t.Context(), func(w *writer) error { w.prune(); return nil }); err != nil {
		t.Fatal(err)
	}
	if got := find(t, s, young.ID); got.Output != nil || got.State != call.Executed {
		t.Errorf("an output of two hours ago: %s, %s", got.Output, got.State)
	}
}

func TestOpenRefusesDamagedFiles(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("not a database ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(dir, "newer.db")
	s := openStore(t, newer)
	if err := s.do(t.Context(), func(w *writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	setVersion(t, newer, 1000)
	whole, err := os.ReadFile(newer)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file("orphan.db-wal", []byte("frames of a database that is gone"))
	for path, want := range map[string]string{
		file("empty.db", nil):                "cannot open empty.db: it is empty",
		file("header.db", whole[:50]):        "cannot open header.db: it is cut off",
		file("half.db", whole[:5]):           "cannot open half.db: it is cut off",
		file("page.db", whole[:4096]):        "cannot open page.db: it is cut off",
		file("zeros.db", make([]byte, 4096)): "cannot open zeros.db: it is not a SQLite database",
		filepath.Join(dir, "orphan.db"):      "cannot open orphan.db: it is gone, but its log orphan.db-wal is there",
		garbage:                              "garbage.db",
		newer:                                "newer tabrelay",
		filepath.Join(dir, "no", "where"):    "no such file",
	} {
		if s, err := Open(t.Context(), path, Limits{}, zerolog.Nop()); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v, want an error with %q", path, s, err, want)
		}
	}
}

func setVersion(t *testing.T, path string, version int) {
	t.Helper()
	db, conn, err := connect(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.ExecContext(t.Context(), fmt.Sprintf("PRAGMA user_version = %d", version))
	if err := errors.Join(err, conn.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestFileIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	dir := t.TempDir()
	s := openStore(t, filepath.Join(dir, "x.db"))
	dispatch(t, s, record(1))
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", entry.Name(), info.Mode(), err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "x.db")
	if err := openStore(b, path).Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := Open(b.Context(), path, Limits{}, zerolog.Nop())
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCreate(b *testing.B) {
	dir := b.TempDir()
	for i := 0; b.Loop(); i++ {
		s, err := Open(b.Context(), filepath.Join(dir, fmt.Sprint(i)), Limits{}, zerolog.Nop())
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDispatch(b *testing.B) {
	for _, inFlight := range []int{1, 8, 32} {
		b.Run(fmt.Sprint(inFlight), func(b *testing.B) {
			s := openStore(b, filepath.Join(b.TempDir(), "x.db"))
			b.ReportAllocs()
			b.SetParallelism(max(1, inFlight/runtime.GOMAXPROCS(0)))
			var mu sync.Mutex
			next := 0
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					mu.Lock()
					next++
					r := record(next)
					mu.Unlock()
					if err := s.RecordSent(context.Background(), r); err != nil {
						b.Error(err)
						return
					}
					s.RecordEnd(r.ID, call.Executed, nil, nil)
				}
			})
		})
	}
}
