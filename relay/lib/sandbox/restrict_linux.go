package sandbox

import (
	"bufio"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// restrict limits by how much the memory of this process may grow, and allows no core file. A single step that asks for
// more fails at once, where measuring the memory in use would be too late.
func restrict(memory uint64) {
	status, err := os.Open("/proc/self/status")
	if err != nil {
		return // without /proc the measurements in Serve have to do
	}
	defer status.Close() // only read from
	for lines := bufio.NewScanner(status); lines.Scan(); {
		var kilobytes uint64
		if n, _ := fmt.Sscanf(lines.Text(), "VmData: %d kB", &kilobytes); n == 1 {
			most := kilobytes<<10 + memory
			_ = unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most})
		}
	}
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}
