package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"
)

// newPrefix begins the names of folders that hold a plugin while it is being installed.
const newPrefix = ".new-"

// installing is held by whoever installs a plugin, shared with others who do.
func installing(home string) *flock.Flock {
	return flock.New(filepath.Join(home, packagesDir+".lock"), flock.SetPermissions(0o600))
}

// hold tells others that a plugin is being installed, until the lock is closed or the process ends.
func hold(home string) (*flock.Flock, error) {
	lock := installing(home)
	if err := lock.RLock(); err != nil {
		return nil, fmt.Errorf("the folder of installed plugins cannot be locked: %w", err)
	}
	return lock, nil
}

// RemoveUnfinished deletes what installations left behind that were killed. It does nothing while a plugin is being
// installed.
func RemoveUnfinished(home string) error {
	parent := filepath.Join(home, packagesDir)
	entries, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	left := slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), newPrefix) })
	if err != nil || len(left) == 0 {
		return err
	}
	lock := installing(home)
	free, err := lock.TryLock()
	if err != nil || !free {
		return err
	}
	for _, e := range left {
		err = errors.Join(err, os.RemoveAll(filepath.Join(parent, e.Name())))
	}
	return errors.Join(err, lock.Close())
}
