package store

import (
	"context"
	"errors"

	"tabrelay/relay/call"
)

const recoveringCalls = `SELECT id FROM calls WHERE resolved = 0 AND state = 'recovering'`

// loadRecovering reads which calls an earlier relay left open.
func (w *writer) loadRecovering(ctx context.Context) error {
	w.recovering = map[call.ID]bool{}
	rows, err := w.conn.QueryContext(ctx, recoveringCalls)
	if err != nil {
		return err
	}
	for rows.Next() {
		var id call.ID
		if err := rows.Scan(&id); err != nil {
			return errors.Join(err, rows.Close())
		}
		w.recovering[id] = true
	}
	return rows.Err()
}

// recovered tells what became of such a call.
func (w *writer) recovered(id call.ID, end call.State) error {
	if end != call.Executed && end != call.NotExecuted && end != call.Unknown {
		return nil
	}
	delete(w.recovering, id)
	tell := w.found.Load()
	if tell == nil {
		return nil
	}
	rows, err := w.find.QueryContext(context.Background(), string(id))
	if err != nil {
		return err
	}
	for rows.Next() {
		r, err := scan(rows)
		if err != nil {
			return errors.Join(err, rows.Close())
		}
		r.State = end
		(*tell)(r)
	}
	return rows.Err()
}
