package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// Hint is what a person says of tools that say nothing of themselves: those of a plugin whose names a pattern has.
type Hint struct {
	Plugin  string    `json:"plugin"`
	Pattern string    `json:"pattern"`
	Effect  string    `json:"effect"` // read, write or destroy
	Created time.Time `json:"created"`
	By      string    `json:"by"`
}

const (
	findHints  = `SELECT plugin, pattern, effect, created, by FROM hints ORDER BY plugin, created, pattern`
	putHint    = `INSERT OR REPLACE INTO hints (plugin, pattern, effect, created, by) VALUES (?, ?, ?, ?, ?)`
	removeHint = `DELETE FROM hints WHERE plugin = ? AND pattern = ?`
	dropHints  = `DELETE FROM hints WHERE plugin = ?`
)

// Hints returns all hints, the later ones of a plugin after the earlier ones.
func (s *Store) Hints(ctx context.Context) ([]Hint, error) {
	all, err := read(ctx, s, func(w *writer) ([]Hint, error) {
		return list(w.conn, findHints, nil, func(rows *sql.Rows) (h Hint, err error) {
			var created int64
			err = rows.Scan(&h.Plugin, &h.Pattern, &h.Effect, &created, &h.By)
			h.Created = timeOf(created)
			return h, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the hints about tools: %w", err)
	}
	return all, nil
}

// SetHints writes hints down, each in place of an earlier one of its pattern. One without an effect is removed.
func (s *Store) SetHints(ctx context.Context, hints []Hint) error {
	err := s.do(ctx, func(w *writer) error {
		for _, h := range hints {
			var err error
			if h.Effect == "" {
				err = w.exec(removeHint, h.Plugin, h.Pattern)
			} else {
				err = w.exec(putHint, h.Plugin, h.Pattern, h.Effect, micros(h.Created), h.By)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot save the hints about tools: %w", err)
	}
	return nil
}

// DropHints removes all hints about the tools of a plugin, and returns them.
func (s *Store) DropHints(ctx context.Context, plugin string) (dropped []Hint, err error) {
	all, err := s.Hints(ctx)
	if err == nil {
		err = s.do(ctx, func(w *writer) error { return w.exec(dropHints, plugin) })
	}
	if err != nil {
		return nil, fmt.Errorf("cannot remove the hints about the tools of %s: %w", plugin, err)
	}
	return slices.DeleteFunc(all, func(h Hint) bool { return h.Plugin != plugin }), nil
}
