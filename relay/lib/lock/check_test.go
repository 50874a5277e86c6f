//go:build lockcheck

package lock

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// faults are what ends the program. The test runs itself anew for each.
var faults = map[string]struct {
	do   func()
	says string
}{
	"two orders": {func() {
		var a, b Mutex
		a.Lock()
		b.Lock()
		b.Unlock()
		a.Unlock()
		b.Lock()
		a.Lock()
	}, "Inconsistent locking"},
	"writing under a lock": {func() {
		var a Mutex
		var b RWMutex
		a.Lock()
		b.RLock()
		NoneHeld("writing state.json")
	}, "writing state.json while the goroutine holds 2 locks"},
}

func TestFaultsEndTheProgram(t *testing.T) {
	if fault, ok := faults[os.Getenv("LOCK_FAULT")]; ok {
		fault.do()
		return
	}
	for name, fault := range faults {
		program := exec.Command(os.Args[0], "-test.run=^TestFaultsEndTheProgram$")
		program.Env = append(os.Environ(), "LOCK_FAULT="+name)
		said, err := program.CombinedOutput()
		if err == nil || program.ProcessState.ExitCode() != 2 || !strings.Contains(string(said), fault.says) {
			t.Errorf("%s: %v\n%s", name, err, said)
		}
	}
}

func TestWritingWithoutALockOfOnesOwn(t *testing.T) {
	var a Mutex
	a.Lock()
	done := make(chan struct{})
	go func() {
		NoneHeld("writing state.json")
		close(done)
	}()
	<-done
	a.Unlock()
	NoneHeld("writing state.json")
}
