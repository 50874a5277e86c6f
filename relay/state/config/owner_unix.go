//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// Owned reports whether a file belongs to this user, or to the superuser, who can read and write everything anyway.
func Owned(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(stat.Uid) == os.Getuid() || stat.Uid == 0)
}
