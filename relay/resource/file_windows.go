package resource

import "syscall"

const dontBlock = 0

// errNotFolder is what the system says of a path that goes on below a file.
const errNotFolder = syscall.ENOTDIR
