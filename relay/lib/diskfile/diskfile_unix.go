//go:build unix

package diskfile

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/google/renameio/v2"
)

// Write replaces a file, or makes it. Whoever reads it meanwhile finds all of the old or all of the new content.
func Write(path string, content []byte, perm fs.FileMode) error {
	return renameio.WriteFile(path, content, perm)
}

// MakeFolder makes a folder that is closed to other users, and those above it. One that is there stays as it is.
func MakeFolder(path string) error { return os.MkdirAll(path, 0o700) }

// OthersOf is what other users may do with a file, whose info is that of path.
func OthersOf(_ string, info fs.FileInfo) Others {
	perm := info.Mode().Perm()
	return Others{Use: perm&0o077 != 0, Write: perm&0o022 != 0, WorldWrite: perm&0o002 != 0,
		Why: fmt.Sprintf("mode %04o", perm)}
}

// Closing is the command with which a person keeps others out of a file or folder.
func Closing(path string, folder bool) string {
	return fmt.Sprintf("chmod %o %q", closed(folder), path)
}

// Close keeps other users out of a file or folder.
func Close(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Chmod(path, closed(info.IsDir()))
}

func closed(folder bool) fs.FileMode {
	if folder {
		return 0o700
	}
	return 0o600
}

// Owned reports whether a file belongs to this user or to root, who may read and write everything anyway.
func Owned(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(stat.Uid) == os.Getuid() || stat.Uid == 0)
}
