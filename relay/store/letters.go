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

// maxArguments is how much of a dead letter's arguments is kept. More cannot be replayed, and nobody reads it.
const maxArguments = 64 << 10

const letterColumns = `id, sent, session, client, via, tool, created, tab_id, profile, arguments, redacted, attempts, outcome, failure,
	resolved, late_outcome, late_output, late_failure, replay_of, replayed`

const (
	insertLetter = `INSERT OR REPLACE INTO dead_letters (` + letterColumns + `)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '', NULL, NULL, ?, '')`
	findLetter   = `SELECT ` + letterColumns + ` FROM dead_letters WHERE id = ?`
	findLetters  = `SELECT ` + letterColumns + ` FROM dead_letters WHERE (? = '' OR client = ?) AND n < ? ORDER BY n DESC LIMIT ?`
	letterNumber = `SELECT n FROM dead_letters WHERE id = ?`
	openLetters  = `SELECT sent FROM dead_letters WHERE resolved = 0 AND outcome = 'unknown' AND sent <> ''`
	markReplayed = `UPDATE dead_letters SET replayed = ? WHERE id = ?`

	resolveLetter = `UPDATE dead_letters SET resolved = ?, late_outcome = ?, late_output = ?, late_failure = ? WHERE sent = ? AND resolved = 0
		RETURNING id, session, client, via, tool, profile, tab_id, late_outcome`

	// The end may have come between the call's failure and the letter.
	resolvedMeanwhile = `UPDATE dead_letters SET resolved = c.resolved, late_outcome = c.state, late_output = c.output, late_failure = c.failure
		FROM calls c WHERE dead_letters.sent = ? AND dead_letters.outcome = 'unknown' AND c.id = dead_letters.sent AND c.state IN ('executed', 'not_executed')
		RETURNING dead_letters.id, dead_letters.session, dead_letters.client, dead_letters.via, dead_letters.tool, dead_letters.profile, dead_letters.tab_id, late_outcome`

	// A call of an earlier relay that is given up has nobody who would write its letter. Its arguments went with
	// that relay. When its client asks for it after all, the letter is written anew.
	orphanLetter = `INSERT OR IGNORE INTO dead_letters (` + letterColumns + `)
		SELECT id, id, session, client, via, tool, dispatched, tab_id, '', NULL, 1, 1, 'unknown', ?, 0, '', NULL, NULL, '', ''
		FROM calls WHERE id = ? AND state = 'recovering'`

	removeOrphan = `DELETE FROM dead_letters WHERE sent = ?`

	expireLetters   = `DELETE FROM dead_letters WHERE created < ?`
	overflowLetters = `DELETE FROM dead_letters WHERE n IN (SELECT n FROM dead_letters ORDER BY n DESC LIMIT -1 OFFSET ?)`
)

// AddDeadLetter writes down a call whose end nobody saw, or that failed as often as it may be tried. sent is the id
// under which the attempt in doubt was sent: a late outcome of that resolves the letter. It returns before that is
// committed, and Close waits for it.
func (s *Store) AddDeadLetter(l call.DeadLetter, sent call.ID) {
	arguments := blobUpTo(l.Arguments, maxArguments)
	redacted := l.Redacted || arguments == nil && len(l.Arguments) > 0
	failure := blob(l.Failure)
	s.later("a dead letter was not written down", l.ID, func(w *writer) error {
		if sent != "" {
			if err := w.exec(removeOrphan, string(sent)); err != nil {
				return err
			}
		}
		err := w.exec(insertLetter, string(l.ID), string(sent), l.Session.ID, l.Session.Client, l.Session.Via, l.Tool, micros(l.Created),
			l.TabID, l.Profile, arguments, redacted, l.Attempts, string(l.Outcome), failure, string(l.ReplayOf))
		if err != nil {
			return err
		}
		w.untidy = true
		if l.ReplayOf != "" {
			err = w.exec(markReplayed, string(l.ID), string(l.ReplayOf))
		}
		if l.Outcome == call.Unknown && sent != "" {
			w.doubtful[sent] = true
			err = errors.Join(err, w.settle(sent, resolvedMeanwhile))
		}
		return err
	})
}

// later has work done that nobody waits for.
func (s *Store) later(complaint string, id call.ID, run func(*writer) error) {
	lost := func(err error) {
		if err != nil && !errors.Is(err, ErrClosed) {
			s.log.Error().Err(err).Str("correlationId", string(id)).Msg(complaint)
		}
	}
	lost(s.enter(context.Background(), work{run: run, done: lost}))
}

// Replayed notes that a dead letter was called again, as another call.
func (s *Store) Replayed(letter, again call.ID) {
	s.later("a replay was not written down", letter, func(w *writer) error { return w.exec(markReplayed, string(again), string(letter)) })
}

// DeadLetter returns the letter of that call, and false when there is none, or not any more.
func (s *Store) DeadLetter(ctx context.Context, id call.ID) (call.DeadLetter, bool, error) {
	found, err := s.letters(ctx, func(*writer) (string, []any, error) { return findLetter, []any{string(id)}, nil })
	if err != nil || len(found) == 0 {
		return call.DeadLetter{}, false, err
	}
	return found[0], true, nil
}

// DeadLetters returns the last letters, at most limit, the newest first.
func (s *Store) DeadLetters(ctx context.Context, limit int) ([]call.DeadLetter, error) {
	return s.DeadLettersOf(ctx, "", "", limit)
}

