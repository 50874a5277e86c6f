package store

import (
	"context"
	"database/sql"
	"time"
)

// How long calls are kept. Outputs serve a client that rejoins within seconds; the rest serves a person who looks
// back. Open calls are kept until they are resolved.
const (
	keepOutputs = time.Hour
	keepCalls   = 7 * 24 * time.Hour
	keepNewest  = 20_000
	atOnce      = 500 // rows one round removes of a kind; work that waits goes between rounds
)

const (
	forgetOutputs = `UPDATE calls SET output = NULL WHERE rowid IN (SELECT rowid FROM calls WHERE output IS NOT NULL AND resolved < ? LIMIT ?)`
	expireCalls   = `DELETE FROM calls WHERE rowid IN (SELECT rowid FROM calls WHERE dispatched < ? AND resolved <> 0 LIMIT ?)`
	overflowCalls = `DELETE FROM calls WHERE rowid IN (SELECT rowid FROM calls WHERE resolved <> 0 ORDER BY dispatched DESC LIMIT ? OFFSET ?)`
)

// prune removes a round of old rows and reports whether there may be more.
func (w *writer) prune() (more bool) {
	now := time.Now()
	for _, round := range []struct {
		stmt *sql.Stmt
		args []any
	}{
		{w.forget, []any{now.Add(-keepOutputs).UnixMicro(), atOnce}},
		{w.expire, []any{now.Add(-keepCalls).UnixMicro(), atOnce}},
		{w.overflow, []any{atOnce, keepNewest}},
	} {
		result, err := round.stmt.ExecContext(context.Background(), round.args...)
		if err != nil {
			w.log.Warn().Err(err).Msg("old calls were not removed from the journal")
			return false
		}
		if n, err := result.RowsAffected(); err == nil && n == atOnce {
			more = true
		}
	}
	if err := w.pruneLetters(now); err != nil {
		w.log.Warn().Err(err).Msg("old dead letters were not removed")
	}
	rows, err := w.pruneAudit(now)
	if err != nil {
		w.log.Warn().Err(err).Msg("old rows of the audit log were not removed")
	}
	results, err := w.pruneResults(now)
	if err != nil {
		w.log.Warn().Err(err).Msg("old results were not removed")
	}
	return more || rows || results
}
