package resources

import "syscall"

const openNonblocking = 0

// errNotFolder is what the system says of a path that goes on below a file.
const errNotFolder = syscall.ENOTDIR
