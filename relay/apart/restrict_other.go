//go:build !linux

package apart

// restrict does nothing where the system does not limit the memory of a process: the looks at the memory in use end one
// that grows in steps, and a single step may take more for a moment.
func restrict(uint64) {}
