package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"tabrelay/relay/call"
)

// Rules returns the permissions of the person that have not ended, in the order of their targets.
func (s *Store) Rules(ctx context.Context) (list []call.Rule, err error) {
	err = s.do(ctx, func(w *writer) error {
		list = nil
		if err := w.exec(`DELETE FROM rules WHERE until <> 0 AND until <= ?`, time.Now().UnixMicro()); err != nil {
			return err
		}
		rows, err := w.conn.QueryContext(context.Background(), `SELECT target, client, mode, until, created, by FROM rules ORDER BY target, client`)
		if err != nil {
			return err
		}
		defer rows.Close() // its error is that of rows.Err
		for rows.Next() {
			var r call.Rule
			var until, created int64
			if err := rows.Scan(&r.Target, &r.Client, &r.Mode, &until, &created, &r.By); err != nil {
				return err
			}
			r.Created = time.UnixMicro(created).UTC()
			if until != 0 {
				r.Until = time.UnixMicro(until).UTC()
			}
			list = append(list, r)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("the permissions cannot be read: %w", err)
	}
	return list, nil
}

// SetRule writes a permission down, in place of one of the same target and client.
func (s *Store) SetRule(ctx context.Context, r call.Rule) error {
	var until int64
	if !r.Until.IsZero() {
		until = r.Until.UnixMicro()
	}
	return s.do(ctx, func(w *writer) error {
		return w.exec(`INSERT INTO rules (target, client, mode, until, created, by) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (target, client) DO UPDATE SET mode = excluded.mode, until = excluded.until, created = excluded.created, by = excluded.by`,
			r.Target, r.Client, string(r.Mode), until, r.Created.UnixMicro(), r.By)
	})
}

// UnsetRule takes a permission away and reports whether it was there.
func (s *Store) UnsetRule(ctx context.Context, target, client string) (there bool, err error) {
	err = s.do(ctx, func(w *writer) error {
		result, err := w.conn.ExecContext(context.Background(), `DELETE FROM rules WHERE target = ? AND client = ?`, target, client)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		there = n > 0
		return err
	})
	return there, err
}

// Switch returns what a switch is set to, empty when it never was.
func (s *Store) Switch(ctx context.Context, name string) (value string, err error) {
	err = s.do(ctx, func(w *writer) error {
		err := w.conn.QueryRowContext(context.Background(), `SELECT value FROM switches WHERE name = ?`, name).Scan(&value)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return value, err
}

// SetSwitch sets a switch.
func (s *Store) SetSwitch(ctx context.Context, name, value string) error {
	return s.do(ctx, func(w *writer) error {
		return w.exec(`INSERT INTO switches (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
	})
}
