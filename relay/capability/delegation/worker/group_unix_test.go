//go:build unix

package worker

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What a program started itself ends with it, however little the program cares.
func TestChildrenEndToo(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	l := newLab(t, "deaf", ACP, "PIDS", pids)
	l.open(Tools{})
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	child, _ := strconv.Atoi(string(text))
	l.Close()
	ends(t, child)
}

// ends waits until a process of somebody else has ended.
func ends(t *testing.T, pid int) {
	t.Helper()
	for range 3000 { // until whoever inherited it has noticed
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(state), ") Z ") {
			return
		}
		<-time.After(time.Millisecond)
	}
	t.Errorf("the process %d is still there", pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// A relay that was killed says goodbye to nobody: its programs end nevertheless, and what they started too.
func TestProgramsEndWithAKilledRelay(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pids := filepath.Join(t.TempDir(), "pids")
	relay := exec.Command(binary)
	relay.Env = append(os.Environ(), modeVariable+"=relay", "PIDS="+pids, "FOLDER="+t.TempDir())
	out, err := relay.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := relay.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	worker, _ := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || worker == 0 {
		t.Fatalf("the relay said %q, %v", line, err)
	}
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	child, _ := strconv.Atoi(string(text))
	if err := relay.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = relay.Wait() // it was killed
	ends(t, worker)
	ends(t, child)
}
