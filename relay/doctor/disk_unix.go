//go:build unix

package doctor

import "golang.org/x/sys/unix"

// free is the room on the disk of a folder that this user may use.
func free(folder string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil //nolint:unconvert // their types differ between systems
}
