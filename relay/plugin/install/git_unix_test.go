//go:build unix

package install

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What git started to talk to a server ends with git, when fetching is given up.
func TestGitEndsWithWhatItStarted(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "alive")
	script := "#!/bin/sh\nexec 3>" + pipe + "\necho >&3\nexec sleep 600\n"
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600),
		os.WriteFile(filepath.Join(dir, "ssh"), []byte(script), 0o700)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := git(ctx, "ls-remote", "ssh://git.invalid/tea")
		ended <- err
	}()
	alive, err := os.Open(pipe) // when the program for the server runs
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	if _, err := alive.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("git ended with %v", err)
	}
	if rest, err := io.ReadAll(alive); err != nil || len(rest) > 0 { // to its end: it is gone
		t.Errorf("%q, %v", rest, err)
	}
}
