package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
)

// maxTranscripts is how many turns are kept; the oldest are removed.
const maxTranscripts = 500

const (
	transcriptColumns = `session, agent, client, turn, at, ended, messages`

	insertTranscript = `INSERT INTO transcripts (` + transcriptColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?)`
	forgetTranscript = `DELETE FROM transcripts WHERE session = ?`
	findTranscript   = `SELECT ` + transcriptColumns + ` FROM transcripts WHERE session = ? ORDER BY n`
	lastTranscripts  = `SELECT session, agent, client, turn, at, ended, '[]' FROM transcripts
		WHERE n IN (SELECT max(n) FROM transcripts GROUP BY session) ORDER BY n`

	expireTranscripts = `DELETE FROM transcripts WHERE at < ?`
	boundTranscripts  = `DELETE FROM transcripts WHERE n <= (SELECT max(n) FROM transcripts) - ?`
)

// KeepTranscript keeps a turn. It does not wait for the disk.
func (s *Store) KeepTranscript(t call.Transcript) {
	s.doLater("cannot keep a transcript", "", func(w *writer) error {
		w.pruneSoon = true
		return w.exec(insertTranscript, t.Session, t.Agent, t.Client, t.Turn, micros(t.At), t.Ended, []byte(t.Messages))
	})
}

// ForgetTranscript forgets all turns of a session. It does not wait for the disk.
func (s *Store) ForgetTranscript(session string) {
	s.doLater("cannot forget a transcript", "", func(w *writer) error { return w.exec(forgetTranscript, session) })
}

// pruneTranscripts removes those that are as old as the audit log may be, and the oldest beyond so many.
func (w *writer) pruneTranscripts(now time.Time) (more bool, err error) {
	return false, errors.Join(w.exec(expireTranscripts, now.Add(-w.limits.AuditAge).UnixMicro()),
		w.exec(boundTranscripts, maxTranscripts))
}

// Transcript is what is kept of a session, in order. It opens the database only to read it, beside a relay or without
// one.
func Transcript(ctx context.Context, home config.Home, session string) ([]call.Transcript, error) {
	return transcripts(ctx, home, findTranscript, session)
}

// Transcripts are the last turns of all sessions of which something is kept, without what was said.
func Transcripts(ctx context.Context, home config.Home) ([]call.Transcript, error) {
	return transcripts(ctx, home, lastTranscripts)
}

func transcripts(ctx context.Context, home config.Home, query string, args ...any) ([]call.Transcript, error) {
	if _, err := os.Stat(home.Database()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	db, err := openToRead(ctx, home.Database(), transcriptVersion, "transcripts")
	if err != nil {
		return nil, err
	}
	all, err := list(db, query, args, func(rows *sql.Rows) (t call.Transcript, err error) {
		var at int64
		err = rows.Scan(&t.Session, &t.Agent, &t.Client, &t.Turn, &at, &t.Ended, (*[]byte)(&t.Messages))
		t.At = timeOf(at).UTC()
		return t, err
	})
	if err = errors.Join(err, db.Close()); err != nil {
		return nil, fmt.Errorf("cannot read transcripts: %w", err)
	}
	return all, nil
}
