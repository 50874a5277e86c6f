//go:build unix

package worker

import (
	"fmt"
	"os"
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
	for range 1000 { // until whoever inherited it has noticed
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		if syscall.Kill(child, 0) != nil || err == nil && strings.Contains(string(state), ") Z ") {
			return
		}
		<-time.After(time.Millisecond)
	}
	t.Errorf("the child %d is still there", child)
}
