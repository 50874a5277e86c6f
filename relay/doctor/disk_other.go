//go:build !unix

package doctor

import "errors"

// free is not known on this system.
func free(string) (uint64, error) { return 0, errors.ErrUnsupported }
