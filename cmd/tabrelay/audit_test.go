//go:build unix

package main

import (
	"database/sql"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// tamper changes the database of a session as somebody could who may write to the file.
func tamper(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite", filepath.Join(ts.Getenv("TABRELAY_HOME"), "tabrelay.db"))
	ts.Check(err)
	defer db.Close() // what it wrote is committed
	result, err := db.Exec(args[0])
	ts.Check(err)
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		ts.Fatalf("nothing was changed: %v", err)
	}
}
