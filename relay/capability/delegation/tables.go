package delegation

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

// tables are what delegation keeps. Databases of earlier programs have them already.
var tables = &store.Tables{Capability: Name, Prune: pruneTranscripts, Migrations: []string{
	`CREATE TABLE IF NOT EXISTS spending (
		day TEXT NOT NULL PRIMARY KEY, -- 2006-01-02
		usd REAL NOT NULL
	);
	CREATE TABLE IF NOT EXISTS transcripts (
		n        INTEGER PRIMARY KEY,
		session  TEXT NOT NULL,
		agent    TEXT NOT NULL,
		client   TEXT NOT NULL,
		turn     INTEGER NOT NULL,
		at       INTEGER NOT NULL, -- microseconds since 1970
		ended    TEXT NOT NULL,    -- a stop reason, or the code of a failure
		messages BLOB NOT NULL     -- a list as JSON
	);
	CREATE INDEX IF NOT EXISTS transcripts_by_session ON transcripts (session);
	CREATE INDEX IF NOT EXISTS transcripts_by_time ON transcripts (at);`,
}}

const (
	findSpent   = `SELECT coalesce(sum(usd), 0) FROM spending WHERE day = ?`
	addSpent    = `INSERT INTO spending VALUES (?, ?) ON CONFLICT (day) DO UPDATE SET usd = usd + excluded.usd`
	forgetSpent = `DELETE FROM spending WHERE day < date(?, '-30 days')`

	transcriptColumns = `session, agent, client, turn, at, ended, messages`

	insertTranscript = `INSERT INTO transcripts (` + transcriptColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?)`
	forgetTranscript = `DELETE FROM transcripts WHERE session = ?`
	findTranscript   = `SELECT ` + transcriptColumns + ` FROM transcripts WHERE session = ? ORDER BY n`
	lastTranscripts  = `SELECT session, agent, client, turn, at, ended, '[]' FROM transcripts
		WHERE n IN (SELECT max(n) FROM transcripts GROUP BY session) ORDER BY n`

	expireTranscripts = `DELETE FROM transcripts WHERE at < ?`
	boundTranscripts  = `DELETE FROM transcripts WHERE n <= (SELECT max(n) FROM transcripts) - ?`
)

// maxTranscripts is how many turns are kept; the oldest are removed.
const maxTranscripts = 500

// Records are the tables in an open database.
type Records struct{ *store.Store }

// SpentOn implements Ledger.
func (r Records) SpentOn(ctx context.Context, day string) (float64, error) {
	return store.Read(ctx, r.Store, func(tx store.Tx) (usd float64, err error) {
		err = tx.Row(findSpent, []any{day}, &usd)
		return usd, err
	})
}

// AddSpent implements Ledger. It forgets the days of a month ago.
func (r Records) AddSpent(day string, usd float64) {
	r.Later("cannot note what a delegated agent spent; after a restart it does not count", func(tx store.Tx) error {
		return errors.Join(tx.Exec(addSpent, day, usd), tx.Exec(forgetSpent, day))
	})
}

// Transcript is one turn of a session with an agent, as it is kept for the person where they want that.
type Transcript struct {
	Session  string          `json:"session"` // as sessions_create answers it
	Agent    string          `json:"agent"`
	Client   string          `json:"client"` // that asked the agent
	Turn     int             `json:"turn"`
	At       time.Time       `json:"at"`       // when it began
	Ended    string          `json:"ended"`    // why: a stop reason, or the code of a failure
	Messages json.RawMessage `json:"messages"` // a list, without what looks like a credential
}

// KeepTranscript implements Transcripts.
func (r Records) KeepTranscript(t Transcript) {
	r.Later("cannot keep a transcript", func(tx store.Tx) error {
		tx.PruneSoon()
		return tx.Exec(insertTranscript, t.Session, t.Agent, t.Client, t.Turn, t.At.UnixMicro(), t.Ended,
			[]byte(t.Messages))
	})
}

// ForgetTranscript implements Transcripts: it forgets all turns of a session.
func (r Records) ForgetTranscript(session string) {
	r.Later("cannot forget a transcript", func(tx store.Tx) error { return tx.Exec(forgetTranscript, session) })
}

// pruneTranscripts removes those that are as old as the audit log may be, and the oldest beyond so many.
func pruneTranscripts(tx store.Tx, oldest time.Time) error {
	return errors.Join(tx.Exec(expireTranscripts, oldest.UnixMicro()), tx.Exec(boundTranscripts, maxTranscripts))
}

// TranscriptOf is what is kept of a session, in order. It opens the database only to read it, beside a relay or without
// one.
func TranscriptOf(ctx context.Context, home config.Home, session string) ([]Transcript, error) {
	return store.ReadBeside(ctx, home, tables, "transcripts", findTranscript, []any{session}, scanTranscript)
}

// AllTranscripts are the last turns of all sessions of which something is kept, without what was said.
func AllTranscripts(ctx context.Context, home config.Home) ([]Transcript, error) {
	return store.ReadBeside(ctx, home, tables, "transcripts", lastTranscripts, nil, scanTranscript)
}

func scanTranscript(rows *sql.Rows) (t Transcript, err error) {
	var at int64
	err = rows.Scan(&t.Session, &t.Agent, &t.Client, &t.Turn, &at, &t.Ended, (*[]byte)(&t.Messages))
	t.At = time.UnixMicro(at).UTC()
	return t, err
}
