package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"tabrelay/relay/road/call"
)

// maxOutput is the largest output that is kept with a call, for a client that lost its relay before the reply.
const maxOutput = 64 << 10

const columns = `id, session, client, via, tool, profile_id, tab_id, epoch, dispatched, state, resolved, output,` +
	` failure`

const (
	insertCall   = `INSERT INTO calls (` + columns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, NULL, NULL)`
	findCall     = `SELECT ` + columns + ` FROM calls WHERE id = ?`
	openCalls    = `SELECT ` + columns + ` FROM calls WHERE resolved = 0 ORDER BY dispatched, rowid`
	recentCalls  = `SELECT ` + columns + ` FROM calls ORDER BY dispatched DESC, rowid DESC LIMIT ?`
	recoverCalls = `UPDATE calls SET state = 'recovering' WHERE resolved = 0 AND state = 'dispatched'`

	recoveringCalls = `SELECT id FROM calls WHERE resolved = 0 AND state = 'recovering'`

	// A certain outcome is never replaced; unknown is, by a late answer.
	resolveCall = `UPDATE calls SET state = ?, resolved = ?, output = ?, failure = ?
		WHERE id = ? AND state NOT IN ('executed', 'not_executed')`

	forgetOutputs = `UPDATE calls SET output = NULL
		WHERE rowid IN (SELECT rowid FROM calls WHERE output IS NOT NULL AND resolved < ? LIMIT ?)`
	expireCalls = `DELETE FROM calls
		WHERE rowid IN (SELECT rowid FROM calls WHERE dispatched < ? AND resolved <> 0 LIMIT ?)`
	overflowCalls = `DELETE FROM calls
		WHERE rowid IN (SELECT rowid FROM calls WHERE resolved <> 0 ORDER BY dispatched DESC LIMIT ? OFFSET ?)`
)

// RecordSent records a call before its frame is sent, and returns once that is committed. After an error of the context
// it may have been recorded all the same.
func (s *Store) RecordSent(ctx context.Context, r call.Record) error {
	err := s.do(ctx, func(w *writer) error {
		return execute(w.insertCall, string(r.ID), r.Session.ID, r.Session.Client, r.Session.Via, r.Tool, r.ProfileID,
			r.TabID,
			r.Epoch, micros(r.Dispatched), string(call.Dispatched))
	})
	if err != nil {
		return fmt.Errorf("call %s was not written to the journal: %w", r.ID, err)
	}
	return nil
}

// RecordEnd records a call's outcome. It returns before that is committed, and Close waits for it. A certain outcome is
// final; unknown is replaced by what becomes certain later.
func (s *Store) RecordEnd(id call.ID, st call.State, output, failure json.RawMessage) {
	resolved := time.Now().UnixMicro()
	if st == call.Dispatched || st == call.Recovering {
		resolved = 0
	}
	kept, cause := blob(output, maxOutput), blob(failure, maxOutput)
	s.doLater("the outcome of a call was not written to the journal", id, func(w *writer) error {
		return errors.Join(
			w.reportRecovered(id, st),
			w.resolveLetter(id, st, resolved, kept, cause),
			execute(w.resolveCall, string(st), resolved, kept, cause, string(id)),
		)
	})
}

// OpenCalls returns the calls without an outcome, oldest first.
func (s *Store) OpenCalls(ctx context.Context) ([]call.Record, error) { return s.calls(ctx, openCalls) }

// Recent returns the last n calls, the newest first.
func (s *Store) Recent(ctx context.Context, n int) ([]call.Record, error) {
	return s.calls(ctx, recentCalls, n)
}

// Find returns the call with that id, and false when there is none.
func (s *Store) Find(ctx context.Context, id call.ID) (call.Record, bool, error) {
	found, err := s.calls(ctx, findCall, string(id))
	if err != nil || len(found) == 0 {
		return call.Record{}, false, err
	}
	return found[0], true, nil
}

func (s *Store) calls(ctx context.Context, query string, args ...any) ([]call.Record, error) {
	found, err := read(ctx, s, func(w *writer) ([]call.Record, error) { return list(w.conn, query, args, scanCall) })
	if err != nil {
		return nil, fmt.Errorf("cannot read the journal: %w", err)
	}
	return found, nil
}

func scanCall(rows *sql.Rows) (r call.Record, err error) {
	var dispatched, resolved int64
	var output, failure []byte
	err = rows.Scan(&r.ID, &r.Session.ID, &r.Session.Client, &r.Session.Via, &r.Tool, &r.ProfileID, &r.TabID, &r.Epoch,
		&dispatched, &r.State, &resolved, &output, &failure)
	r.Dispatched, r.Resolved = timeOf(dispatched), timeOf(resolved)
	r.Output, r.Failure = output, failure
	return r, err
}

// reportRecovered tells the listener the outcome of a call that an earlier relay left open.
func (w *writer) reportRecovered(id call.ID, outcome call.State) error {
	if !w.recovering[id] || outcome != call.Executed && outcome != call.NotExecuted && outcome != call.Unknown {
		return nil
	}
	delete(w.recovering, id)
	listener := w.recovered.Load()
	if listener == nil {
		return nil
	}
	found, err := list(w.conn, findCall, []any{string(id)}, scanCall)
	for _, r := range found {
		r.State = outcome
		(*listener)(r)
	}
	return err
}

func (w *writer) pruneCalls(now time.Time) (more bool, err error) {
	for _, round := range []struct {
		text string
		args []any
	}{
		{forgetOutputs, []any{now.Add(-keepOutputs).UnixMicro(), rowsAtOnce}},
		{expireCalls, []any{now.Add(-keepCalls).UnixMicro(), rowsAtOnce}},
		{overflowCalls, []any{rowsAtOnce, maxClosedCalls}},
	} {
		n, err := w.change(round.text, round.args...)
		if err != nil {
			return false, err
		}
		more = more || n == rowsAtOnce
	}
	return more, nil
}

// micros is the form of a time in the database; 0 is the zero time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func timeOf(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us)
}

// blob copies what is small enough to keep, since the caller's bytes may be part of a buffer; nil is NULL.
func blob(raw json.RawMessage, limit int) any {
	if len(raw) == 0 || len(raw) > limit {
		return nil
	}
	return slices.Clone([]byte(raw))
}
