package store

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"tabrelay/relay/state/config"
)

// notes are tables of a capability: its first version, and its second.
func notes(versions int) *Tables {
	return &Tables{Capability: "notes", Migrations: []string{
		`CREATE TABLE notes (at INTEGER NOT NULL);`,
		`ALTER TABLE notes ADD COLUMN text TEXT NOT NULL DEFAULT 'none';`,
	}[:versions], Prune: func(tx Tx, oldest time.Time) error {
		return tx.Exec(`DELETE FROM notes WHERE at < ?`, oldest.UnixMicro())
	}}
}

// Tables of a capability are brought up to date on their own, keep what is in them, and are pruned with the others.
func TestTablesOfACapability(t *testing.T) {
	h := home(t)
	open := func(versions int) *Store {
		s, err := Open(t.Context(), h.Database(), Limits{}, zerolog.Nop(), notes(versions))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	kept := func(versions int) []string {
		all, err := ReadBeside(t.Context(), h, notes(versions), "notes", `SELECT text FROM notes ORDER BY at`, nil,
			func(rows *sql.Rows) (text string, err error) { return text, rows.Scan(&text) })
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := kept(2); all != nil {
		t.Errorf("without a database: %v", all)
	}
	openStore(t, h.Database()) // of a program without the capability
	if all := kept(2); all != nil {
		t.Errorf("without its tables: %v", all)
	}
	now := time.Now()
	s := open(1)
	s.Later("cannot note", func(tx Tx) error { return tx.Exec(`INSERT INTO notes VALUES (?)`, now.UnixMicro()) })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(2)
	s.Later("cannot note", func(tx Tx) error {
		tx.PruneSoon()
		return tx.Exec(`INSERT INTO notes VALUES (?, 'old')`, now.Add(-91*24*time.Hour).UnixMicro())
	})
	s.Later("cannot note", func(tx Tx) error {
		return tx.Exec(`INSERT INTO notes VALUES (?, 'new')`, now.Add(time.Second).UnixMicro())
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(2) // a start prunes
	rows, err := Read(t.Context(), s, func(tx Tx) (n int, err error) {
		return n, tx.Row(`SELECT count(*) FROM notes`, nil, &n)
	})
	if err != nil || rows != 2 {
		t.Errorf("%d rows, %v", rows, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if all := kept(2); !cmp.Equal(all, []string{"none", "new"}) {
		t.Errorf("kept are %v", all)
	}
	_, err = Open(t.Context(), h.Database(), Limits{}, zerolog.Nop(), notes(1))
	if err == nil || !strings.Contains(err.Error(), "notes was written by a newer tabrelay (version 2") {
		t.Errorf("an older program is told %v", err)
	}
	wrong := &Tables{Capability: "wrong", Migrations: []string{`CREATE TABLE half (x); nonsense;`}}
	if _, err := Open(t.Context(), h.Database(), Limits{}, zerolog.Nop(), wrong); err == nil {
		t.Error("nonsense is migrated to")
	}
	if _, err := ReadBeside(t.Context(), h, wrong, "halves", `SELECT x FROM half`, nil,
		func(*sql.Rows) (none struct{}, err error) { return none, err }); err != nil {
		t.Errorf("half a migration is kept: %v", err)
	}
	if _, err := ReadBeside(t.Context(), config.Home(t.TempDir()), wrong, "halves", "", nil,
		func(*sql.Rows) (none struct{}, err error) { return none, err }); err != nil {
		t.Error(err)
	}
}
