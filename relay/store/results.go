package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"tabrelay/relay/call"
)

// pieceBytes is how much of a result one turn of the writer takes. A large result is written in many turns, and
// what waits meanwhile goes between them: no call's journal entry is held up by somebody's ten megabytes.
const pieceBytes = 256 << 10

// maxPieces is how many pieces one result can have: their numbers share an integer with the result's.
const maxPieces = 1 << 16

// A result has the state 0 while it is written, 1 when it is whole and can be read, 2 while it is removed.
const (
	insertResult = `INSERT INTO results (id, call_id, session, client, via, tool, created, mime, size, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`
	insertPiece  = `INSERT INTO result_pieces (piece, data) VALUES (?, ?)`
	finishResult = `UPDATE results SET state = 1 WHERE n = ?`
	dropResult   = `UPDATE results SET state = 2 WHERE id = ? AND state = 0`
	findResult   = `SELECT n, id, call_id, session, client, via, tool, created, mime, size FROM results WHERE id = ? AND state = 1`
	readPiece    = `SELECT data FROM result_pieces WHERE piece = ?`

	// What an earlier relay was writing when it died is of no use.
	dropUnfinished = `UPDATE results SET state = 2 WHERE state = 0`
	expireResults  = `UPDATE results SET state = 2 WHERE state = 1 AND created < ?`
	overflowResult = `UPDATE results SET state = 2 WHERE state = 1 AND n IN (
		SELECT n FROM (SELECT n, SUM(size) OVER (ORDER BY n DESC) AS upto FROM results WHERE state = 1) WHERE upto > ?)`
	doomedResult = `SELECT n FROM results WHERE state = 2 LIMIT 1`
	removePieces = `DELETE FROM result_pieces WHERE piece IN (SELECT piece FROM result_pieces WHERE piece BETWEEN ? AND ? LIMIT ?)`
	removeResult = `DELETE FROM results WHERE n = ?`
)

// ErrNoRoom is why a result that is larger than all results together may be is not kept.
var ErrNoRoom = errors.New("the result is larger than all kept results together may be")

