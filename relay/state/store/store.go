// Package store keeps what must survive the relay in one SQLite file: the journal of calls that change something,
// results that were too large for a reply, tasks, dead letters, rules, reviews, the audit log, which profiles, clients
// and tabs the relay has seen, and what capabilities keep.
//
// One goroutine owns the only connection. It takes all queued work, writes it in one transaction and then reports to
// every caller, so that calls in flight share the price of a commit. A commit survives the death of the process; a
// power cut may lose the last moments, but leaves a consistent file.
package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
)

// ErrClosed is returned for work that came after Close.
var ErrClosed = errors.New("the store is closed")

// maxQueued is how much work may be queued before callers block.
const maxQueued = 4096

// Store is an open database. Its methods may be called concurrently.
type Store struct {
	log    zerolog.Logger
	limits Limits
	work   chan work // bounded, never closed

	generation *generation // of rules and switches
	used       bool        // an earlier program wrote to it

	unwritten writeBuffer // results; no other lock is taken while its lock is held

	lateOutcome *atomic.Pointer[func(call.DeadLetter)]
	recovered   *atomic.Pointer[func(call.Record)]

	// mu is held for reading while work is queued; no other lock is taken while it is held.
	mu     lock.RWMutex
	closed bool
	quit   chan struct{} // closed by Close, after closed is set
	done   chan struct{} // closed by the writer when it ended
	failed error         // of closing the database; read after done
}

// Limits is how much is kept, and how long. A field that is zero has its default.
type Limits struct {
	ResultBytes   int64         // of all results together; default 256 MiB
	ResultAge     time.Duration // default 24 hours
	DeadLetters   int           // default 1000
	DeadLetterAge time.Duration // default 7 days
	AuditRows     int           // of the audit log; default 1,000,000
	AuditAge      time.Duration // default 90 days
}

// LimitsOf are the limits that a configuration has.
func LimitsOf(c config.Config) Limits {
	const day = 24 * time.Hour
	return Limits{
		ResultBytes: c.Results.TotalBytes, ResultAge: time.Duration(c.Results.KeepHours) * time.Hour,
		DeadLetters: c.DeadLetters.Max, DeadLetterAge: time.Duration(c.DeadLetters.KeepDays) * day,
		AuditRows: c.Audit.MaxRows, AuditAge: time.Duration(c.Audit.KeepDays) * day,
	}
}

func (l Limits) orDefault() Limits {
	return Limits{
		ResultBytes: cmp.Or(l.ResultBytes, 256<<20), ResultAge: cmp.Or(l.ResultAge, 24*time.Hour),
		DeadLetters: cmp.Or(l.DeadLetters, 1000), DeadLetterAge: cmp.Or(l.DeadLetterAge, 7*24*time.Hour),
		AuditRows: cmp.Or(l.AuditRows, 1_000_000), AuditAge: cmp.Or(l.AuditAge, 90*24*time.Hour),
	}
}

// Open opens or creates the database, brings its tables and those of capabilities up to date, and marks the calls that
// an earlier relay left open as recovering.
func Open(ctx context.Context, path string, limits Limits, log zerolog.Logger, tables ...*Tables) (*Store, error) {
	limits = limits.orDefault()
	db, conn, err := connect(ctx, path)
	if err != nil {
		return nil, unusable(fmt.Errorf("cannot open %s: %w", filepath.Base(path), err))
	}
	w, err := prepare(ctx, conn, limits, tables)
	if err != nil {
		err = fmt.Errorf("cannot use %s: %w", filepath.Base(path), err)
		return nil, unusable(errors.Join(err, conn.Close(), db.Close()))
	}
	w.db, w.log = db, log
	changes, err := openGeneration(w, path)
	if err != nil {
		return nil, unusable(errors.Join(err, conn.Close(), db.Close()))
	}
	s := &Store{
		generation: changes, used: w.used,
		log: log, limits: limits, lateOutcome: &w.lateOutcome, recovered: &w.recovered,
		work: make(chan work, maxQueued), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go func() {
		defer close(s.done)
		w.run(s.work, s.quit)
		s.failed = w.close()
	}()
	return s, nil
}

// unusable has the next step for a database that cannot be opened or brought up to date.
func unusable(err error) error {
	if errors.Is(plain(err), errFull) {
		return errFull
	}
	if errors.Is(err, errNewer) {
		return &config.FileError{Err: err, Next: "update tabrelay to the version that wrote it, or a newer one"}
	}
	return &config.FileError{Err: err, Next: "restore tabrelay.db from a backup, or move tabrelay.db, " +
		"tabrelay.db-wal " +
		"and tabrelay.db-shm away: new ones are created, without the earlier rules, reviews, audit log and results"}
}

// OnLateOutcome sets the listener for dead letters whose call turned out to be executed or not. It gets the letter's
// session, tool, place and LateOutcome. It must neither block nor wait for the store.
func (s *Store) OnLateOutcome(listener func(call.DeadLetter)) { s.lateOutcome.Store(&listener) }

// OnRecovered sets the listener for calls that an earlier relay left open and whose outcome is now known or given up.
// It must neither block nor wait for the store.
func (s *Store) OnRecovered(listener func(call.Record)) { s.recovered.Store(&listener) }

// Close writes what is queued and closes the database. It may be called more than once, and waits every time.
func (s *Store) Close() error {
	s.unwritten.close()
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.quit)
	}
	s.mu.Unlock()
	<-s.done
	return s.failed
}

// enqueue hands work to the writer. It blocks while the queue is full, but not longer than the context lives.
func (s *Store) enqueue(ctx context.Context, w work) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return ErrClosed
	}
	select {
	case s.work <- w:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// do has work done and waits until it is committed.
func (s *Store) do(ctx context.Context, run func(*writer) error) error {
	lock.NoneHeld("waiting for the database")
	result := make(chan error, 1)
	if err := s.enqueue(ctx, work{run: run, done: func(err error) { result <- err }}); err != nil {
		return err
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// doLater has work done without waiting for it; Close waits. A failure is logged.
func (s *Store) doLater(failure string, id call.ID, run func(*writer) error) {
	report := func(err error) {
		if err != nil {
			s.log.Error().Err(err).Str("correlationId", string(id)).Msg(failure)
		}
	}
	report(s.enqueue(context.Background(), work{run: run, done: report}))
}

// read has something read in turn with the writes, so that it sees every write that was queued before it.
func read[T any](ctx context.Context, s *Store, query func(*writer) (T, error)) (value T, err error) {
	result := make(chan T, 1) // when ctx ends first, nobody receives
	err = s.do(ctx, func(w *writer) error {
		v, err := query(w)
		result <- v
		return err
	})
	if err == nil {
		value = <-result
	}
	return value, err
}
