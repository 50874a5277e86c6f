package store

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/road/call"
)

// work is one thing to do on the connection. done is called once, after the commit it was part of.
type work struct {
	run  func(*writer) error
	done func(error)
}

// writer owns the connection; everything in it but the listeners belongs to the goroutine that runs it.
type writer struct {
	used bool // the database was there before
	db   *sql.DB
	conn *sql.Conn
	log  zerolog.Logger

	// Statements that every journalled call needs.
	begin, commit, rollback              *sql.Stmt
	insertCall, resolveCall, insertAudit *sql.Stmt

	batch []work
	errs  []error // of the batch

	limits      Limits
	tables      []*Tables        // of capabilities
	unresolved  map[call.ID]bool // attempts whose outcome would resolve a dead letter
	recovering  map[call.ID]bool // calls that an earlier relay left open
	pruneSoon   bool             // something was added that may be too much
	auditOver   bool             // the audit log is being pruned to its limit
	lateOutcome atomic.Pointer[func(call.DeadLetter)]
	recovered   atomic.Pointer[func(call.Record)]
}

const (
	maxBatch       = 256       // work items in one transaction, so that nobody waits long for others
	rowsAtOnce     = 500       // rows of calls that one round of pruning removes; queued work goes between rounds
	keepOutputs    = time.Hour // an output serves a client that reconnects within seconds
	keepCalls      = 7 * 24 * time.Hour
	maxClosedCalls = 20_000 // calls without an outcome are kept until they have one
)

// prepare brings the tables up to date and prepares the frequent statements.
func prepare(ctx context.Context, conn *sql.Conn, limits Limits, tables []*Tables) (*writer, error) {
	used, err := migrate(ctx, conn)
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		if err := t.migrate(ctx, conn); err != nil {
			return nil, err
		}
	}
	w := &writer{conn: conn, limits: limits, used: used, tables: tables}
	for _, p := range []struct {
		into **sql.Stmt
		text string
	}{
		{&w.begin, "BEGIN IMMEDIATE"}, {&w.commit, "COMMIT"}, {&w.rollback, "ROLLBACK"},
		{&w.insertCall, insertCall}, {&w.resolveCall, resolveCall}, {&w.insertAudit, insertAudit},
	} {
		var err error
		if *p.into, err = conn.PrepareContext(ctx, p.text); err != nil {
			return nil, err
		}
	}
	for _, text := range []string{recoverCalls, dropUnfinished} {
		err = errors.Join(err, w.exec(text))
	}
	err = errors.Join(err, w.loseTasks(time.Now()))
	if err == nil {
		w.unresolved, err = w.ids(unresolvedAttempts)
	}
	if err == nil {
		w.recovering, err = w.ids(recoveringCalls)
	}
	return w, err
}

// run writes until quit, and then what is still queued. Old rows are removed first and every hour.
func (w *writer) run(queue <-chan work, quit <-chan struct{}) {
	hourly := time.NewTicker(time.Hour)
	defer hourly.Stop()
	ready := make(chan struct{})
	close(ready)
	pruning := w.prune() // one round after the other, between work
	for {
		var next chan struct{}
		if pruning {
			next = ready
		}
		select {
		case first := <-queue:
			w.write(first, queue)
			pruning, w.pruneSoon = pruning || w.pruneSoon, false
		case <-next:
			pruning = w.prune()
		case <-hourly.C:
			pruning = true
		case <-quit:
			for len(queue) > 0 {
				w.write(<-queue, queue)
			}
			return
		}
	}
}

// write runs first and what else is queued in one transaction, and reports the results.
func (w *writer) write(first work, queue <-chan work) {
	w.batch = append(w.batch[:0], first)
	for len(w.batch) < maxBatch {
		select {
		case next := <-queue:
			w.batch = append(w.batch, next)
			continue
		default:
		}
		break
	}
	err := w.runBatch()
	for i, item := range w.batch {
		item.done(plain(errors.Join(w.errs[i], err)))
		w.batch[i] = work{}
	}
}

// runBatch runs the batch. A statement that fails undoes itself only; a commit that fails undoes all, and so does what
// makes SQLite roll back by itself: statements after that would each be committed at once.
func (w *writer) runBatch() error {
	w.errs = append(w.errs[:0], make([]error, len(w.batch))...)
	return w.transaction(func() error {
		for i, item := range w.batch {
			w.errs[i] = item.run(w)
			if endsTransaction(w.errs[i]) {
				return w.errs[i]
			}
		}
		return nil
	})
}

func (w *writer) transaction(run func() error) error {
	if err := execute(w.begin); err != nil {
		return err
	}
	err := run()
	if err == nil {
		err = execute(w.commit)
	}
	if err != nil {
		// After some errors SQLite has rolled back by itself, and says so. What was not keeps the next from beginning.
		_ = execute(w.rollback)
	}
	return err
}

// close moves everything into the one file that people copy, and leaves an empty log beside it.
func (w *writer) close() error {
	if err := w.exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		w.log.Warn().Err(err).Msg("the database's last changes stay in its log, tabrelay.db-wal")
	}
	return errors.Join(w.conn.Close(), w.db.Close())
}

// prune removes a round of old rows and reports whether there may be more.
func (w *writer) prune() (more bool) {
	now := time.Now()
	for _, round := range []struct {
		rows  string
		prune func(time.Time) (more bool, err error)
	}{
		{"calls of the journal", w.pruneCalls}, {"dead letters", w.pruneLetters},
		{"rows of the audit log", w.pruneAudit}, {"results", w.pruneResults},
		{"tabs of sessions", w.pruneLastTabs}, {"tasks", w.pruneTasks},
	} {
		again, err := round.prune(now)
		if err != nil {
			w.log.Warn().Err(err).Msg("old " + round.rows + " were not removed")
		}
		more = more || again && err == nil
	}
	for _, t := range w.tables {
		if t.Prune == nil {
			continue
		}
		if err := t.Prune(Tx{w}, now.Add(-w.limits.AuditAge)); err != nil {
			w.log.Warn().Err(err).Msg("old rows of " + t.Capability + " were not removed")
		}
	}
	return more
}

// execute runs a prepared statement. The driver watches a context that can be cancelled from another goroutine, which
// costs more than the statement, so there is none.
func execute(s *sql.Stmt, args ...any) error {
	_, err := s.ExecContext(context.Background(), args...)
	return err
}

// exec runs a statement that is too rare to be prepared.
func (w *writer) exec(text string, args ...any) error {
	_, err := w.change(text, args...)
	return err
}

// change is exec; it returns how many rows changed.
func (w *writer) change(text string, args ...any) (rows int64, err error) {
	result, err := w.conn.ExecContext(context.Background(), text, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// row reads one row; sql.ErrNoRows if there is none.
func (w *writer) row(query string, args []any, into ...any) error {
	return w.conn.QueryRowContext(context.Background(), query, args...).Scan(into...)
}

// number reads one number, 0 if there is no row.
func (w *writer) number(query string, args ...any) (n int64, err error) {
	if err = w.row(query, args, &n); errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return n, err
}

// ids reads a set of calls.
func (w *writer) ids(query string) (map[call.ID]bool, error) {
	set := map[call.ID]bool{}
	_, err := list(w.conn, query, nil, func(rows *sql.Rows) (id call.ID, err error) {
		err = rows.Scan(&id)
		set[id] = true
		return id, err
	})
	return set, err
}

// querier is a connection or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// list reads all rows of a query.
func list[T any](q querier, query string, args []any, scan func(*sql.Rows) (T, error)) (all []T, err error) {
	rows, err := q.QueryContext(context.Background(), query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() // the error of reading is that of Err
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
