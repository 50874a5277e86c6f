//go:build unix

package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every command waits for what packages do before main. A count, which no other work on the machine changes: an
// expression that is compiled there, or a table that is read, takes it over the limit.
func TestWhatOurPackagesAllocateBeforeMain(t *testing.T) {
	const most = 16_000 // 13,600 on 2026-11-28; 37,000 before expressions were compiled when they are first used
	cmd := exec.Command("tabrelay", "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var told strings.Builder
	cmd.Stderr = &told
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, &told)
	}
	var sum int
	var largest []string
	for _, line := range regexp.MustCompile(`(?m)^init (tabrelay/\S+) .* (\d+) allocs$`).
		FindAllStringSubmatch(told.String(), -1) {
		n, err := strconv.Atoi(line[2])
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(line[1], "test") {
			continue // it is in the tests only
		}
		if sum += n; n >= 500 {
			largest = append(largest, line[1]+" "+line[2])
		}
	}
	t.Logf("%d allocations", sum)
	if sum == 0 || sum > most {
		t.Errorf("%d allocations, want at most %d: %s", sum, most, strings.Join(largest, ", "))
	}
}
