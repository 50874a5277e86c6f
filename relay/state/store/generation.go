package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tabrelay/relay/lib/lock"
)

// Each change of the rules and switches of a person has a number. The last one is in the database, and, once that was
// written, in a small file beside it: when the end of the database is lost, with its write-ahead log for example, the
// file says so. It is rewritten in place, so that this works on a full disk, too.

const (
	generationSwitch = "rules-generation"
	countChange      = `INSERT INTO switches (name, value) VALUES ('rules-generation', '1')
		ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + 1`
	generationBytes = 32
)

// generation is the number of the last change, and its file.
type generation struct {
	mu   lock.Mutex // nothing nests in it
	path string
	last int64
	lost string
}

type noted struct {
	Changes int64 `json:"changes"`
}

func generationPath(database string) string {
	return filepath.Join(filepath.Dir(database), "rules.position")
}

// openGeneration compares the database with the file.
func openGeneration(w *writer, database string) (*generation, error) {
	g := &generation{path: generationPath(database)}
	var err error
	if g.last, err = w.number(`SELECT COALESCE((SELECT CAST(value AS INTEGER) FROM switches WHERE name = ?), 0)`,
		generationSwitch); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(g.path)
	var was noted
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("cannot read %s: %w", g.path, err)
	case len(content) == 0: // it lost its content in a power failure
	case json.Unmarshal(content, &was) != nil:
		g.lost = "what was set last is unknown, because rules.position was damaged"
	case was.Changes > g.last:
		g.lost = fmt.Sprintf("%d changes of rules that were made last are not in the database any more, which was "+
			"damaged or replaced", was.Changes-g.last)
	}
	return g, nil
}

// note writes down the number of the last change, once it is in the database.
func (g *generation) note(changes int64) error {
	lock.NoneHeld("writing rules.position")
	g.mu.Lock()
	newest := changes > g.last
	if newest {
		g.last = changes
	}
	g.mu.Unlock()
	if !newest {
		return nil
	}
	text, err := json.Marshal(noted{changes})
	if err != nil {
		return err
	}
	content := string(text) + strings.Repeat(" ", max(0, generationBytes-1-len(text))) + "\n"
	file, err := os.OpenFile(g.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteAt([]byte(content), 0)
	return errors.Join(err, file.Close())
}

// changeRules has rules or switches changed, and the change counted.
func (s *Store) changeRules(ctx context.Context, change func(*writer) error) error {
	n, err := read(ctx, s, func(w *writer) (n int64, err error) {
		if err := errors.Join(change(w), w.exec(countChange)); err != nil {
			return 0, err
		}
		return w.number(`SELECT CAST(value AS INTEGER) FROM switches WHERE name = ?`, generationSwitch)
	})
	if err != nil {
		return err
	}
	if err := s.generation.note(n); err != nil { // the change is made; only its loss would not be noticed
		s.log.Warn().Err(err).Msg("the number of the last change of rules was not written down")
	}
	return nil
}

// Lost says why rules and switches that a person set may be missing; empty: none are.
func (s *Store) Lost() string { return s.generation.lost }

// Used reports whether the database was there before it was opened.
func (s *Store) Used() bool { return s.used }
