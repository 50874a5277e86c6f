package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"tabrelay/relay/state/config"
)

// Tables are what a capability keeps in the database.
type Tables struct {
	Capability string
	// Migrations bring them from version i to i+1, each in a transaction. One is never changed once it was released.
	Migrations []string
	// Prune removes what is older than the audit log may be, or too much; nil: nothing is ever removed. It runs at the
	// start, every hour and after [Tx.PruneSoon].
	Prune func(tx Tx, oldest time.Time) error
}

const findAttached = `SELECT version FROM attached WHERE capability = ?`

// version is that of the tables in a database; 0: there are none.
func (t *Tables) version(ctx context.Context, q querier) (version int, err error) {
	err = q.QueryRowContext(ctx, findAttached, t.Capability).Scan(&version)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return version, err
}

// tooNew is the error for tables of a newer program.
func (t *Tables) tooNew(version int) error {
	if version <= len(t.Migrations) {
		return nil
	}
	return fmt.Errorf("what it keeps of %s %w (version %d, this one knows %d)", t.Capability, errNewer, version,
		len(t.Migrations))
}

// migrate brings the tables up to date.
func (t *Tables) migrate(ctx context.Context, conn *sql.Conn) error {
	version, err := t.version(ctx, conn)
	if err = errors.Join(err, t.tooNew(version)); err != nil {
		return err
	}
	for ; version < len(t.Migrations); version++ {
		err := step(ctx, conn, fmt.Sprintf("%s INSERT OR REPLACE INTO attached VALUES ('%s', %d);",
			t.Migrations[version], t.Capability, version+1))
		if err != nil {
			return fmt.Errorf("cannot bring its tables of %s to version %d: %w", t.Capability, version+1, err)
		}
	}
	return nil
}

// Tx is the transaction that a piece of work is part of.
type Tx struct{ w *writer }

// Exec runs a statement.
func (t Tx) Exec(statement string, args ...any) error { return t.w.exec(statement, args...) }

// Row reads one row; sql.ErrNoRows if there is none.
func (t Tx) Row(query string, args []any, into ...any) error { return t.w.row(query, args, into...) }

// PruneSoon says that something was added that may be too much.
func (t Tx) PruneSoon() { t.w.pruneSoon = true }

// Read has something read in turn with the writes, so that it sees every write that was queued before it.
func Read[T any](ctx context.Context, s *Store, query func(Tx) (T, error)) (T, error) {
	return read(ctx, s, func(w *writer) (T, error) { return query(Tx{w}) })
}

// Later has work done without waiting for it; Close waits. A failure is logged.
func (s *Store) Later(failure string, work func(Tx) error) {
	s.doLater(failure, "", func(w *writer) error { return work(Tx{w}) })
}

// ReadBeside reads rows of a capability's tables, beside a relay or without one; none where it has no tables yet.
func ReadBeside[T any](ctx context.Context, home config.Home, t *Tables, what, query string, args []any,
	scan func(*sql.Rows) (T, error)) (all []T, err error) {
	if _, err := os.Stat(home.Database()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	db, err := openToRead(ctx, home.Database(), attachedVersion, what)
	if err != nil {
		return nil, err
	}
	var version int
	err = db.QueryRowContext(ctx, findAttached, t.Capability).Scan(&version)
	if err == nil {
		all, err = list(db, query, args, scan)
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", what, err)
	}
	return all, nil
}
