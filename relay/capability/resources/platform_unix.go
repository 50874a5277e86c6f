//go:build unix

package resources

import "syscall"

// openNonblocking keeps the opening of a pipe, put where a file was a moment ago, from waiting for a writer.
const openNonblocking = syscall.O_NONBLOCK | syscall.O_NOFOLLOW

// errNotFolder is what the system says of a path that goes on below a file.
const errNotFolder = syscall.ENOTDIR
