package store

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"tabrelay/relay/state/audit"
)

// entries are rows as the recorder makes them.
func entries(from, n int, at time.Time) []audit.Row {
	rows := make([]audit.Row, n)
	for i := range rows {
		rows[i] = audit.Row{
			At: time.UnixMicro(at.UnixMicro()).UTC(), Kind: "call", Client: "claude-code", Via: "stdio",
			Session: "session", Tool: "shop__read", Plugin: "shop",
			ProfileID: "p", Profile: "Chrome 1", TabID: 7, Origin: "https://shop.example", ArgumentsHash: "aa",
			Arguments: `{"id":1}`,
			Decision:  "auto: shop", DecidedBy: "rule", Outcome: "returned", Code: "", DurationMs: 12,
			CallID: fmt.Sprint(from + i), Detail: "It's “done”",
		}
	}
	return rows
}

func appendRows(t testing.TB, s *Store, rows []audit.Row) {
	t.Helper()
	if err := s.AppendAudit(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
}

func readAudit(t testing.TB, path string, f audit.Filter) (rows []audit.Row) {
	t.Helper()
	a, err := OpenAudit(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close() // only read from
	if err := a.Each(t.Context(), f, func(r *audit.Row) error { rows = append(rows, *r); return nil }); err != nil {
		t.Fatal(err)
	}
	return rows
}

func verify(t testing.TB, path string) audit.Report {
	t.Helper()
	a, err := OpenAudit(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close() // only read from
	report, err := a.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestAuditRowsSurviveRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s := openStore(t, path)
	if r := verify(t, path); !r.Whole || r.Rows != 0 {
		t.Errorf("an empty log: %+v", r)
	}
	written := entries(1, 3, time.Now())
	appendRows(t, s, written)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(written, readAudit(t, path, audit.Filter{Oldest: true})); diff != "" {
		t.Error(diff)
	}
	s = openStore(t, path)
	more := entries(4, 300, time.Now())
	more[0].Client, more[1].Kind = "cursor", "decision"
	appendRows(t, s, more)
	if r := verify(t, path); !r.Whole || r.Rows != 303 || r.First != 1 || r.Last != 303 ||
		r.Head != more[299].Hash.String() {
		t.Errorf("%+v", r)
	}
	for _, tt := range []struct {
		filter audit.Filter
		want   []int64
	}{
		{audit.Filter{Limit: 2}, []int64{303, 302}},
		{audit.Filter{Limit: 2, Before: 3}, []int64{2, 1}},
		{audit.Filter{Limit: 2, Oldest: true}, []int64{1, 2}},
		{audit.Filter{After: 301, Oldest: true}, []int64{302, 303}},
		{audit.Filter{Client: "cursor"}, []int64{4}},
		{audit.Filter{Kind: "decision", Tool: "shop__read", Plugin: "shop", Origin: "https://shop.example",
			Outcome: "returned"}, []int64{5}},
		{audit.Filter{CallID: "9"}, []int64{9}},
		{audit.Filter{Until: time.Now().Add(-time.Hour)}, nil},
		{audit.Filter{Since: time.Now().Add(-time.Hour), Limit: 1}, []int64{303}},
	} {
		var got []int64
		for _, r := range readAudit(t, path, tt.filter) {
			got = append(got, r.N)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%+v:\n%s", tt.filter, diff)
		}
	}
}

// Any program can write to the file.
func TestVerifyFindsChangedRows(t *testing.T) {
	for name, tt := range map[string]struct {
		sql  string
		kind string
		n    int64
	}{
		"edited":       {"UPDATE audit SET outcome = 'unknown' WHERE n = 5", audit.Edited, 5},
		"edited empty": {"UPDATE audit SET detail = '', code = detail WHERE n = 5", audit.Edited, 5},
		"deleted":      {"DELETE FROM audit WHERE n = 5", audit.Missing, 5},
		"end deleted":  {"DELETE FROM audit WHERE n > 8", audit.Missing, 9},
		"inserted": {"INSERT INTO audit SELECT 11, at, kind, client, via, session, tool, plugin, profile_id, " +
			"profile, tab_id, origin, arguments_hash, arguments, decision, decided_by, outcome, code, duration_ms, " +
			"call_id, detail, hash, agent, asker FROM audit WHERE n = 10", audit.Inserted, 10},
		"other type": {"UPDATE audit SET duration_ms = 'long' WHERE n = 5", audit.Unreadable, 5},
		"short hash": {"UPDATE audit SET hash = x'00' WHERE n = 5", audit.Unreadable, 5},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			s := openStore(t, path)
			appendRows(t, s, entries(1, 10, time.Now()))
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close() // what it wrote is committed
			if _, err := db.Exec(tt.sql); err != nil {
				t.Fatal(err)
			}
			if r := verify(t, path); r.Whole || r.Problems[0].Kind != tt.kind || r.Problems[0].N != tt.n {
				t.Errorf("before the log goes on: %+v", r.Problems)
			}
			appendRows(t, s, entries(11, 2, time.Now())) // appending must not repair the chain
			r := verify(t, path)
			if r.Whole || len(r.Problems) != 1 || r.Problems[0].N != tt.n {
				t.Errorf("after it went on: %+v", r.Problems)
			}
		})
	}
}

func TestAuditIsPruned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s, err := Open(t.Context(), path, Limits{AuditRows: 1000, AuditAge: time.Hour}, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	prune := func() {
		t.Helper()
		for more := true; more; {
			var w *writer
			done := make(chan error, 1)
			// Pruning runs between transactions, not inside one.
			if err := s.enqueue(t.Context(), work{run: func(owner *writer) error { w = owner; return nil },
				done: func(error) {
					var err error
					more, err = w.pruneAudit(time.Now())
					done <- err
				}}); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
	}
	appendRows(t, s, entries(1, 2500, time.Now().Add(-2*time.Hour)))
	appendRows(t, s, entries(2501, 500, time.Now()))
	prune()
	r := verify(t, path)
	if !r.Whole || r.Removed != 2500 || r.First != 2501 || r.Rows != 502 { // two rounds, each with its anchor
		t.Errorf("old rows: %+v", r)
	}
	appendRows(t, s, entries(3001, 560, time.Now()))
	prune()
	if r := verify(t, path); !r.Whole || r.Rows != 1062 {
		t.Errorf("a little too many rows: %+v", r)
	}
	appendRows(t, s, entries(3600, 100, time.Now()))
	prune()
	if r = verify(t, path); !r.Whole || r.Rows > 1010 || r.Rows < 1000 {
		t.Errorf("too many rows: %+v", r)
	}
	last := readAudit(t, path, audit.Filter{Limit: 1})[0]
	if _, err := hex.DecodeString(last.ArgumentsHash); err != nil || last.Kind != audit.KindAnchor {
		t.Errorf("%+v", last)
	}
}

// BenchmarkAppendAudit measures one row of a batch of 64.
func BenchmarkAppendAudit(b *testing.B) {
	s := openStore(b, filepath.Join(b.TempDir(), "x.db"))
	b.ReportAllocs()
	for n := 0; n < b.N; n += 64 {
		appendRows(b, s, entries(n, 64, time.Now()))
	}
}
