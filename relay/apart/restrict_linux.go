package apart

import (
	"bufio"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// restrict lets this process have so much more memory than it has, and no core file. A single step that asks for more
// fails at once, where looking at the memory in use would come too late.
func restrict(memory uint64) {
	status, err := os.Open("/proc/self/status")
	if err != nil {
		return // without /proc the looks at the memory in use have to do
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
