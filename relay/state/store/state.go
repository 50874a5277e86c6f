package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
)

const (
	findProfiles   = `SELECT id, label, seen FROM profiles ORDER BY seen DESC, rowid DESC`
	putProfile     = `INSERT OR REPLACE INTO profiles (id, label, seen) VALUES (?, ?, ?)`
	forgetProfile  = `DELETE FROM profiles WHERE id = ?`
	forgetProfiles = `DELETE FROM profiles WHERE id NOT IN (SELECT id FROM profiles ORDER BY seen DESC LIMIT ?)`

	findSeen   = `SELECT client, at FROM clients_seen`
	putSeen    = `INSERT OR REPLACE INTO clients_seen (client, at) VALUES (?, ?)`
	forgetSeen = `DELETE FROM clients_seen WHERE client = ?`

	findLastTabs   = `SELECT session, plugin, profile_id, profile, tab_id, site, used FROM last_tabs`
	putLastTab     = `INSERT OR REPLACE INTO last_tabs VALUES (?, ?, ?, ?, ?, ?, ?)`
	forgetLastTab  = `DELETE FROM last_tabs WHERE session = ?`
	expireLastTabs = `DELETE FROM last_tabs WHERE used < ?`
)

// maxProfiles bounds how many profiles are remembered; those seen longest ago are forgotten.
const maxProfiles = 100

// keepLastTabs is how long it is remembered where a session worked.
const keepLastTabs = time.Hour

// Profiles are the browser profiles that were connected, the last one first.
func (s *Store) Profiles(ctx context.Context) ([]call.Profile, error) {
	return read(ctx, s, func(w *writer) ([]call.Profile, error) { return profiles(w.conn) })
}

// KnownProfiles are the profiles that were connected to a relay of this home folder, the last one first. It opens the
// database only to read it, beside a relay or without one.
func KnownProfiles(ctx context.Context, home config.Home) ([]call.Profile, error) {
	return readBeside(ctx, home, "the list of browser profiles", profiles)
}

// readBeside reads something of the database of a home folder; nothing where there is none yet.
func readBeside[T any](ctx context.Context, home config.Home, what string, query func(querier) (T, error)) (value T,
	err error) {
	if _, err := os.Stat(home.Database()); errors.Is(err, fs.ErrNotExist) {
		return value, nil
	}
	db, err := openToRead(ctx, home.Database(), stateVersion, what)
	if err != nil {
		return value, err
	}
	value, err = query(db)
	return value, errors.Join(err, db.Close())
}

func profiles(q querier) ([]call.Profile, error) {
	return list(q, findProfiles, nil, func(rows *sql.Rows) (p call.Profile, err error) {
		var seen int64
		err = rows.Scan(&p.ID, &p.Label, &seen)
		p.Seen = timeOf(seen).UTC()
		return p, err
	})
}

// ProfileSeen notes that a profile is connected, and under which name.
func (s *Store) ProfileSeen(ctx context.Context, id, label string) error {
	now := time.Now().Truncate(time.Second).UnixMicro()
	return s.do(ctx, func(w *writer) error {
		return errors.Join(w.exec(putProfile, id, label, now), w.exec(forgetProfiles, maxProfiles))
	})
}

// ForgetProfile forgets that a profile was connected.
func (s *Store) ForgetProfile(ctx context.Context, id string) error {
	return s.do(ctx, func(w *writer) error { return w.exec(forgetProfile, id) })
}

// ClientsSeen says when each client was here last.
func (s *Store) ClientsSeen(ctx context.Context) (map[string]time.Time, error) {
	return read(ctx, s, func(w *writer) (map[string]time.Time, error) { return clientsSeen(w.conn) })
}

func clientsSeen(q querier) (map[string]time.Time, error) {
	seen := map[string]time.Time{}
	_, err := list(q, findSeen, nil, func(rows *sql.Rows) (client string, err error) {
		var at int64
		err = rows.Scan(&client, &at)
		seen[client] = timeOf(at)
		return client, err
	})
	return seen, err
}

