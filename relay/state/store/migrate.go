package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"tabrelay/relay/state/config"
)

// migrations bring a database from user_version i to i+1. A migration is never changed once it was released.
var migrations = []string{
	`CREATE TABLE calls (
		id         TEXT NOT NULL UNIQUE,
		lane       TEXT NOT NULL,
		client     TEXT NOT NULL,
		via        TEXT NOT NULL,
		tool       TEXT NOT NULL,
		profile_id TEXT NOT NULL,
		tab_id     INTEGER NOT NULL,
		epoch      TEXT NOT NULL,
		dispatched INTEGER NOT NULL, -- microseconds since 1970
		state      TEXT NOT NULL,
		resolved   INTEGER NOT NULL, -- 0 while open
		output     BLOB,
		failure    BLOB
	);
	CREATE INDEX calls_by_time ON calls (dispatched);
	CREATE INDEX calls_open ON calls (dispatched) WHERE resolved = 0;
	CREATE INDEX calls_with_output ON calls (resolved) WHERE output IS NOT NULL;`,

	`CREATE TABLE results (
		n       INTEGER PRIMARY KEY,
		id      TEXT NOT NULL UNIQUE,
		call_id TEXT NOT NULL,
		lane    TEXT NOT NULL,
		client  TEXT NOT NULL,
		via     TEXT NOT NULL,
		tool    TEXT NOT NULL,
		created INTEGER NOT NULL, -- microseconds since 1970
		mime    TEXT NOT NULL,
		size    INTEGER NOT NULL,
		state   INTEGER NOT NULL  -- 0 being written, 1 complete, 2 being removed
	);
	CREATE INDEX results_by_state ON results (state, created);
	CREATE TABLE result_pieces (
		piece INTEGER PRIMARY KEY, -- number of the result * 65536 + number of the piece
		data  BLOB NOT NULL
	);
	CREATE TABLE dead_letters (
		n            INTEGER PRIMARY KEY,
		id           TEXT NOT NULL UNIQUE, -- of the call
		sent         TEXT NOT NULL,        -- id of the attempt in doubt, which calls may contain
		lane         TEXT NOT NULL,
		client       TEXT NOT NULL,
		via          TEXT NOT NULL,
		tool         TEXT NOT NULL,
		created      INTEGER NOT NULL,     -- microseconds since 1970
		tab_id       INTEGER NOT NULL,
		profile      TEXT NOT NULL,
		arguments    BLOB,
		redacted     INTEGER NOT NULL,     -- 1: arguments are not what was sent
		attempts     INTEGER NOT NULL,
		outcome      TEXT NOT NULL,
		failure      BLOB,
		resolved     INTEGER NOT NULL,     -- when the late outcome came; 0 before
		late_outcome TEXT NOT NULL,
		late_output  BLOB,
		late_failure BLOB,
		replay_of    TEXT NOT NULL,
		replayed     TEXT NOT NULL
	);
	CREATE INDEX dead_letters_by_attempt ON dead_letters (sent);
	CREATE INDEX dead_letters_by_time ON dead_letters (created);`,

	// Times are microseconds since 1970; 0: for ever, or never.
	`CREATE TABLE rules (
		target  TEXT NOT NULL,    -- tool, plugin, origin or default
		client  TEXT NOT NULL,    -- empty: every client
		mode    TEXT NOT NULL,    -- off, ask or auto
		until   INTEGER NOT NULL,
		created INTEGER NOT NULL,
		by      TEXT NOT NULL,
		PRIMARY KEY (target, client)
	);
	CREATE TABLE reviews (
		plugin  TEXT NOT NULL,
		hash    TEXT NOT NULL,    -- of the content
		created INTEGER NOT NULL,
		by      TEXT NOT NULL,
		verdict TEXT NOT NULL,    -- accepted or refused
		content BLOB,             -- what was reviewed, compressed; NULL if not kept
		PRIMARY KEY (plugin, hash)
	);
	CREATE TABLE switches (       -- settings that a person switched, kept over restarts
		name  TEXT NOT NULL PRIMARY KEY,
		value TEXT NOT NULL
	);
	CREATE TABLE audit (
		n              INTEGER PRIMARY KEY,
		at             INTEGER NOT NULL,
		kind           TEXT NOT NULL, -- call, decision, rule, review, client, switch
		client         TEXT NOT NULL,
		via            TEXT NOT NULL,
		lane           TEXT NOT NULL,
		tool           TEXT NOT NULL,
		plugin         TEXT NOT NULL,
		profile_id     TEXT NOT NULL,
		profile        TEXT NOT NULL,
		tab_id         INTEGER NOT NULL,
		origin         TEXT NOT NULL,
		arguments_hash TEXT NOT NULL, -- SHA-256
		arguments      TEXT NOT NULL, -- a redacted preview
		decision       TEXT NOT NULL,
		decided_by     TEXT NOT NULL,
		outcome        TEXT NOT NULL,
		code           TEXT NOT NULL,
		duration_ms    INTEGER NOT NULL,
		call_id        TEXT NOT NULL,
		detail         TEXT NOT NULL,
		hash           BLOB NOT NULL  -- of the row and of the hash before it
	);
	CREATE INDEX audit_by_time ON audit (at);
	CREATE INDEX audit_by_call ON audit (call_id);`,

	`CREATE TABLE audit_head (   -- the last row of the audit log, so that a missing end is found
		one  INTEGER PRIMARY KEY CHECK (one = 1),
		n    INTEGER NOT NULL,
		hash BLOB NOT NULL
	);
	CREATE INDEX audit_by_kind ON audit (kind);`,

	`ALTER TABLE calls RENAME COLUMN lane TO session;
	ALTER TABLE results RENAME COLUMN lane TO session;
	ALTER TABLE dead_letters RENAME COLUMN lane TO session;
	ALTER TABLE audit RENAME COLUMN lane TO session;`,

	`CREATE TABLE profiles (      -- browser profiles that were connected once
		id    TEXT NOT NULL PRIMARY KEY,
		label TEXT NOT NULL,
		seen  INTEGER NOT NULL    -- connected last; microseconds since 1970
	);
	CREATE TABLE clients_seen (   -- when each client was here last
		client TEXT NOT NULL PRIMARY KEY,
		at     INTEGER NOT NULL
	);
	CREATE TABLE last_tabs (      -- where sessions worked last, for the next relay
		session    TEXT NOT NULL,
		plugin     TEXT NOT NULL,
		profile_id TEXT NOT NULL,
		profile    TEXT NOT NULL,
		tab_id     INTEGER NOT NULL,
		site       TEXT NOT NULL, -- origin of the page
		used       INTEGER NOT NULL,
		PRIMARY KEY (session, plugin)
	);`,

	`ALTER TABLE audit ADD COLUMN agent TEXT NOT NULL DEFAULT '';   -- that acted for a client
	ALTER TABLE audit ADD COLUMN asker TEXT NOT NULL DEFAULT '';    -- the session that it acted for
	CREATE INDEX audit_by_agent ON audit (agent) WHERE agent <> '';`,

	`CREATE TABLE tasks (          -- calls that their clients do not wait for
		id      TEXT NOT NULL PRIMARY KEY,
		owner   TEXT NOT NULL,
		call_id TEXT NOT NULL,
		tool    TEXT NOT NULL,
		state   TEXT NOT NULL,
		created INTEGER NOT NULL, -- microseconds since 1970
		updated INTEGER NOT NULL,
		expires INTEGER NOT NULL,
		message TEXT NOT NULL,
		steps   TEXT NOT NULL,    -- a list of texts as JSON
		result  BLOB              -- NULL before the end
	);
	CREATE INDEX tasks_by_owner ON tasks (owner);
	CREATE INDEX tasks_by_expiry ON tasks (expires);`,

	``, // tables that their capability brings by now: see [Tables]

	`CREATE TABLE hints (
		plugin  TEXT NOT NULL,
		pattern TEXT NOT NULL,
		effect  TEXT NOT NULL,    -- read, write or destroy
		created INTEGER NOT NULL, -- microseconds since 1970
		by      TEXT NOT NULL,
		PRIMARY KEY (plugin, pattern)
	) WITHOUT ROWID;`,

	`ALTER TABLE dead_letters ADD COLUMN deeds TEXT NOT NULL DEFAULT '';`,

	`CREATE TABLE attached (   -- up to which version each capability has its tables
		capability TEXT NOT NULL PRIMARY KEY,
		version    INTEGER NOT NULL
	);`,
}

