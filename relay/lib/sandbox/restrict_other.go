//go:build !linux

package sandbox

// restrict does nothing on this system. The measurements in Serve end a process whose memory grows in steps; a single
// step that grows in steps, and a single step may take more for a moment.
func restrict(uint64) {}
