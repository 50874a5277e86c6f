// Package store keeps what must survive the relay in one SQLite file: the journal of calls that change something,
// results that were too large for an answer, and the dead letters.
//
// One goroutine owns the only connection. It takes whatever is waiting, writes it in one transaction and then tells
// everyone who waits, so that the price of a commit is shared by all calls in flight. A commit survives the death of
// the process; a power cut may lose the last moments, but leaves a file that is whole.
package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"tabrelay/relay/call"
)

// ErrClosed is returned for work that came after Close.
var ErrClosed = errors.New("the store is closed")

// queued is how much work may wait for the writer before callers do.
const queued = 4096

// Store is an open database. Its methods may be called concurrently.
type Store struct {
	log    zerolog.Logger
	limits Limits
	work   chan work // bounded, never closed

	waiting waiting // results; its lock is never held while another is taken

	settled *atomic.Pointer[func(call.DeadLetter)]
	found   *atomic.Pointer[func(call.Record)]

	// door lets work in; Close locks it for good. Nothing else nests in it.
	door   sync.RWMutex
	closed bool
	quit   chan struct{} // closed by Close, after the door
	done   chan struct{} // closed by the writer when it ended
	failed error         // of closing the database; read after done
}

// Limits is how much is kept, and how long. A field that is zero has its default.
type Limits struct {
	ResultBytes int64         // of all results together; default 256 MiB
	ResultAge   time.Duration // default 24 hours
	Letters     int           // dead letters; default 1000
	LetterAge   time.Duration // default 7 days
	AuditRows   int           // of the audit log; default 1,000,000
	AuditAge    time.Duration // default 90 days
}

func (l Limits) orDefault() Limits {
	return Limits{
		ResultBytes: cmp.Or(l.ResultBytes, 256<<20), ResultAge: cmp.Or(l.ResultAge, 24*time.Hour),
		Letters: cmp.Or(l.Letters, 1000), LetterAge: cmp.Or(l.LetterAge, 7*24*time.Hour),
		AuditRows: cmp.Or(l.AuditRows, 1_000_000), AuditAge: cmp.Or(l.AuditAge, 90*24*time.Hour),
	}
}

// Open opens or creates the database, brings its tables up to date, and marks the calls that an earlier relay left
// open as recovering.
func Open(ctx context.Context, path string, limits Limits, log zerolog.Logger) (*Store, error) {
	limits = limits.orDefault()
	db, conn, err := connect(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", filepath.Base(path), err)
	}
	w, err := prepare(ctx, conn, limits)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot use %s: %w", filepath.Base(path), err), conn.Close(), db.Close())
	}
	w.db, w.log = db, log
	s := &Store{log: log, limits: limits, settled: &w.settled, found: &w.found, work: make(chan work, queued), quit: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		w.run(s.work, s.quit)
		s.failed = w.close()
	}()
	return s, nil
}

// OnSettled makes the store tell listener when the end of a dead letter's call came late: whose it is, what was called,
// where, and LateOutcome. It must not block, nor wait for the store.
func (s *Store) OnSettled(listener func(call.DeadLetter)) { s.settled.Store(&listener) }

// OnRecovered makes the store tell listener when the end of a call became known, or was given up, that an earlier relay
// had left open. It must not block, nor wait for the store.
func (s *Store) OnRecovered(listener func(call.Record)) { s.found.Store(&listener) }

// Close writes what is waiting and closes the database. It may be called more than once, and waits every time.
func (s *Store) Close() error {
	s.waiting.close()
	s.door.Lock()
	if !s.closed {
		s.closed = true
		close(s.quit)
	}
	s.door.Unlock()
	<-s.done
	return s.failed
}

// enter hands work to the writer. It waits while the queue is full, but not longer than the context lives.
func (s *Store) enter(ctx context.Context, w work) error {
	s.door.RLock()
	defer s.door.RUnlock()
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

// do hands work over and waits until it is committed.
func (s *Store) do(ctx context.Context, run func(*writer) error) error {
	answer := make(chan error, 1)
	if err := s.enter(ctx, work{run: run, done: func(err error) { answer <- err }}); err != nil {
		return err
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
