package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tabrelay/relay/call"
)

// maxOutput is the largest output that is kept with a call, for a client that lost its relay before the answer.
const maxOutput = 64 << 10

const columns = `id, session, client, via, tool, profile_id, tab_id, epoch, dispatched, state, resolved, output, failure`

const (
	insertCall   = `INSERT INTO calls (` + columns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, NULL, NULL)`
	findCall     = `SELECT ` + columns + ` FROM calls WHERE id = ?`
	openCalls    = `SELECT ` + columns + ` FROM calls WHERE resolved = 0 ORDER BY dispatched, rowid`
	recentCalls  = `SELECT ` + columns + ` FROM calls ORDER BY dispatched DESC, rowid DESC LIMIT ?`
	recoverCalls = `UPDATE calls SET state = 'recovering' WHERE resolved = 0 AND state = 'dispatched'`

	// What is certain is never replaced; unknown is, by an answer that came late.
	resolveCall = `UPDATE calls SET state = ?, resolved = ?, output = ?, failure = ? WHERE id = ? AND state NOT IN ('executed', 'not_executed')`
)

// Dispatch writes a call down before its frame leaves, and returns once that is committed. After an error of the
// context it may have been written all the same.
func (s *Store) Dispatch(ctx context.Context, r call.Record) error {
	err := s.do(ctx, func(w *writer) error {
		return execute(w.insert, string(r.ID), r.Session.ID, r.Session.Client, r.Session.Via, r.Tool, r.ProfileID, r.TabID, r.Epoch,
			micros(r.Dispatched), string(call.Dispatched))
	})
	if err != nil {
		return fmt.Errorf("call %s was not written to the journal: %w", r.ID, err)
	}
	return nil
}

// Resolve writes a call's outcome down. It returns before that is committed, and Close waits for it. An outcome
// that is certain stays; unknown is replaced by what becomes certain later.
func (s *Store) Resolve(id call.ID, st call.State, output, failure json.RawMessage) {
	resolved := time.Now().UnixMicro()
	if st == call.Dispatched || st == call.Recovering {
		resolved = 0
	}
	kept, cause := blob(output), blob(failure) // copies: the caller's bytes may be part of a buffer
	lost := func(err error) {
		if err != nil {
			s.log.Error().Err(err).Str("correlationId", string(id)).Str("state", string(st)).Msg("the outcome of a call was not written to the journal")
		}
	}
	err := s.enter(context.Background(), work{
		run: func(w *writer) error {
			err := w.settleLetter(id, st, resolved, kept, cause)
			return errors.Join(err, execute(w.resolve, string(st), resolved, kept, cause, string(id)))
		},
		done: lost,
	})
	lost(err)
}

// OpenCalls returns the calls whose end is not known, oldest first.
func (s *Store) OpenCalls(ctx context.Context) ([]call.Record, error) {
	return s.query(ctx, func(w *writer) *sql.Stmt { return w.open })
}

// Recent returns the last n calls, the newest first.
func (s *Store) Recent(ctx context.Context, n int) ([]call.Record, error) {
	return s.query(ctx, func(w *writer) *sql.Stmt { return w.recent }, n)
}

// Find returns the call with that id, and false when none was written down.
func (s *Store) Find(ctx context.Context, id call.ID) (call.Record, bool, error) {
	found, err := s.query(ctx, func(w *writer) *sql.Stmt { return w.find }, string(id))
	if err != nil || len(found) == 0 {
		return call.Record{}, false, err
	}
	return found[0], true, nil
}

// query reads in turn with the writes, so that it sees every one that came before it.
func (s *Store) query(ctx context.Context, pick func(*writer) *sql.Stmt, args ...any) ([]call.Record, error) {
	var read []call.Record // the caller's own only once the work is done
	err := s.do(ctx, func(w *writer) error {
		rows, err := pick(w).QueryContext(context.Background(), args...)
		if err != nil {
			return err
		}
		for rows.Next() {
			r, err := scan(rows)
			if err != nil {
				return errors.Join(err, rows.Close())
			}
			read = append(read, r)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the journal: %w", err)
	}
	return read, nil
}

func scan(rows *sql.Rows) (r call.Record, err error) {
	var dispatched, resolved int64
	var output, failure []byte
	err = rows.Scan(&r.ID, &r.Session.ID, &r.Session.Client, &r.Session.Via, &r.Tool, &r.ProfileID, &r.TabID, &r.Epoch,
		&dispatched, &r.State, &resolved, &output, &failure)
	r.Dispatched, r.Resolved = moment(dispatched), moment(resolved)
	r.Output, r.Failure = output, failure
	return r, err
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func moment(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us)
}

// blob copies what is small enough to keep; nil is NULL.
func blob(raw json.RawMessage) any { return blobUpTo(raw, maxOutput) }
