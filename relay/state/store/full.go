package store

import (
	"errors"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"tabrelay/relay/state/config"
)

// errFull is said in place of what SQLite and the operating system say of a disk without room.
var errFull = &config.FileError{
	Err:  errors.New("the disk with tabrelay.db is full"),
	Next: "free some disk space, then do it again",
}

// plain is an error of the database as a person can act on it.
func plain(err error) error {
	if code(err) == sqlite3.SQLITE_FULL || errors.Is(err, syscall.ENOSPC) {
		return errFull
	}
	return err
}

// endsTransaction reports whether SQLite may have rolled back after an error (lang_transaction.html, "Response To
// Errors Within A Transaction").
func endsTransaction(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_INTERRUPT:
		return true
	}
	return false
}

// code is the primary result code of SQLite in an error; 0 for other errors.
func code(err error) int {
	var refused *sqlite.Error
	if !errors.As(err, &refused) {
		return sqlite3.SQLITE_OK
	}
	return refused.Code() & 0xff
}
