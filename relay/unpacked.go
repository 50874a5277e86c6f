package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/google/renameio/v2/maybe"
)

// adaptersDir is the folder of the extension that adapters are in.
const adaptersDir = "adapters"

// pairingFile tells the extension where the relay is and lets both prove that they belong together. It is read anew
// whenever the extension connects.
const pairingFile = "pairing.json"

// unpacked is the folder Chrome loads the extension from. Files are replaced whole, because Chrome may read them at
// any moment, and only when they differ, so that nothing is written at most starts.
type unpacked struct {
	dir    string
	bundle fs.FS // nil in a binary that was built without the extension

	mu sync.Mutex // one writer at a time
}

// write brings the extension's own files up to date, and removes those of an earlier version.
func (u *unpacked) write() error {
	if u.bundle == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.ours(); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(u.dir, pairingFile)); errors.Is(err, fs.ErrNotExist) {
		if err := u.put(pairingFile, []byte("{}\n"), 0o600); err != nil { // the folder is ours, also when this start ends here
			return fmt.Errorf("cannot write the extension: %w", err)
		}
	}
	own := map[string]bool{pairingFile: true}
	err := fs.WalkDir(u.bundle, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == ".gitkeep" {
			return err
		}
		own[name] = true
		data, err := fs.ReadFile(u.bundle, name)
		if err != nil {
			return err
		}
		return u.put(name, data, 0o644)
	})
	if err != nil {
		return fmt.Errorf("cannot write the extension: %w", err)
	}
	return u.prune(func(name string) bool { return own[name] || strings.HasPrefix(name, adaptersDir+"/") })
}

// ours refuses a folder with other people's files in it: what is not part of the extension is removed.
func (u *unpacked) ours() error {
	entries, err := os.ReadDir(u.dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot look into the extension's folder: %w", err)
	}
	for _, entry := range entries {
		if entry.Name() == pairingFile {
			return nil
		}
	}
	return fmt.Errorf("%s has files in it that are not the extension's; set extensionDir to a new or empty folder", u.dir)
}

// pair tells the extension where the relay is.
func (u *unpacked) pair(address, secret string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	text, err := json.Marshal(map[string]string{"address": address, "secret": secret})
	if err == nil {
		err = u.put(pairingFile, append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", pairingFile, err)
	}
	return nil
}

// adapters puts the adapter files of the plugins that exist now in place. Those that are gone stay until the next
// start: a call may be on its way that needs one.
func (u *unpacked) adapters(files map[string][]byte) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	for name, data := range files {
		if err := u.put(name, data, 0o644); err != nil {
			return fmt.Errorf("cannot write an adapter: %w", err)
		}
	}
	return nil
}

// pruneAdapters removes the adapter files that are not among files.
func (u *unpacked) pruneAdapters(files map[string][]byte) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.prune(func(name string) bool {
		_, wanted := files[name]
		return wanted || !strings.HasPrefix(name, adaptersDir+"/")
	})
}

// put writes one file unless it is there already.
func (u *unpacked) put(name string, data []byte, mode fs.FileMode) error {
	file := filepath.Join(u.dir, filepath.FromSlash(name))
	if have, err := os.ReadFile(file); err == nil && bytes.Equal(have, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return maybe.WriteFile(file, data, mode)
}

// prune removes the files that are not kept, and the folders that are empty then.
func (u *unpacked) prune(keep func(name string) bool) error {
	root := os.DirFS(u.dir)
	var folders []string
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.IsDir():
			folders = append(folders, name)
			return nil
		case keep(name):
			return nil
		}
		return os.Remove(filepath.Join(u.dir, filepath.FromSlash(name)))
	})
	if err != nil {
		return fmt.Errorf("cannot clean the extension's folder: %w", err)
	}
	for i := len(folders) - 1; i > 0; i-- {
		_ = os.Remove(filepath.Join(u.dir, filepath.FromSlash(path.Clean(folders[i])))) // fails while it is not empty
	}
	return nil
}