// ErrNoLetter is returned when a list was to go on after a letter that does not exist, or not any more.
var ErrNoLetter = errors.New("there is no such dead letter")

// DeadLettersOf returns letters of one client (empty: of all) that are older than the letter before (empty: all), the
// newest first.
func (s *Store) DeadLettersOf(ctx context.Context, client string, before call.ID, limit int) ([]call.DeadLetter, error) {
	return s.letters(ctx, func(w *writer) (string, []any, error) {
		n := int64(1<<63 - 1)
		if before != "" {
			err := w.conn.QueryRowContext(context.Background(), letterNumber, string(before)).Scan(&n)
			if errors.Is(err, sql.ErrNoRows) {
				err = ErrNoLetter
			}
			if err != nil {
				return "", nil, err
			}
		}
		return findLetters, []any{client, client, n, limit}, nil
	})
}

// letters reads in turn with the writes.
func (s *Store) letters(ctx context.Context, ask func(*writer) (text string, args []any, err error)) ([]call.DeadLetter, error) {
	read := make(chan []call.DeadLetter, 1)
	err := s.do(ctx, func(w *writer) error {
		text, args, err := ask(w)
		if err != nil {
			return err
		}
		rows, err := w.conn.QueryContext(context.Background(), text, args...)
		if err != nil {
			return err
		}
		var list []call.DeadLetter
		for rows.Next() {
			l, err := scanLetter(rows)
			if err != nil {
				return errors.Join(err, rows.Close())
			}
			list = append(list, l)
		}
		read <- list
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the dead letters: %w", err)
	}
	return <-read, nil
}

func scanLetter(rows *sql.Rows) (l call.DeadLetter, err error) {
	var created, resolved int64
	var sent string
	var arguments, failure, output, lateFailure []byte
	err = rows.Scan(&l.ID, &sent, &l.Session.ID, &l.Session.Client, &l.Session.Via, &l.Tool, &created, &l.TabID, &l.Profile, &arguments,
		&l.Redacted, &l.Attempts, &l.Outcome, &failure, &resolved, &l.LateOutcome, &output, &lateFailure, &l.ReplayOf, &l.Replayed)
	l.Created, l.Resolved = moment(created), moment(resolved)
	l.Arguments, l.Failure, l.LateOutput, l.LateFailure = arguments, failure, output, lateFailure
	return l, err
}

// settleLetter tells the letter of a call how that ended. It costs calls without a letter nothing.
func (w *writer) settleLetter(sent call.ID, st call.State, resolved int64, output, failure any) error {
	if w.recovering[sent] {
		if err := w.recovered(sent, st); err != nil {
			return err
		}
	}
	switch {
	case st == call.Unknown:
		result, err := w.conn.ExecContext(context.Background(), orphanLetter, orphanFailure, string(sent))
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err == nil && n > 0 {
			w.doubtful[sent], w.untidy = true, true
		}
		return nil
	case !w.doubtful[sent] || st != call.Executed && st != call.NotExecuted:
		return nil
	}
	delete(w.doubtful, sent) // also when the letter is gone
	return w.settle(sent, resolveLetter, resolved, string(st), output, failure)
}

// settle resolves the letter of the attempt sent with a statement, whose last argument is that id, and tells who
// listens. A letter that is settled already, or gone, is no error.
func (w *writer) settle(sent call.ID, statement string, args ...any) error {
	var l call.DeadLetter
	err := w.conn.QueryRowContext(context.Background(), statement, append(args, string(sent))...).
		Scan(&l.ID, &l.Session.ID, &l.Session.Client, &l.Session.Via, &l.Tool, &l.Profile, &l.TabID, &l.LateOutcome)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	delete(w.doubtful, sent)
	if tell := w.settled.Load(); tell != nil {
		(*tell)(l)
	}
	return nil
}

// orphanFailure is what is known of a call that ended with its relay.
const orphanFailure = `{"code":"EXTENSION_LOST","category":"internal","source":"TRANSPORT","class":"transient","message":"The relay restarted after the call was sent, and its end could not be learned","retryable":false,"outcome":"unknown","rpcCode":-32000}`

// loadDoubtful reads which calls have a letter that waits for their end.
func (w *writer) loadDoubtful(ctx context.Context) error {
	w.doubtful = map[call.ID]bool{}
	rows, err := w.conn.QueryContext(ctx, openLetters)
	if err != nil {
		return err
	}
	for rows.Next() {
		var sent call.ID
		if err := rows.Scan(&sent); err != nil {
			return errors.Join(err, rows.Close())
		}
		w.doubtful[sent] = true
	}
	return rows.Err()
}

// pruneLetters removes letters that are too old or too many.
func (w *writer) pruneLetters(now time.Time) error {
	if err := w.exec(expireLetters, now.Add(-w.limits.LetterAge).UnixMicro()); err != nil {
		return err
	}
	if err := w.exec(overflowLetters, w.limits.Letters); err != nil {
		return err
	}
	if len(w.doubtful) > w.limits.Letters {
		return w.loadDoubtful(context.Background()) // some were of letters that are gone
	}
	return nil
}

// blobUpTo copies what is small enough to keep; nil is NULL.
func blobUpTo(raw json.RawMessage, most int) any {
	if len(raw) == 0 || len(raw) > most {
		return nil
	}
	return append([]byte(nil), raw...)
}
