package store

import (
	"errors"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"tabrelay/relay/config"
)

// errFull is said in place of what SQLite and the operating system say of a disk without room.
var errFull = &config.FileError{
	Err:  errors.New("the disk with tabrelay.db is full"),
	Next: "free some disk space, then do it again",
}

// plain is an error of the database as a person can act on it.
func plain(err error) error {
	var refused *sqlite.Error
	if errors.As(err, &refused) && refused.Code()&0xff == sqlite3.SQLITE_FULL || errors.Is(err, syscall.ENOSPC) {
		return errFull
	}
	return err
}
