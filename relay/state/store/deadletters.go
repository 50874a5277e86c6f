package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"tabrelay/relay/road/call"
)

// maxArguments is how much of a dead letter's arguments is kept. A call with more cannot be replayed.
const maxArguments = 64 << 10

const letterColumns = `id, sent, session, client, via, tool, created, tab_id, profile, arguments, redacted, attempts,
	outcome, failure, resolved, late_outcome, late_output, late_failure, replay_of, replayed, deeds`

const (
	insertLetter = `INSERT OR REPLACE INTO dead_letters (` + letterColumns + `)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '', NULL, NULL, ?, '', ?)`
	findLetter  = `SELECT ` + letterColumns + ` FROM dead_letters WHERE id = ?`
	findLetters = `SELECT ` + letterColumns + ` FROM dead_letters
		WHERE (? = '' OR client = ?) AND (? = '' OR session = ? OR substr(session, 1, length(?) + 1) = ? || '/')
		AND n < ? ORDER BY n DESC LIMIT ?`
	letterNumber = `SELECT n FROM dead_letters WHERE id = ?`
	markReplayed = `UPDATE dead_letters SET replayed = ? WHERE id = ?`

	unresolvedAttempts = `SELECT sent FROM dead_letters WHERE resolved = 0 AND outcome = 'unknown' AND sent <> ''`

	resolveLetter = `UPDATE dead_letters SET resolved = ?, late_outcome = ?, late_output = ?, late_failure = ?
		WHERE sent = ? AND resolved = 0 RETURNING id, session, client, via, tool, profile, tab_id, late_outcome`

	// The outcome may have come between the call's failure and the letter.
	resolveFromCall = `UPDATE dead_letters
		SET resolved = c.resolved, late_outcome = c.state, late_output = c.output, late_failure = c.failure
		FROM calls c WHERE dead_letters.sent = ? AND dead_letters.outcome = 'unknown' AND c.id = dead_letters.sent
		AND c.state IN ('executed', 'not_executed')
		RETURNING dead_letters.id, dead_letters.session, dead_letters.client, dead_letters.via, dead_letters.tool,
			dead_letters.profile, dead_letters.tab_id, late_outcome`

	// A call of an earlier relay whose outcome is given up has no caller that would add its letter, and its arguments
	// are lost. When its client asks for it after all, AddDeadLetter replaces the letter.
	insertAbandoned = `INSERT OR IGNORE INTO dead_letters (` + letterColumns + `)
		SELECT id, id, session, client, via, tool, dispatched, tab_id, '', NULL, 1, 1, 'unknown', ?, 0, '', NULL, NULL, '', '', ''
		FROM calls WHERE id = ? AND state = 'recovering'`

	removeAbandoned = `DELETE FROM dead_letters WHERE sent = ?`

	expireLetters   = `DELETE FROM dead_letters WHERE created < ?`
	overflowLetters = `DELETE FROM dead_letters WHERE n IN (SELECT n FROM dead_letters ORDER BY n DESC LIMIT -1 ` +
		`OFFSET ?)`
)

// abandonedFailure is the failure of a call whose outcome was lost with its relay.
const abandonedFailure = `{"code":"EXTENSION_LOST","category":"internal","source":"TRANSPORT","class":"transient",` +
	`"message":"The relay restarted after the call was sent, and its outcome could not be determined",` +
	`"retryable":false,"outcome":"unknown","rpcCode":-32000}`

// AddDeadLetter records a call whose outcome is unknown, or that failed as often as it may be tried. sent is the id of
// the attempt in doubt: a late outcome of that attempt resolves the letter. AddDeadLetter returns before that is
// committed, and Close waits for it.
func (s *Store) AddDeadLetter(l call.DeadLetter, sent call.ID) {
	arguments, failure := blob(l.Arguments, maxArguments), blob(l.Failure, maxOutput)
	redacted := l.Redacted || arguments == nil && len(l.Arguments) > 0
	s.doLater("a dead letter was not recorded", l.ID, func(w *writer) error {
		if sent != "" {
			if err := w.exec(removeAbandoned, string(sent)); err != nil {
				return err
			}
		}
		err := w.exec(insertLetter, string(l.ID), string(sent), l.Session.ID, l.Session.Client, l.Session.Via, l.Tool,
			micros(l.Created), l.TabID, l.Profile, arguments, redacted, l.Attempts, string(l.Outcome), failure,
			string(l.ReplayOf), l.Deeds)
		if err != nil {
			return err
		}
		w.pruneSoon = true
		if l.ReplayOf != "" {
			err = w.exec(markReplayed, string(l.ID), string(l.ReplayOf))
		}
		if l.Outcome == call.Unknown && sent != "" {
			w.unresolved[sent] = true
			err = errors.Join(err, w.updateLetter(sent, resolveFromCall))
		}
		return err
	})
}

