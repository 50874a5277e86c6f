package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
)

const (
	// pieceBytes is how much of a result one work item writes. A large result takes many, and other work goes in
	// between: the journal entry of a call does not wait for ten megabytes of another.
	pieceBytes   = 256 << 10
	maxPieces    = 1 << 16 // of one result: their numbers share an integer with the result's
	piecesAtOnce = 16      // that one round of pruning removes

	// maxUnwritten is how many bytes of results may wait in memory until they are written. A result beyond that is
	// written while its call waits.
	maxUnwritten = 32 << 20
)

// A result has the state 0 while it is written, 1 when it is complete and can be read, 2 while it is removed.
const (
	insertResult = `INSERT INTO results (id, call_id, session, client, via, tool, created, mime, size, state)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`
	insertPiece  = `INSERT INTO result_pieces (piece, data) VALUES (?, ?)`
	finishResult = `UPDATE results SET state = 1 WHERE n = ?`
	dropResult   = `UPDATE results SET state = 2 WHERE id = ? AND state = 0`
	findResult   = `SELECT n, id, call_id, session, client, via, tool, created, mime, size FROM results
		WHERE id = ? AND state = 1`
	readPiece = `SELECT data FROM result_pieces WHERE piece = ?`

	// What an earlier relay was writing when it died is incomplete.
	dropUnfinished = `UPDATE results SET state = 2 WHERE state = 0`
	expireResults  = `UPDATE results SET state = 2 WHERE state = 1 AND created < ?`
	overflowResult = `UPDATE results SET state = 2 WHERE state = 1 AND n IN (
		SELECT n FROM (SELECT n, SUM(size) OVER (ORDER BY n DESC) AS upto FROM results WHERE state = 1) WHERE upto > ?)`
	removedResult = `SELECT n FROM results WHERE state = 2 LIMIT 1`
	removePieces  = `DELETE FROM result_pieces
		WHERE piece IN (SELECT piece FROM result_pieces WHERE piece BETWEEN ? AND ? LIMIT ?)`
	removeResult = `DELETE FROM results WHERE n = ?`
)

// ErrNoRoom is the error for a result that is larger than all kept results together may be.
var ErrNoRoom = errors.New("the result is larger than all kept results together may be")

