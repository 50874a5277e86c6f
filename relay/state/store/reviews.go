package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Review is what a person decided about one content of a plugin.
type Review struct {
	Plugin  string
	Hash    string // of the content
	Created time.Time
	By      string // as in call.Entry.DecidedBy
	Verdict Verdict
	Kept    bool // its content is the one that is kept; set by Reviews
}

// Verdict is the result of a review.
type Verdict string

// The verdicts of reviews.
const (
	Accepted Verdict = "accepted"
	Refused  Verdict = "refused"
)

const (
	findReviews = `SELECT plugin, hash, created, by, verdict, content IS NOT NULL FROM reviews
		ORDER BY plugin, created, hash`
	putReview = `INSERT OR REPLACE INTO reviews (plugin, hash, created, by, verdict, content) VALUES (?, ?, ?, ?, ?,` +
		` NULL)`

	// One content is kept for each plugin: the one that was accepted last.
	keepContent = `UPDATE reviews SET content = CASE WHEN hash = ? THEN ? END
		WHERE plugin = ? AND EXISTS (SELECT 1 FROM reviews WHERE plugin = ? AND hash = ? AND verdict = 'accepted')`
	dropContent = `UPDATE reviews SET content = NULL WHERE plugin = ?`
	findContent = `SELECT hash, content FROM reviews WHERE plugin = ? AND verdict = 'accepted' AND content IS NOT NULL`
)

// Reviews returns every review, the later ones of a plugin after the earlier ones.
func (s *Store) Reviews(ctx context.Context) ([]Review, error) {
	all, err := read(ctx, s, func(w *writer) ([]Review, error) {
		return list(w.conn, findReviews, nil, func(rows *sql.Rows) (r Review, err error) {
			var created int64
			err = rows.Scan(&r.Plugin, &r.Hash, &created, &r.By, &r.Verdict, &r.Kept)
			r.Created = timeOf(created)
			return r, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the reviews: %w", err)
	}
	return all, nil
}

// AddReview records a review, in place of an earlier one of the same content. content is what was accepted, which is
// kept from now on; it is nil for a refusal, which leaves what is kept of another content.
func (s *Store) AddReview(ctx context.Context, r Review, content []byte) error {
	err := s.do(ctx, func(w *writer) error {
		err := w.exec(putReview, r.Plugin, r.Hash, micros(r.Created), r.By, string(r.Verdict))
		if err != nil || content == nil {
			return err
		}
		return w.exec(keepContent, r.Hash, content, r.Plugin, r.Plugin, r.Hash)
	})
	if err != nil {
		return fmt.Errorf("cannot save the review: %w", err)
	}
	return nil
}

// KeepContent keeps another accepted content of a plugin in place of the one that is kept. One that is not accepted
// changes nothing.
func (s *Store) KeepContent(ctx context.Context, plugin, hash string, content []byte) error {
	err := s.do(ctx, func(w *writer) error { return w.exec(keepContent, hash, content, plugin, plugin, hash) })
	if err != nil {
		return fmt.Errorf("cannot keep the reviewed content of %s: %w", plugin, err)
	}
	return nil
}

// DropContent keeps no content of a plugin any more. What was decided about its contents stays.
func (s *Store) DropContent(ctx context.Context, plugin string) error {
	if err := s.do(ctx, func(w *writer) error { return w.exec(dropContent, plugin) }); err != nil {
		return fmt.Errorf("cannot drop the reviewed content of %s: %w", plugin, err)
	}
	return nil
}

// ReviewedContent returns the content that is kept of a plugin, and its hash; both are empty when there is none.
func (s *Store) ReviewedContent(ctx context.Context, plugin string) (hash string, content []byte, err error) {
	type kept struct {
		hash    string
		content []byte
	}
	k, err := read(ctx, s, func(w *writer) (k kept, err error) {
		if err = w.row(findContent, []any{plugin}, &k.hash, &k.content); errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return k, err
	})
	if err != nil {
		return "", nil, fmt.Errorf("cannot read the reviewed content of %s: %w", plugin, err)
	}
	return k.hash, k.content, nil
}
