package launch

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A browser that has quit leaves programs behind that still write to its profile. It is stopped once they have ended.
func TestStopWaitsForThePrograms(t *testing.T) {
	if _, err := exec.LookPath("mkfifo"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	folder, pipe := filepath.Join(dir, "browser"), filepath.Join(dir, "pipe")
	quit := filepath.Join(dir, "quit")
	late := filepath.Join(folder, "profile", "late")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Fatal(err)
	}
	// The program in the background begins to write when the browser has quit.
	script := `trap 'echo > "` + quit + `"; exit 0' TERM
		(trap '' TERM; until [ -e "` + quit + `" ]; do :; done; echo late > "` + late + `") &
		while :; do read -r _ < "` + pipe + `"; done`
	l := Launch{Path: program(t, dir, "chromium", script), Folder: folder}
	m, err := l.Start()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if !m.await(ctx, func() bool { return len(m.programs()) > 0 }) {
		t.Fatal("the program in the background is not seen")
	}
	if err := m.Stop(ctx); err != nil {
		t.Error(err)
	}
	if left := m.programs(); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
	if _, err := os.Stat(late); err != nil {
		t.Error("it was not waited for:", err)
	}
}

func TestProgramsOfTheBrowser(t *testing.T) {
	list := parseProcesses(" 10 10 Ss\n 11 10 S\n 12 10 Z\n 13 10 R+\n 14 14 S\nno row\n")
	gone := &Managed{PID: 1 << 30, folder: "/none"}
	if got := gone.programsIn(list); len(got) > 0 {
		t.Errorf("programs of another group: %v", got)
	}
	gone.PID = 10 // a process that is not the browser has the id now
	if got := gone.programsIn(list); len(got) > 0 {
		t.Errorf("programs of another program: %v", got)
	}
	if got := gone.programsIn(list[1:]); !slices.Equal(got, []int{11, 13}) {
		t.Errorf("programs of a browser that has quit: %v", got)
	}
}
