//go:build unix

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// receiver sets a variable to the address of a receiver of the audit log, which writes the entries that it gets into a
// file, one on each line. What is sent to its /away it leads to itself.
func receiver(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[1])
	var writing sync.Mutex
	at := httptest.NewServer(http.HandlerFunc(func(res http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/away" {
			http.Redirect(res, req, "/", http.StatusTemporaryRedirect)
			return
		}
		writing.Lock()
		defer writing.Unlock()
		var batch struct{ Entries []json.RawMessage }
		body, _ := io.ReadAll(req.Body)
		out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if json.Unmarshal(body, &batch) != nil || err != nil || req.Header.Get("Webhook-Signature") == "" {
			res.WriteHeader(http.StatusInternalServerError)
			return
		}
		defer out.Close()
		for _, entry := range batch.Entries {
			if _, err := out.Write(append(entry, '\n')); err != nil {
				res.WriteHeader(http.StatusInternalServerError)
			}
		}
	}))
	ts.Defer(at.Close)
	ts.Setenv(args[0], at.URL)
}