// KeepResult keeps a result under its id, and returns when it can be read: at once, unless too many wait for the disk
// already or the disk failed with the last one; then it takes some milliseconds for each megabyte, and when ctx ends
// first, the result is not kept. Data must not change afterwards. A relay that is killed may lose what it was told
// within the last moments; one that is closed does not.
func (s *Store) KeepResult(ctx context.Context, r call.StoredResult) error {
	if int64(len(r.Data)) > s.limits.ResultBytes || len(r.Data) > maxPieces*pieceBytes {
		return ErrNoRoom
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.postpone(r) {
		return nil
	}
	err := s.writeResult(ctx, r)
	if err == nil {
		s.waiting.wrote()
	}
	return err
}

// writeResult writes a result, and returns when it can be read from the file.
func (s *Store) writeResult(ctx context.Context, r call.StoredResult) error {
	n, err := s.beginResult(ctx, r)
	for i := 0; err == nil && i*pieceBytes < len(r.Data); i++ {
		piece := r.Data[i*pieceBytes : min((i+1)*pieceBytes, len(r.Data))]
		err = s.do(ctx, func(w *writer) error { return w.exec(insertPiece, n*maxPieces+int64(i), piece) })
	}
	if err == nil {
		err = s.do(ctx, func(w *writer) error { return w.exec(finishResult, n) })
	}
	if err != nil {
		s.forgetResult(r.ID)
		return fmt.Errorf("the result of call %s was not kept: %w", r.CallID, err)
	}
	return nil
}

func (s *Store) beginResult(ctx context.Context, r call.StoredResult) (n int64, err error) {
	number := make(chan int64, 1)
	err = s.do(ctx, func(w *writer) error {
		result, err := w.conn.ExecContext(context.Background(), insertResult, r.ID, string(r.CallID), r.Session.ID, r.Session.Client,
			r.Session.Via, r.Tool, micros(r.Created), r.MIMEType, len(r.Data))
		if err != nil {
			return err
		}
		id, err := result.LastInsertId()
		number <- id
		w.untidy = true // there may be too many now
		return err
	})
	if err != nil {
		return 0, err
	}
	return <-number, nil
}

// forgetResult removes what was written of a result. Nobody waits for that.
func (s *Store) forgetResult(id string) {
	_ = s.enter(context.Background(), work{ // after Close the next relay does it
		run: func(w *writer) error {
			w.untidy = true
			return w.exec(dropResult, id)
		},
		done: func(error) {},
	})
}

// Result returns the result of that id with its data, and false when there is none, or not any more.
func (s *Store) Result(ctx context.Context, id string) (r call.StoredResult, found bool, err error) {
	if r, found = s.waiting.find(id); found {
		return r, true, nil
	}
	var n int64
	r, n, found, err = s.findResult(ctx, id)
	if err != nil || !found {
		return call.StoredResult{}, false, err
	}
	r.Data = make([]byte, 0, r.Size)
	for i := int64(0); int64(len(r.Data)) < r.Size; i++ {
		piece, err := s.piece(ctx, n*maxPieces+i)
		if errors.Is(err, sql.ErrNoRows) {
			return call.StoredResult{}, false, nil // it was removed meanwhile
		}
		if err != nil {
			return call.StoredResult{}, false, fmt.Errorf("cannot read result %s: %w", id, err)
		}
		r.Data = append(r.Data, piece...)
	}
	return r, true, nil
}

func (s *Store) findResult(ctx context.Context, id string) (r call.StoredResult, n int64, found bool, err error) {
	type row struct {
		call.StoredResult
		n int64
	}
	read := make(chan row, 1)
	err = s.do(ctx, func(w *writer) error {
		var this row
		var created int64
		err := w.conn.QueryRowContext(context.Background(), findResult, id).Scan(&this.n, &this.ID, &this.CallID, &this.Session.ID,
			&this.Session.Client, &this.Session.Via, &this.Tool, &created, &this.MIMEType, &this.Size)
		this.Created = moment(created)
		read <- this
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return r, 0, false, nil
	}
	if err != nil {
		return r, 0, false, fmt.Errorf("cannot read result %s: %w", id, err)
	}
	this := <-read
	return this.StoredResult, this.n, true, nil
}

func (s *Store) piece(ctx context.Context, number int64) ([]byte, error) {
	read := make(chan []byte, 1)
	err := s.do(ctx, func(w *writer) error {
		var data []byte
		err := w.conn.QueryRowContext(context.Background(), readPiece, number).Scan(&data)
		read <- data
		return err
	})
	if err != nil {
		return nil, err
	}
	return <-read, nil
}

// piecesAtOnce is how many pieces one round of tidying removes.
const piecesAtOnce = 16

// pruneResults removes a round of results that are too old or too many, the oldest first, and reports whether there
// may be more.
func (w *writer) pruneResults(now time.Time) (more bool, err error) {
	if err := w.exec(expireResults, now.Add(-w.limits.ResultAge).UnixMicro()); err != nil {
		return false, err
	}
	if err := w.exec(overflowResult, w.limits.ResultBytes); err != nil {
		return false, err
	}
	var n int64
	err = w.conn.QueryRowContext(context.Background(), doomedResult).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	result, err := w.conn.ExecContext(context.Background(), removePieces, n*maxPieces, n*maxPieces+maxPieces-1, piecesAtOnce)
	if err != nil {
		return false, err
	}
	if removed, err := result.RowsAffected(); err == nil && removed == piecesAtOnce {
		return true, nil
	}
	return true, w.exec(removeResult, n)
}

// exec runs a statement that is too rare to be worth preparing.
func (w *writer) exec(text string, args ...any) error {
	_, err := w.conn.ExecContext(context.Background(), text, args...)
	return err
}
