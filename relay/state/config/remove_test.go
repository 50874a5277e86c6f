package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabrelay/relay/road/fault"
)

// What is written into a folder while it is removed is named, and it is no matter of disk space.
func TestRemoveSaysWhatIsInTheWay(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Cookies"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := Home(dir).Unwritable(stillWritten(os.Remove(dir)))
	if want := "another program writes there: " + filepath.Join(dir, "Cookies"); err.Error() != want {
		t.Errorf("it says %q, want %q", err, want)
	}
	if next := fault.HintOf(err); !strings.HasPrefix(next, "end it") {
		t.Errorf("the next step is %q", next)
	}
}