// ClientSeen notes when a client was here. It does not wait for the disk.
func (s *Store) ClientSeen(client string, at time.Time) {
	s.doLater("cannot note when a client was here", "", func(w *writer) error {
		return w.exec(putSeen, client, at.Truncate(time.Second).UnixMicro())
	})
}

// ForgetClient forgets when a client was here. It does not wait for the disk.
func (s *Store) ForgetClient(client string) {
	s.doLater("cannot forget when a client was here", "", func(w *writer) error { return w.exec(forgetSeen, client) })
}

// LastTabs lists where sessions have worked within the last hour.
func (s *Store) LastTabs(ctx context.Context) ([]call.LastTab, error) {
	return read(ctx, s, func(w *writer) ([]call.LastTab, error) {
		if err := w.exec(expireLastTabs, time.Now().Add(-keepLastTabs).UnixMicro()); err != nil {
			return nil, err
		}
		return list(w.conn, findLastTabs, nil, func(rows *sql.Rows) (t call.LastTab, err error) {
			var used int64
			err = rows.Scan(&t.Session, &t.Plugin, &t.ProfileID, &t.Profile, &t.TabID, &t.Site, &used)
			t.Used = timeOf(used)
			return t, err
		})
	})
}

// KeepLastTab notes where a session works. It does not wait for the disk.
func (s *Store) KeepLastTab(t call.LastTab) {
	s.doLater("cannot note where an agent works; after a restart it begins anew", "", func(w *writer) error {
		return w.exec(putLastTab, lastTabRow(t)...)
	})
}

// ForgetLastTabs forgets where a session worked. It does not wait for the disk.
func (s *Store) ForgetLastTabs(session string) {
	s.doLater("cannot forget where an agent worked", "", func(w *writer) error {
		return w.exec(forgetLastTab, session)
	})
}

func lastTabRow(t call.LastTab) []any {
	return []any{t.Session, t.Plugin, t.ProfileID, t.Profile, t.TabID, t.Site, t.Used.UnixMicro()}
}

// pruneLastTabs removes what is too old to be of use.
func (w *writer) pruneLastTabs(now time.Time) (more bool, err error) {
	return false, w.exec(expireLastTabs, now.Add(-keepLastTabs).UnixMicro())
}

// Import takes over what an earlier version kept in files of the home folder, in one transaction, and removes the
// files. What the database has already stays as it is: an import that was cut short is repeated. A file that is damaged
// is refused, and nothing is taken over.
func (s *Store) Import(ctx context.Context, home config.Home) error {
	var old struct {
		profiles []call.Profile
		seen     map[string]time.Time
		tabs     []struct {
			call.LastTab
			Lane string // what the session was called
		}
	}
	files := home.OldState()
	for i, into := range []any{&old.profiles, &old.seen, &old.tabs} {
		if err := config.ReadState(files[i], into); err != nil {
			return err
		}
	}
	if len(old.profiles)+len(old.seen)+len(old.tabs) > 0 {
		err := s.do(ctx, func(w *writer) error {
			var err error
			add := func(put string, row ...any) {
				err = errors.Join(err, w.exec(strings.Replace(put, "OR REPLACE", "OR IGNORE", 1), row...))
			}
			for _, p := range old.profiles {
				add(putProfile, p.ID, p.Label, p.Seen.UnixMicro())
			}
			for client, at := range old.seen {
				add(putSeen, client, at.UnixMicro())
			}
			for _, t := range old.tabs {
				t.Session = t.Lane
				add(putLastTab, lastTabRow(t.LastTab)...)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("cannot take over %s, %s and %s: %w", files[0], files[1], files[2], err)
		}
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot remove %s, whose content is in the database now: %w", file, err)
		}
	}
	return nil
}
