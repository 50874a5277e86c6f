package delegation

import (
	"database/sql"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

func openRecords(t *testing.T, h config.Home) Records {
	t.Helper()
	s, err := store.Open(t.Context(), h.Database(), store.Limits{}, zerolog.Nop(), tables)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return Records{s}
}

func transcriptOf(t *testing.T, h config.Home, session string) []Transcript {
	t.Helper()
	all, err := TranscriptOf(t.Context(), h, session)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func turnAt(session string, n int, at time.Time) Transcript {
	return Transcript{Session: session, Agent: "reader", Client: "ann", Turn: n, Ended: "end_turn",
		At: at.UTC().Truncate(time.Microsecond), Messages: json.RawMessage(`[{"role":"user","text":"x"}]`)}
}

// Turns are kept in order, listed by session, forgotten by session, and removed when they are too old or too many.
func TestTranscriptsKeepOrderAndArePruned(t *testing.T) {
	h := config.Home(t.TempDir())
	if all := transcriptOf(t, h, "a"); len(all) != 0 {
		t.Errorf("before the first relay: %v", all)
	}
	r, now := openRecords(t, h), time.Now()
	prune := func() {
		t.Helper()
		_, err := store.Read(t.Context(), r.Store, func(tx store.Tx) (none struct{}, err error) {
			return none, pruneTranscripts(tx, now.Add(-90*24*time.Hour))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	kept := []Transcript{turnAt("a", 1, now), turnAt("a", 2, now)}
	for _, one := range append(kept, turnAt("b", 1, now), turnAt("old", 1, now.Add(-91*24*time.Hour))) {
		r.KeepTranscript(one)
	}
	r.ForgetTranscript("b")
	prune()
	if all := transcriptOf(t, h, "a"); !cmp.Equal(all, kept) {
		t.Error(cmp.Diff(kept, all))
	}
	listed, err := AllTranscripts(t.Context(), h)
	if err != nil || len(listed) != 1 || listed[0].Turn != 2 || string(listed[0].Messages) != "[]" {
		t.Errorf("listed are %+v, %v", listed, err)
	}
	for range maxTranscripts {
		r.KeepTranscript(turnAt("c", 1, now))
	}
	prune()
	if a, c := transcriptOf(t, h, "a"), transcriptOf(t, h, "c"); len(a) != 0 || len(c) != maxTranscripts {
		t.Errorf("%d of the old and %d of the new are kept", len(a), len(c))
	}
}

// What a day has cost counts after a restart, too, and months are forgotten.
func TestSpendingOutlivesTheRelay(t *testing.T) {
	h := config.Home(t.TempDir())
	r := openRecords(t, h)
	r.AddSpent("2026-01-01", 7)
	r.AddSpent("2026-11-22", 0.25)
	r.AddSpent("2026-11-22", 0.5)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = openRecords(t, h)
	for day, want := range map[string]float64{"2026-11-22": 0.75, "2026-11-21": 0, "2026-01-01": 0} {
		if usd, err := r.SpentOn(t.Context(), day); err != nil || usd != want {
			t.Errorf("on %s: %v, %v; want %v", day, usd, err, want)
		}
	}
}

// before is what programs wrote whose store made these tables itself.
const before = `DROP TABLE attached; PRAGMA user_version = 11;
	CREATE TABLE spending (          -- of delegated agents
		day TEXT NOT NULL PRIMARY KEY, -- 2006-01-02
		usd REAL NOT NULL
	);
	CREATE TABLE transcripts (    -- of sessions with delegated agents
		n        INTEGER PRIMARY KEY,
		session  TEXT NOT NULL,
		agent    TEXT NOT NULL,
		client   TEXT NOT NULL,
		turn     INTEGER NOT NULL,
		at       INTEGER NOT NULL, -- microseconds since 1970
		ended    TEXT NOT NULL,    -- a stop reason, or the code of a failure
		messages BLOB NOT NULL     -- a list as JSON
	);
	CREATE INDEX transcripts_by_session ON transcripts (session);
	CREATE INDEX transcripts_by_time ON transcripts (at);
	INSERT INTO spending VALUES ('2026-11-22', 0.75);
	INSERT INTO transcripts VALUES (1, 's', 'reader', 'ann', 1, 1795000000000000, 'end_turn', '[]');`

// A database of an earlier program keeps what it knows of agents.
func TestTablesOfEarlierPrograms(t *testing.T) {
	h := config.Home(t.TempDir())
	s, err := store.Open(t.Context(), h.Database(), store.Limits{}, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", h.Database())
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), before)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if usd, err := openRecords(t, h).SpentOn(t.Context(), "2026-11-22"); err != nil || usd != 0.75 {
		t.Errorf("spent are %v, %v", usd, err)
	}
	if all := transcriptOf(t, h, "s"); len(all) != 1 || all[0].Agent != "reader" {
		t.Errorf("kept are %+v", all)
	}
}
