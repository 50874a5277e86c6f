package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"tabrelay/relay/road/call"
)

const (
	expireRules = `DELETE FROM rules WHERE until <> 0 AND until <= ?`
	findRules   = `SELECT target, client, mode, until, created, by FROM rules ORDER BY target, client`
	putRule     = `INSERT OR REPLACE INTO rules (target, client, mode, until, created, by) VALUES (?, ?, ?, ?, ?, ?)`
	removeRule  = `DELETE FROM rules WHERE target = ? AND client = ?`

	findSwitch = `SELECT value FROM switches WHERE name = ?`
	putSwitch  = `INSERT OR REPLACE INTO switches (name, value) VALUES (?, ?)`
)

// Rules returns the permission rules that have not expired, in the order of their targets.
func (s *Store) Rules(ctx context.Context) ([]call.Rule, error) {
	rules, err := read(ctx, s, func(w *writer) ([]call.Rule, error) {
		if err := w.exec(expireRules, time.Now().UnixMicro()); err != nil {
			return nil, err
		}
		return list(w.conn, findRules, nil, func(rows *sql.Rows) (r call.Rule, err error) {
			var until, created int64
			err = rows.Scan(&r.Target, &r.Client, &r.Mode, &until, &created, &r.By)
			r.Created = timeOf(created).UTC()
			if until != 0 {
				r.Until = timeOf(until).UTC()
			}
			return r, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("the permissions cannot be read: %w", err)
	}
	return rules, nil
}

// SetRule records a rule, in place of one of the same target and client.
func (s *Store) SetRule(ctx context.Context, r call.Rule) error {
	return s.changeRules(ctx, func(w *writer) error {
		return w.exec(putRule, r.Target, r.Client, string(r.Mode), micros(r.Until), r.Created.UnixMicro(), r.By)
	})
}

// UnsetRule removes a rule and reports whether there was one.
func (s *Store) UnsetRule(ctx context.Context, target, client string) (found bool, err error) {
	err = s.changeRules(ctx, func(w *writer) error {
		n, err := w.change(removeRule, target, client)
		found = n > 0
		return err
	})
	return found && err == nil, err
}

// Switch returns the value of a switch, empty when it was never set.
func (s *Store) Switch(ctx context.Context, name string) (value string, err error) {
	return read(ctx, s, func(w *writer) (value string, err error) {
		if err = w.row(findSwitch, []any{name}, &value); errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return value, err
	})
}

// SetSwitch sets a switch.
func (s *Store) SetSwitch(ctx context.Context, name, value string) error {
	return s.changeRules(ctx, func(w *writer) error { return w.exec(putSwitch, name, value) })
}