// attachedVersion is the first version that says which tables capabilities have.
const attachedVersion = 12

// auditVersion is the first version whose audit log this program can read without a migration.
const auditVersion = 7

// stateVersion is the first version that has profiles and clients_seen.
const stateVersion = 6

// tooNew is the error for a database of a newer program.
func tooNew(version int) error {
	if version <= len(migrations) {
		return nil
	}
	return fmt.Errorf("it %w (version %d of its tables, this one knows %d)", errNewer, version, len(migrations))
}

// errNewer is why a database is left alone that a newer program has brought up to date.
var errNewer = errors.New("was written by a newer tabrelay")

// CheckVersion is the error for the database of a home folder that this program is too old for, with the tables of its
// capabilities. What else may be wrong with it, opening it says.
func CheckVersion(ctx context.Context, home config.Home, tables ...*Tables) error {
	refused, err := readBeside(ctx, home, "its version", func(q querier) (refused, err error) {
		var version int
		if err := q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return nil, err
		}
		if err := tooNew(version); err != nil || version < attachedVersion {
			return err, nil
		}
		for _, t := range tables {
			version, err := t.version(ctx, q)
			if err == nil {
				refused = errors.Join(refused, t.tooNew(version))
			}
		}
		return refused, nil
	})
	if err != nil || refused == nil {
		return nil
	}
	return unusable(fmt.Errorf("%s cannot be used: %w", home.Database(), refused))
}

// migrate runs the migrations a database lacks, each in a transaction with its number. used: it had some.
func migrate(ctx context.Context, conn *sql.Conn) (used bool, err error) {
	var version int
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return false, fmt.Errorf("it is not a tabrelay database, or is damaged (move it away and start again): %w", err)
	}
	if err := tooNew(version); err != nil {
		return false, err
	}
	used = version > 0
	for ; version < len(migrations); version++ {
		err := step(ctx, conn, fmt.Sprintf("%s PRAGMA user_version = %d;", migrations[version], version+1))
		if err != nil {
			return used, fmt.Errorf("cannot bring its tables to version %d: %w", version+1, err)
		}
	}
	return used, nil
}

// step runs a script in a transaction.
func step(ctx context.Context, conn *sql.Conn, script string) error {
	_, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE; "+script+" COMMIT;")
	if err != nil {
		_, _ = conn.ExecContext(ctx, "ROLLBACK") // fails if no transaction was begun
	}
	return err
}
