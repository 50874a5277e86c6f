//go:build unix

package resources

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"tabrelay/relay/road/fault"
)

func TestSpecialFiles(t *testing.T) {
	root, _ := shelf(t)
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Skip(err)
	}
	s := set(t, Options{Roots: []string{root}})
	wantFault(t, s, fileURI(root)+"/pipe", fault.ResourceUnreadable, fault.TypePermissionDenied)
	if os.Getuid() != 0 {
		if err := os.WriteFile(filepath.Join(root, "closed"), nil, 0); err != nil {
			t.Fatal(err)
		}
		wantFault(t, s, fileURI(root)+"/closed", fault.ResourceUnreadable, fault.TypePermissionDenied)
	}
}
