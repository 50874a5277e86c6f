package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Examine checks the header of a database file (SQLite, "Database File Format", 1.3) without opening the database. For
// a missing file the error is fs.ErrNotExist.
func Examine(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // only read from
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var header [100]byte
	_, short := io.ReadFull(f, header[:])
	pageSize := int64(binary.BigEndian.Uint16(header[16:18]))
	if pageSize == 1 {
		pageSize = 65536
	}
	pages := int64(binary.BigEndian.Uint32(header[28:32]))
	counted := [4]byte(header[24:28]) == [4]byte(header[92:96]) // the last writer maintains the number of pages
	log, err := os.Stat(path + "-wal")
	switch {
	case info.Size() == 0:
		return errors.New("it is empty")
	case string(header[:min(16, info.Size())]) != magic[:min(16, info.Size())]:
		return errors.New("it is not a SQLite database")
	case short != nil, pageSize < 512, info.Size() < pageSize:
		return errors.New("it is cut off")
	// the log may contain what is missing
	case counted && info.Size() < pages*pageSize && (err != nil || log.Size() == 0):
		return errors.New("it is cut off")
	}
	return nil
}

// magic begins every SQLite database.
const magic = "SQLite format 3\x00"

// create makes an empty database and renames it into place: an empty file would be taken for one that lost its content.
func create(ctx context.Context, path string) (err error) {
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		return errors.New("it is gone, but its log " + filepath.Base(path) + "-wal is there")
	}
	next := path + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(next, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", source(next, "_pragma=journal_mode(MEMORY)"))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA user_version = 0; VACUUM")
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// source names a file for the driver. That of a drive's begins with a slash: file:///C:/Users.
func source(path, options string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: options}
	return u.String()
}

// connect opens the file, readable by its owner only, and returns the one connection to it.
func connect(ctx context.Context, path string) (*sql.DB, *sql.Conn, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, err
	}
	err = Examine(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = create(ctx, path)
	}
	if err != nil {
		return nil, nil, err
	}
	// What a savepoint may have to undo is kept in memory: each batch of the audit log made and removed a file for it.
	db, err := sql.Open("sqlite", source(path, "_pragma=busy_timeout(2000)&_pragma=journal_mode(WAL)"+
		"&_pragma=synchronous(NORMAL)&_pragma=wal_autocheckpoint(4000)&_pragma=cache_size(-2048)"+
		"&_pragma=temp_store(MEMORY)"))
	if err != nil {
		return nil, nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, conn, nil
}

// openToRead opens a database for reading, beside a relay that writes it or without one. What is to be read of it is
// there from a version on.
func openToRead(ctx context.Context, path string, since int, what string) (*sql.DB, error) {
	name, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", source(name,
		"mode=ro&_pragma=busy_timeout(2000)&_pragma=query_only(1)&_pragma=cache_size(-2048)"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	var version int
	if err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		err = fmt.Errorf("cannot read %s: %w", filepath.Base(path), err)
	} else if version < since {
		err = fmt.Errorf("%s was written by an older tabrelay: %s can be read once the relay was started",
			filepath.Base(path), what)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}
