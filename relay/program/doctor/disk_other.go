//go:build !unix

package doctor

import (
	"errors"
	"io/fs"
)

// free is not known on this system.
func free(string) (uint64, error) { return 0, errors.ErrUnsupported }

// owner is not known on this system.
func owner(fs.FileInfo) string { return "" }
