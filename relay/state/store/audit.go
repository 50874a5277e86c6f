package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"tabrelay/relay/state/audit"
)

const auditColumns = `n, at, kind, client, via, session, tool, plugin, profile_id, profile, tab_id, origin,
	arguments_hash, arguments, decision, decided_by, outcome, code, duration_ms, call_id, detail, agent, asker, hash`

const (
	insertAudit = `INSERT INTO audit (` + auditColumns + `)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	selectAudit = `SELECT ` + auditColumns + ` FROM audit`
	saveHead    = `INSERT OR REPLACE INTO audit_head (one, n, hash) VALUES (1, ?, ?)`
	findHead    = `SELECT n, hash FROM audit_head`
	lastAudit   = `SELECT coalesce(max(n), 0) FROM audit`
	firstAudit  = `SELECT coalesce(min(n), 0) FROM audit`
	auditSince  = `SELECT n FROM audit WHERE +at >= ? ORDER BY n LIMIT 1`
	hashOfAudit = `SELECT hash FROM audit WHERE n = ?`
	removeAudit = `DELETE FROM audit WHERE n <= ?`
)

// auditAtOnce is how many rows of the audit log one round of pruning removes.
const auditAtOnce = 2000

// auditSlack is by how much the log may exceed its limit before it is pruned, so that not every call prunes it.
func auditSlack(limit int) int64 { return max(int64(limit)/20, 100) }

// AppendAudit implements audit.Keeper: it gives the rows their numbers and hashes and writes all of them or none.
func (s *Store) AppendAudit(ctx context.Context, rows []audit.Row) error {
	err := s.do(ctx, func(w *writer) error { return w.appendAudit(rows) })
	if err != nil {
		return fmt.Errorf("%d entries of the audit log were not written: %w", len(rows), err)
	}
	return nil
}

// AuditHead implements audit.Keeper.
func (s *Store) AuditHead(ctx context.Context) (audit.Head, error) {
	return read(ctx, s, (*writer).auditHead)
}

func (w *writer) appendAudit(rows []audit.Row) error {
	if err := w.exec("SAVEPOINT audit"); err != nil {
		return err
	}
	head, err := w.insertAuditRows(rows)
	if err != nil {
		return errors.Join(err, w.exec("ROLLBACK TO audit"), w.exec("RELEASE audit"))
	}
	if head.N%int64(auditAtOnce) < int64(len(rows)) {
		w.pruneSoon = true
	}
	return w.exec("RELEASE audit")
}

// insertAuditRows continues the chain after the last row that this or an earlier relay wrote, whatever is in the table
// by now: rows that somebody removed or added since break the chain.
func (w *writer) insertAuditRows(rows []audit.Row) (head audit.Head, err error) {
	if head, err = w.auditHead(); err != nil {
		return head, err
	}
	last, err := w.number(lastAudit)
	if err != nil {
		return head, err
	}
	n := max(head.N, last)
	for i := range rows {
		r := &rows[i]
		n++
		r.N = n
		r.Hash = audit.Chain(head.Hash, r)
		err := execute(w.insertAudit, r.N, r.At.UnixMicro(), r.Kind, r.Client, r.Via, r.Session, r.Tool, r.Plugin,
			r.ProfileID, r.Profile, r.TabID, r.Origin, r.ArgumentsHash, r.Arguments, r.Decision, r.DecidedBy, r.Outcome,
			r.Code, r.DurationMs, r.CallID, r.Detail, r.Agent, r.Asker, r.Hash[:])
		if err != nil {
			return head, err
		}
		head = audit.Head{N: n, Hash: r.Hash}
	}
	return head, w.exec(saveHead, head.N, head.Hash[:])
}

// auditHead is the last row that was written.
func (w *writer) auditHead() (audit.Head, error) {
	head, err := readHead(w.conn)
	if err != nil || head == nil {
		return audit.Head{}, err
	}
	return *head, nil
}

// pruneAudit removes a round of the oldest rows, and reports whether there may be more. An anchor row says so, from
// which the rest of the chain can be checked.
func (w *writer) pruneAudit(now time.Time) (more bool, err error) {
	first, err := w.number(firstAudit)
	if err != nil || first == 0 {
		return false, err
	}
	last, err := w.number(lastAudit)
	if err != nil {
		return false, err
	}
	young, err := w.number(auditSince, now.Add(-w.limits.AuditAge).UnixMicro())
	if err != nil {
		return false, err
	}
	through := young - 1
	if young == 0 {
		through = last
	}
	if limit := w.limits.AuditRows; last-first+1 > int64(limit)+auditSlack(limit) || w.auditOver {
		through = max(through, last-int64(limit))
		w.auditOver = true
	}
	if through < first {
		w.auditOver = false
		return false, nil
	}
	round := min(through, first+auditAtOnce-1)
	return round < through, w.transaction(func() error { return w.removeAudit(round) })
}

// removeAudit removes the rows up to one of them, and writes the anchor row with which the chain continues.
func (w *writer) removeAudit(through int64) error {
	var hash []byte
	err := w.row(hashOfAudit, []any{through}, &hash)
	if err == nil {
		_, err = w.insertAuditRows([]audit.Row{audit.Anchor(through, hash)})
	} else if errors.Is(err, sql.ErrNoRows) {
		err = nil // somebody deleted it, which verification is to find
	}
	if err != nil {
		return err
	}
	return w.exec(removeAudit, through)
}

// AuditReader reads the audit log, beside a relay that writes it or without one.
type AuditReader struct{ db *sql.DB }

// OpenAudit opens the log of a database for reading.
func OpenAudit(ctx context.Context, path string) (*AuditReader, error) {
	db, err := openToRead(ctx, path, auditVersion, "its audit log")
	if err != nil {
		return nil, err
	}
	return &AuditReader{db}, nil
}

// Close closes it.
func (a *AuditReader) Close() error { return a.db.Close() }

// Each calls do with each row that a filter selects, until do fails.
func (a *AuditReader) Each(ctx context.Context, f audit.Filter, do func(*audit.Row) error) error {
	query, args := auditQuery(f)
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

// auditQuery is the query for a filter.
func auditQuery(f audit.Filter) (query string, args []any) {
	var where []string
	add := func(condition string, value any, wanted bool) {
		if wanted {
			where, args = append(where, condition), append(args, value)
		}
	}
	for _, equal := range []struct{ column, value string }{
		{"client", f.Client}, {"tool", f.Tool}, {"plugin", f.Plugin}, {"origin", f.Origin}, {"outcome", f.Outcome},
		{"kind", f.Kind}, {"call_id", f.CallID}, {"agent", f.Agent},
	} {
		add(equal.column+" = ?", equal.value, equal.value != "")
	}
	add("at >= ?", f.Since.UnixMicro(), !f.Since.IsZero())
	add("at < ?", f.Until.UnixMicro(), !f.Until.IsZero())
	add("n < ?", f.Before, f.Before > 0)
	add("n > ?", f.After, f.After > 0)
	query = selectAudit
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
	tx, err := a.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // a consistent view, while others write
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
	anchor, err := findAnchor(tx)
	if err != nil {
		return report, err
	}
	head, err := readHead(tx)
	if err != nil {
		return report, err
	}
	rows, err := tx.QueryContext(ctx, selectAudit+" ORDER BY n")
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

// findAnchor is the last anchor row, nil if there is none that can be read.
func findAnchor(tx *sql.Tx) (anchor *audit.Row, err error) {
	_, err = list(tx, selectAudit+" WHERE kind = ? ORDER BY n DESC LIMIT 1", []any{audit.KindAnchor},
		func(rows *sql.Rows) (struct{}, error) {
			r, readable, err := scanAudit(rows)
			if readable {
				anchor = &r
			}
			return struct{}{}, err
		})
	return anchor, err
}

// readHead is the row that says which row is the last one, nil if it is missing.
func readHead(q querier) (head *audit.Head, err error) {
	_, err = list(q, findHead, nil, func(rows *sql.Rows) (struct{}, error) {
		var hash []byte
		head = &audit.Head{}
		err := rows.Scan(&head.N, &hash)
		copy(head.Hash[:], hash)
		return struct{}{}, err
	})
	return head, err
}

// scanAudit reads a row. A row that somebody changed may have values of any type: then it is not readable.
func scanAudit(rows *sql.Rows) (r audit.Row, readable bool, err error) {
	var cells [24]any
	into := make([]any, len(cells))
	for i := range cells {
		into[i] = &cells[i]
	}
	if err := rows.Scan(into...); err != nil {
		return r, false, err
	}
	hash, ok := cells[23].([]byte)
	readable = ok && len(hash) == len(r.Hash)
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
	r = audit.Row{
		N: number(0), At: time.UnixMicro(number(1)).UTC(), Kind: text(2), Client: text(3), Via: text(4),
		Session: text(5),
		Tool:    text(6), Plugin: text(7), ProfileID: text(8), Profile: text(9), TabID: number(10), Origin: text(11),
		ArgumentsHash: text(12), Arguments: text(13), Decision: text(14), DecidedBy: text(15), Outcome: text(16),
		Code: text(17), DurationMs: number(18), CallID: text(19), Detail: text(20),
		Agent: text(21), Asker: text(22),
	}
	copy(r.Hash[:], hash)
	return r, readable, nil
}
