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
	Kept    bool // its content is the one that is kept; told by Reviews
}

// Verdict is what a review came to.
type Verdict string

// The verdicts of reviews.
const (
	Accepted Verdict = "accepted"
	Refused  Verdict = "refused"
)

const (
	findReviews = `SELECT plugin, hash, created, by, verdict, content IS NOT NULL FROM reviews ORDER BY plugin, created, hash`
	putReview   = `INSERT OR REPLACE INTO reviews (plugin, hash, created, by, verdict, content) VALUES (?, ?, ?, ?, ?, NULL)`

	// One content is kept for each plugin: the one that served last.
	keepContent = `UPDATE reviews SET content = CASE WHEN hash = ? THEN ? END
		WHERE plugin = ? AND EXISTS (SELECT 1 FROM reviews WHERE plugin = ? AND hash = ? AND verdict = 'accepted')`
	findContent = `SELECT hash, content FROM reviews WHERE plugin = ? AND verdict = 'accepted' AND content IS NOT NULL`
)

// Reviews returns every review, the later ones of a plugin after the earlier ones.
func (s *Store) Reviews(ctx context.Context) ([]Review, error) {
	read := make(chan []Review, 1)
	err := s.do(ctx, func(w *writer) error {
		rows, err := w.conn.QueryContext(context.Background(), findReviews)
		if err != nil {
			return err
		}
		var list []Review
		for rows.Next() {
			var r Review
			var created int64
			if err := rows.Scan(&r.Plugin, &r.Hash, &created, &r.By, &r.Verdict, &r.Kept); err != nil {
				return errors.Join(err, rows.Close())
			}
			r.Created = moment(created)
			list = append(list, r)
		}
		read <- list
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the reviews: %w", err)
	}
	return <-read, nil
}

// AddReview writes a review down, in place of an earlier one of the same content. content is what was accepted, and
// the one that is kept from now on; it is nil for a refusal, which leaves what is kept of another content.
func (s *Store) AddReview(ctx context.Context, r Review, content []byte) error {
	err := s.do(ctx, func(w *writer) error {
		if err := w.exec(putReview, r.Plugin, r.Hash, micros(r.Created), r.By, string(r.Verdict)); err != nil {
			return err
		}
		if content == nil {
			return nil
		}
		return w.exec(keepContent, r.Hash, content, r.Plugin, r.Plugin, r.Hash)
	})
	if err != nil {
		return fmt.Errorf("cannot write the review down: %w", err)
	}
	return nil
}

// KeepContent keeps another accepted content of a plugin in place of the one that is kept. One that is not accepted
// changes nothing.
func (s *Store) KeepContent(ctx context.Context, plugin, hash string, content []byte) error {
	if err := s.do(ctx, func(w *writer) error { return w.exec(keepContent, hash, content, plugin, plugin, hash) }); err != nil {
		return fmt.Errorf("cannot keep the reviewed content of %s: %w", plugin, err)
	}
	return nil
}

// ReviewedContent returns the content that is kept of a plugin, and its hash; both are empty when there is none.
func (s *Store) ReviewedContent(ctx context.Context, plugin string) (hash string, content []byte, err error) {
	type kept struct {
		hash    string
		content []byte
	}
	read := make(chan kept, 1)
	err = s.do(ctx, func(w *writer) error {
		var k kept
		err := w.conn.QueryRowContext(context.Background(), findContent, plugin).Scan(&k.hash, &k.content)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		read <- k
		return nil
	})
	if err != nil {
		return "", nil, fmt.Errorf("cannot read the reviewed content of %s: %w", plugin, err)
	}
	k := <-read
	return k.hash, k.content, nil
}