// MarkReplayed records that a dead letter was called again, as another call.
func (s *Store) MarkReplayed(letter, again call.ID) {
	s.doLater("a replay was not recorded", letter, func(w *writer) error {
		return w.exec(markReplayed, string(again), string(letter))
	})
}

// DeadLetter returns the letter of that call, and false when there is none, or not any more.
func (s *Store) DeadLetter(ctx context.Context, id call.ID) (call.DeadLetter, bool, error) {
	found, err := read(ctx, s, func(w *writer) ([]call.DeadLetter, error) {
		return list(w.conn, findLetter, []any{string(id)}, scanLetter)
	})
	if err != nil {
		return call.DeadLetter{}, false, fmt.Errorf("cannot read the dead letters: %w", err)
	}
	return append(found, call.DeadLetter{})[0], len(found) > 0, nil
}

// ErrNoDeadLetter is returned when a list was to go on after a letter that does not exist, or not any more.
var ErrNoDeadLetter = errors.New("there is no such dead letter")

// DeadLetters returns letters of an owner that are older than the letter before (empty: all), the newest first.
func (s *Store) DeadLetters(
	ctx context.Context, of call.Owner, before call.ID, limit int,
) ([]call.DeadLetter, error) {
	found, err := read(ctx, s, func(w *writer) ([]call.DeadLetter, error) {
		n := int64(1<<63 - 1)
		if before != "" {
			err := w.row(letterNumber, []any{string(before)}, &n)
			if errors.Is(err, sql.ErrNoRows) {
				err = ErrNoDeadLetter
			}
			if err != nil {
				return nil, err
			}
		}
		return list(w.conn, findLetters, []any{of.Client, of.Client, of.Session, of.Session, of.Session, of.Session, n,
			limit}, scanLetter)
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the dead letters: %w", err)
	}
	return found, nil
}

func scanLetter(rows *sql.Rows) (l call.DeadLetter, err error) {
	var created, resolved int64
	var sent string
	var arguments, failure, output, lateFailure []byte
	err = rows.Scan(&l.ID, &sent, &l.Session.ID, &l.Session.Client, &l.Session.Via, &l.Tool, &created, &l.TabID,
		&l.Profile, &arguments, &l.Redacted, &l.Attempts, &l.Outcome, &failure, &resolved, &l.LateOutcome, &output,
		&lateFailure, &l.ReplayOf, &l.Replayed, &l.Deeds)
	l.Created, l.Resolved = timeOf(created), timeOf(resolved)
	l.Arguments, l.Failure, l.LateOutput, l.LateFailure = arguments, failure, output, lateFailure
	return l, err
}

// resolveLetter records the outcome of a call in its letter. It does nothing for calls without a letter.
func (w *writer) resolveLetter(sent call.ID, st call.State, resolved int64, output, failure any) error {
	switch {
	case st == call.Unknown:
		n, err := w.change(insertAbandoned, abandonedFailure, string(sent))
		if n > 0 {
			w.unresolved[sent], w.pruneSoon = true, true
		}
		return err
	case !w.unresolved[sent] || st != call.Executed && st != call.NotExecuted:
		return nil
	}
	delete(w.unresolved, sent) // also when the letter is gone
	return w.updateLetter(sent, resolveLetter, resolved, string(st), output, failure)
}

// updateLetter resolves the letter of the attempt sent with a statement, whose last argument is that id, and tells the
// listener. A letter that is resolved already, or gone, is no error.
func (w *writer) updateLetter(sent call.ID, statement string, args ...any) error {
	var l call.DeadLetter
	err := w.row(statement, append(args, string(sent)), &l.ID, &l.Session.ID, &l.Session.Client, &l.Session.Via,
		&l.Tool, &l.Profile, &l.TabID, &l.LateOutcome)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	delete(w.unresolved, sent)
	if listener := w.lateOutcome.Load(); listener != nil {
		(*listener)(l)
	}
	return nil
}

// pruneLetters removes letters that are too old or too many.
func (w *writer) pruneLetters(now time.Time) (more bool, err error) {
	if err := w.exec(expireLetters, now.Add(-w.limits.DeadLetterAge).UnixMicro()); err != nil {
		return false, err
	}
	if err := w.exec(overflowLetters, w.limits.DeadLetters); err != nil {
		return false, err
	}
	if len(w.unresolved) > w.limits.DeadLetters { // some belong to letters that are gone
		w.unresolved, err = w.ids(unresolvedAttempts)
	}
	return false, err
}
