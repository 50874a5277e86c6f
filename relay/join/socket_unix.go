//go:build unix

package join

import (
	"io/fs"
	"os"
	"syscall"
)

// owned reports whether this user owns a file.
func owned(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
