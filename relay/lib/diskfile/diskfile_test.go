package diskfile

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// others is what other users may do with a file.
func others(t *testing.T, path string) Others {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return OthersOf(path, info)
}

func TestPrivateFilesAreClosedFromTheBeginning(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "no", "Jörg 日本")
	if err := MakeFolder(folder); err != nil {
		t.Fatal(err)
	}
	file, open := filepath.Join(folder, "secret"), filepath.Join(folder, "open")
	if err := Write(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{folder, file} {
		if found := others(t, path); found.Use || found.Write || found.WorldWrite {
			t.Errorf("%s: %+v", path, found)
		}
	}
	if err := MakeFolder(folder); err != nil {
		t.Errorf("a folder that is there: %v", err)
	}
	if err := MakeFolder(file); err == nil {
		t.Error("a file was taken for a folder")
	}
	if err := os.WriteFile(open, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if found := others(t, open); !found.Use || found.Write || found.Why == "" {
		t.Errorf("a file that all may read: %+v", found)
	}
	for _, command := range []string{Closing(folder, true), Closing(file, false)} {
		if !strings.Contains(command, "Jörg") {
			t.Errorf("it closes another file: %s", command)
		}
	}
}

// A reader finds one content whole, whatever it meets.
func TestWriteReplacesInOneStep(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	contents := []string{strings.Repeat("a", 1<<16), strings.Repeat("b", 1<<16)}
	if err := Write(file, []byte(contents[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	writers.Go(func() {
		for i := range 50 {
			if err := Write(file, []byte(contents[i%2]), 0o600); err != nil {
				t.Error(err)
			}
		}
	})
	for range 50 {
		text, err := os.ReadFile(file)
		if err == nil && string(text) != contents[0] && string(text) != contents[1] {
			t.Errorf("a reader found %d bytes", len(text))
		}
	}
	writers.Wait()
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