// KeepResult keeps a result under its id, and returns when it can be read. That is at once, unless too many results are
// unwritten or the last write failed: then it takes some milliseconds for each megabyte, and if ctx ends first, the
// result is not kept. Data must not change afterwards. A relay that is killed may lose the results of the last moments;
// one that is closed does not.
func (s *Store) KeepResult(ctx context.Context, r call.StoredResult) error {
	if int64(len(r.Data)) > s.limits.ResultBytes || len(r.Data) > maxPieces*pieceBytes {
		return ErrNoRoom
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.writeLater(r) {
		return nil
	}
	err := s.writeResult(ctx, r)
	if err == nil {
		s.unwritten.setFailing(false)
	}
	return err
}

// writeResult writes a result, and returns when it can be read from the file.
func (s *Store) writeResult(ctx context.Context, r call.StoredResult) error {
	n, err := s.beginResult(ctx, r)
	pieces := n * maxPieces
	for piece := range slices.Chunk(r.Data, pieceBytes) {
		if err == nil {
			err = s.do(ctx, func(w *writer) error { return w.exec(insertPiece, pieces, piece) })
			pieces++
		}
	}
	if err == nil {
		err = s.do(ctx, func(w *writer) error { return w.exec(finishResult, n) })
	}
	if err != nil {
		drop := func(w *writer) error { w.pruneSoon = true; return w.exec(dropResult, r.ID) }
		_ = s.enqueue(context.Background(), work{run: drop, done: func(error) {}}) // after Close the next relay does it
		return fmt.Errorf("the result of call %s was not kept: %w", r.CallID, err)
	}
	return nil
}

func (s *Store) beginResult(ctx context.Context, r call.StoredResult) (n int64, err error) {
	return read(ctx, s, func(w *writer) (int64, error) {
		result, err := w.conn.ExecContext(context.Background(), insertResult, r.ID, string(r.CallID), r.Session.ID,
			r.Session.Client, r.Session.Via, r.Tool, micros(r.Created), r.MIMEType, len(r.Data))
		if err != nil {
			return 0, err
		}
		w.pruneSoon = true // there may be too many now
		return result.LastInsertId()
	})
}

// Result returns the result of that id with its data, and false when there is none, or not any more.
func (s *Store) Result(ctx context.Context, id string) (r call.StoredResult, found bool, err error) {
	if r, found = s.unwritten.find(id); found {
		return r, true, nil
	}
	r, err = s.readResult(ctx, id)
	if errors.Is(err, sql.ErrNoRows) { // perhaps removed while it was read
		return call.StoredResult{}, false, nil
	}
	if err != nil {
		return call.StoredResult{}, false, fmt.Errorf("cannot read result %s: %w", id, err)
	}
	return r, true, nil
}

func (s *Store) readResult(ctx context.Context, id string) (call.StoredResult, error) {
	var n, created int64
	r, err := read(ctx, s, func(w *writer) (r call.StoredResult, err error) {
		err = w.row(findResult, []any{id}, &n, &r.ID, &r.CallID, &r.Session.ID, &r.Session.Client, &r.Session.Via,
			&r.Tool,
			&created, &r.MIMEType, &r.Size)
		r.Created = timeOf(created)
		return r, err
	})
	if err != nil {
		return r, err
	}
	r.Data = make([]byte, 0, r.Size)
	for i := n * maxPieces; int64(len(r.Data)) < r.Size; i++ {
		piece, err := read(ctx, s, func(w *writer) (data []byte, err error) {
			err = w.row(readPiece, []any{i}, &data)
			return data, err
		})
		if err != nil {
			return r, err
		}
		r.Data = append(r.Data, piece...)
	}
	return r, nil
}

// pruneResults removes a round of results that are too old or too many, the oldest first, and reports whether there may
// be more.
func (w *writer) pruneResults(now time.Time) (more bool, err error) {
	if err := w.exec(expireResults, now.Add(-w.limits.ResultAge).UnixMicro()); err != nil {
		return false, err
	}
	if err := w.exec(overflowResult, w.limits.ResultBytes); err != nil {
		return false, err
	}
	n, err := w.number(removedResult)
	if err != nil || n == 0 {
		return false, err
	}
	removed, err := w.change(removePieces, n*maxPieces, n*maxPieces+maxPieces-1, piecesAtOnce)
	if err != nil || removed == piecesAtOnce {
		return true, err
	}
	return true, w.exec(removeResult, n)
}

// writeBuffer holds results that can be read and are still to be written, so that no reply waits for the disk.
type writeBuffer struct {
	mu      lock.Mutex
	results []call.StoredResult // in their order; the first is being written
	bytes   int
	writing chan struct{} // closed when all are written; nil while there are none
	failing bool          // the last write failed: the next call waits for its own
	closed  bool
}

// writeLater buffers a result; it reports false if the caller has to write it.
func (s *Store) writeLater(r call.StoredResult) bool {
	b := &s.unwritten
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.failing || b.bytes+len(r.Data) > maxUnwritten {
		return false
	}
	b.results, b.bytes = append(b.results, r), b.bytes+len(r.Data)
	if b.writing == nil {
		b.writing = make(chan struct{})
		go s.writeBuffered()
	}
	return true
}

// writeBuffered writes buffered results until none is left.
func (s *Store) writeBuffered() {
	b := &s.unwritten
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.results) > 0 {
		r := b.results[0]
		b.mu.Unlock()
		err := s.writeResult(context.Background(), r)
		if err != nil {
			s.log.Warn().Err(err).Str("id", r.ID).Msg("a result that an agent was told of is lost")
		}
		b.mu.Lock()
		b.results[0] = call.StoredResult{}
		b.results, b.bytes, b.failing = b.results[1:], b.bytes-len(r.Data), err != nil
	}
	close(b.writing)
	b.results, b.writing = nil, nil
}

// find returns a result that is not written yet.
func (b *writeBuffer) find(id string) (r call.StoredResult, found bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.results, func(r call.StoredResult) bool { return r.ID == id })
	if i < 0 {
		return r, false
	}
	return b.results[i], true
}

func (b *writeBuffer) setFailing(failing bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failing = failing
}

// close takes no more results and waits until all are written.
func (b *writeBuffer) close() {
	b.mu.Lock()
	b.closed = true
	writing := b.writing
	b.mu.Unlock()
	if writing != nil {
		<-writing
	}
}
