package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"tabrelay/relay/audit"
)

const auditColumns = `n, at, kind, client, via, session, tool, plugin, profile_id, profile, tab_id, origin, arguments_hash, arguments,
	decision, decided_by, outcome, code, duration_ms, call_id, detail, hash`

const (
	insertAudit = `INSERT INTO audit (` + auditColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	saveHead    = `INSERT OR REPLACE INTO audit_head (one, n, hash) VALUES (1, ?, ?)`
	findHead    = `SELECT n, hash FROM audit_head`
	lastAudit   = `SELECT coalesce(max(n), 0) FROM audit`
	firstAudit  = `SELECT coalesce(min(n), 0) FROM audit`
	youngAudit  = `SELECT n FROM audit WHERE +at >= ? ORDER BY n LIMIT 1`
	hashOfAudit = `SELECT hash FROM audit WHERE n = ?`
	removeAudit = `DELETE FROM audit WHERE n <= ?`
)

// auditAtOnce is how many rows of the audit log one round removes.
const auditAtOnce = 2000

// auditSlack is by how much the log may exceed its limit before it is pruned, so that not every call does.
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
func (s *Store) AuditHead(ctx context.Context) (head audit.Head, err error) {
	err = s.do(ctx, func(w *writer) (err error) {
		head, err = w.auditHead()
		return err
	})
	return head, err
}

// appendAudit goes on behind the last row that this or an earlier relay wrote, whatever is in the table by now: rows that
// somebody removed or added since show in the chain.
func (w *writer) appendAudit(rows []audit.Row) error {
	if err := w.exec("SAVEPOINT audit"); err != nil {
		return err
	}
	head, err := w.insertAuditRows(rows)
	if err != nil {
		return errors.Join(err, w.exec("ROLLBACK TO audit"), w.exec("RELEASE audit"))
	}
	if err := w.exec("RELEASE audit"); err != nil {
		return err
	}
	if head.N%int64(auditAtOnce) < int64(len(rows)) {
		w.untidy = true // looked after now and then, besides every hour
	}
	return nil
}

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
		if err := execute(w.auditing, r.N, r.At.UnixMicro(), r.Kind, r.Client, r.Via, r.Session, r.Tool, r.Plugin, r.ProfileID, r.Profile, r.TabID,
			r.Origin, r.ArgumentsHash, r.Arguments, r.Decision, r.DecidedBy, r.Outcome, r.Code, r.DurationMs, r.CallID, r.Detail, r.Hash[:]); err != nil {
			return head, err
		}
		head = audit.Head{N: n, Hash: r.Hash}
	}
	return head, w.exec(saveHead, head.N, head.Hash[:])
}

// auditHead is the last row that was written.
func (w *writer) auditHead() (head audit.Head, err error) {
	var hash []byte
	err = w.conn.QueryRowContext(context.Background(), findHead).Scan(&head.N, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return audit.Head{}, nil
	}
	copy(head.Hash[:], hash)
	return head, err
}

func (w *writer) number(query string, args ...any) (n int64, err error) {
	err = w.conn.QueryRowContext(context.Background(), query, args...).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return n, err
}

// pruneAudit removes a round of the oldest rows, and reports whether there may be more. A row says so, from which the
// chain can be checked on.
func (w *writer) pruneAudit(now time.Time) (more bool, err error) {
	first, err := w.number(firstAudit)
	if err != nil || first == 0 {
		return false, err
	}
	last, err := w.number(lastAudit)
	if err != nil {
		return false, err
	}
	young, err := w.number(youngAudit, now.Add(-w.limits.AuditAge).UnixMicro())
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
	return round < through, w.removeAudit(round)
}

// removeAudit removes the rows up to one of them.
func (w *writer) removeAudit(through int64) error {
	if err := execute(w.begin); err != nil {
		return err
	}
	err := w.anchorAudit(through)
	if err == nil {
		err = w.exec(removeAudit, through)
	}
	if err == nil {
		if err = execute(w.commit); err == nil {
			return nil
		}
	}
	return errors.Join(err, execute(w.rollback))
}

// anchorAudit writes the row from which the chain goes on once those up to a row are gone.
func (w *writer) anchorAudit(through int64) error {
	var hash []byte
	if err := w.conn.QueryRowContext(context.Background(), hashOfAudit, through).Scan(&hash); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			return nil // somebody deleted it; that is to be seen
		}
		return err
	}
	_, err := w.insertAuditRows([]audit.Row{audit.Anchor(through, hash)})
	return err
}
