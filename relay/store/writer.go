package store

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/call"
)

// work is one thing to do on the connection. done is called once, after the commit it was part of.
type work struct {
	run  func(*writer) error
	done func(error)
}

// writer owns the connection; everything in it belongs to the goroutine that runs it.
type writer struct {
	db   *sql.DB
	conn *sql.Conn
	log  zerolog.Logger

	begin, commit, rollback  *sql.Stmt
	insert, resolve          *sql.Stmt
	find, open, recent       *sql.Stmt
	forget, expire, overflow *sql.Stmt
	auditing                 *sql.Stmt
	batch                    []work

	limits     Limits
	doubtful   map[call.ID]bool // attempts whose end would settle a dead letter
	untidy     bool             // something was added that may be too much
	auditOver  bool             // the audit log is being pruned to its limit
	settled    atomic.Pointer[func(call.DeadLetter)]
	found      atomic.Pointer[func(call.Record)]
	recovering map[call.ID]bool // calls that an earlier relay left open
	errs       []error
}

// together is how much work one transaction takes at most, so that nobody waits long for others.
const together = 256

// prepare brings the tables up to date and prepares every statement.
func prepare(ctx context.Context, conn *sql.Conn, limits Limits) (*writer, error) {
	if err := migrate(ctx, conn); err != nil {
		return nil, err
	}
	w := &writer{conn: conn, limits: limits}
	for _, p := range []struct {
		into **sql.Stmt
		text string
	}{
		{&w.begin, "BEGIN IMMEDIATE"}, {&w.commit, "COMMIT"}, {&w.rollback, "ROLLBACK"},
		{&w.insert, insertCall}, {&w.resolve, resolveCall},
		{&w.find, findCall}, {&w.open, openCalls}, {&w.recent, recentCalls},
		{&w.auditing, insertAudit}, {&w.forget, forgetOutputs}, {&w.expire, expireCalls}, {&w.overflow, overflowCalls},
	} {
		var err error
		if *p.into, err = conn.PrepareContext(ctx, p.text); err != nil {
			return nil, err
		}
	}
	for _, text := range []string{recoverCalls, dropUnfinished} {
		if err := w.exec(text); err != nil {
			return nil, err
		}
	}
	return w, errors.Join(w.loadDoubtful(ctx), w.loadRecovering(ctx))
}

// run writes until quit, and then what is still waiting. Old rows go first and every hour.
func (w *writer) run(queue <-chan work, quit <-chan struct{}) {
	hourly := time.NewTicker(time.Hour)
	defer hourly.Stop()
	old := w.prune() // there may be more than one round's worth
	for {
		var idle chan struct{}
		if old {
			idle = always
		}
		select {
		case first := <-queue:
			w.write(first, queue)
			old, w.untidy = old || w.untidy, false
		case <-idle:
			old = w.prune()
		case <-hourly.C:
			old = true
		case <-quit:
			for len(queue) > 0 {
				w.write(<-queue, queue)
			}
			return
		}
	}
}

// always is ready to be received from.
var always = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// write runs first and what else is waiting in one transaction, and tells everyone how it went.
func (w *writer) write(first work, queue <-chan work) {
	w.batch = append(w.batch[:0], first)
	for len(w.batch) < together {
		select {
		case next := <-queue:
			w.batch = append(w.batch, next)
			continue
		default:
		}
		break
	}
	err := w.transact()
	for i, item := range w.batch {
		item.done(errors.Join(w.errs[i], err))
		w.batch[i] = work{}
	}
}

// transact runs the batch. A statement that fails undoes itself only; a commit that fails undoes all.
func (w *writer) transact() error {
	w.errs = append(w.errs[:0], make([]error, len(w.batch))...)
	if err := execute(w.begin); err != nil {
		return err
	}
	for i, item := range w.batch {
		w.errs[i] = item.run(w)
	}
	err := execute(w.commit)
	if err != nil {
		err = errors.Join(err, execute(w.rollback))
	}
	return err
}

// close ends with everything in the one file that people copy, and an empty log beside it.
func (w *writer) close() error {
	if err := w.exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		w.log.Warn().Err(err).Msg("the database's last changes stay in its log, tabrelay.db-wal")
	}
	return errors.Join(w.conn.Close(), w.db.Close())
}

// execute runs a statement to its end. The driver watches a context that can be cancelled from a goroutine of its
// own, which costs more than the statement, so there is none.
func execute(s *sql.Stmt, args ...any) error {
	_, err := s.ExecContext(context.Background(), args...)
	return err
}
