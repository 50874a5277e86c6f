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

	"tabrelay/relay/plugin/build"
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

// RemoveUnfinished deletes what installations left behind that were killed: folders that are new still, and those that
// the list of plugins does not have. It does nothing while a plugin is being installed.
func RemoveUnfinished(home string) error {
	parent := filepath.Join(home, packagesDir)
	entries, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || len(entries) == 0 {
		return err
	}
	lock := installing(home)
	free, err := lock.TryLock()
	if err != nil || !free {
		return err
	}
	listed, err := build.Folders(home)
	known := func(e fs.DirEntry) bool {
		// without a list that can be read, nothing says that a folder is no plugin's
		return err != nil || len(listed) == 0 || slices.ContainsFunc(listed, func(dir string) bool {
			return filepath.Base(dir) == e.Name()
		})
	}
	var failed error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), newPrefix) || !known(e) {
			failed = errors.Join(failed, os.RemoveAll(filepath.Join(parent, e.Name())))
		}
	}
	err = failed
	return errors.Join(err, lock.Close())
}
