package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"tabrelay/relay/audit"
)

// AuditReader reads the audit log, beside a relay that writes it or without one.
type AuditReader struct{ db *sql.DB }

// OpenAudit opens the log of a database for reading.
func OpenAudit(ctx context.Context, path string) (*AuditReader, error) {
	name, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	source := url.URL{Scheme: "file", Path: filepath.ToSlash(name), RawQuery: "mode=ro&_pragma=busy_timeout(2000)&_pragma=query_only(1)&_pragma=cache_size(-2048)"}
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot read %s: %w", filepath.Base(path), err), db.Close())
	}
	if version < auditVersion {
		return nil, errors.Join(fmt.Errorf("%s was written by an older tabrelay: its audit log can be read once the relay was started", filepath.Base(path)), db.Close())
	}
	return &AuditReader{db}, nil
}

// Close closes it.
func (a *AuditReader) Close() error { return a.db.Close() }

// Each calls do with each row that a filter selects, until do fails.
func (a *AuditReader) Each(ctx context.Context, f audit.Filter, do func(*audit.Row) error) error {
	query, args := selectAudit(f)
	rows, err := a.db.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("cannot read the audit log: %w", err)
	}
	defer rows.Close() // the error of reading is that of Err
	for rows.Next() {
		r, readable, err := scanAudit(rows)
		if err != nil {
			return fmt.Errorf("cannot read the audit log: %w", err)
		}
		if !readable {
			r.Detail = "This row was changed: tabrelay audit verify"
		}
		if err := do(&r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// selectAudit writes a filter as a query.
func selectAudit(f audit.Filter) (query string, args []any) {
	var where []string
	is := func(condition string, value any, wanted bool) {
		if wanted {
			where, args = append(where, condition), append(args, value)
		}
	}
	for _, equal := range []struct{ column, value string }{
		{"client", f.Client}, {"tool", f.Tool}, {"plugin", f.Plugin}, {"origin", f.Origin}, {"outcome", f.Outcome}, {"kind", f.Kind}, {"call_id", f.CallID},
	} {
		is(equal.column+" = ?", equal.value, equal.value != "")
	}
	is("at >= ?", f.Since.UnixMicro(), !f.Since.IsZero())
	is("at < ?", f.Until.UnixMicro(), !f.Until.IsZero())
	is("n < ?", f.Before, f.Before > 0)
	is("n > ?", f.After, f.After > 0)
	query = "SELECT " + auditColumns + " FROM audit"
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	query += " ORDER BY n"
	if !f.Oldest {
		query += " DESC"
	}
	if f.Limit > 0 {
		query, args = query+" LIMIT ?", append(args, f.Limit)
	}
	return query, args
}

// Verify checks the whole chain.
func (a *AuditReader) Verify(ctx context.Context) (audit.Report, error) {
	tx, err := a.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // one moment of the log, while others write
	if err != nil {
		return audit.Report{}, fmt.Errorf("cannot read the audit log: %w", err)
	}
	defer tx.Rollback() // nothing was written
	report, err := verifyAudit(ctx, tx)
	if err != nil {
		return audit.Report{}, fmt.Errorf("cannot read the audit log: %w", err)
	}
	return report, nil
}

func verifyAudit(ctx context.Context, tx *sql.Tx) (report audit.Report, err error) {
	anchor, err := findAnchor(ctx, tx)
	if err != nil {
		return report, err
	}
	head, err := readHead(ctx, tx)
	if err != nil {
		return report, err
	}
	rows, err := tx.QueryContext(ctx, "SELECT "+auditColumns+" FROM audit ORDER BY n")
	if err != nil {
		return report, err
	}
	defer rows.Close() // the error of reading is that of Err
	checker := audit.NewChecker(anchor, head)
	for rows.Next() {
		r, readable, err := scanAudit(rows)
		switch {
		case err != nil:
			return report, err
		case readable:
			checker.Row(&r)
		default:
			checker.Unreadable(r.N)
		}
	}
	return checker.End(), rows.Err()
}

func findAnchor(ctx context.Context, tx *sql.Tx) (*audit.Row, error) {
	rows, err := tx.QueryContext(ctx, "SELECT "+auditColumns+" FROM audit WHERE kind = ? ORDER BY n DESC LIMIT 1", audit.KindAnchor)
	if err != nil {
		return nil, err
	}
	defer rows.Close() // the error of reading is that of Err
	if !rows.Next() {
		return nil, rows.Err()
	}
	r, readable, err := scanAudit(rows)
	if err != nil || !readable {
		return nil, err
	}
	return &r, nil
}

func readHead(ctx context.Context, tx *sql.Tx) (*audit.Head, error) {
	var n int64
	var hash []byte
	err := tx.QueryRowContext(ctx, findHead).Scan(&n, &hash)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil //nolint:nilnil // there is none, which the checker knows about
	case err != nil:
		return nil, err
	}
	head := &audit.Head{N: n}
	copy(head.Hash[:], hash)
	return head, nil
}

// scanAudit reads a row. What somebody wrote into it may be of any type: then it is not readable.
func scanAudit(rows *sql.Rows) (r audit.Row, readable bool, err error) {
	var cells [22]any
	into := make([]any, len(cells))
	for i := range cells {
		into[i] = &cells[i]
	}
	if err := rows.Scan(into...); err != nil {
		return r, false, err
	}
	readable = true
	number := func(i int) (n int64) {
		n, ok := cells[i].(int64)
		readable = readable && ok
		return n
	}
	text := func(i int) (s string) {
		s, ok := cells[i].(string)
		readable = readable && ok
		return s
	}
	hash, ok := cells[21].([]byte)
	readable = ok && len(hash) == len(r.Hash)
	r = audit.Row{
		N: number(0), At: time.UnixMicro(number(1)).UTC(), Kind: text(2), Client: text(3), Via: text(4), Session: text(5), Tool: text(6), Plugin: text(7),
		ProfileID: text(8), Profile: text(9), TabID: number(10), Origin: text(11), ArgumentsHash: text(12), Arguments: text(13), Decision: text(14),
		DecidedBy: text(15), Outcome: text(16), Code: text(17), DurationMs: number(18), CallID: text(19), Detail: text(20),
	}
	copy(r.Hash[:], hash)
	return r, readable, nil
}
