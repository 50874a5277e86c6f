package fault

import (
	"os"
	"strings"
	"testing"
)

// Which of 2,000 names of fields are those of credentials. All but five are of the type declarations of public APIs, as
// npm has them (docs/decisions.md); the extension's test reads the same file.
func TestFieldNames(t *testing.T) {
	raw, err := os.ReadFile("testdata/fieldnames.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if len(lines) != 2000 {
		t.Errorf("%d names", len(lines))
	}
	for _, line := range lines {
		name, kind, _ := strings.Cut(line, " ")
		if got := SecretName(name); got != (kind == "secret") {
			t.Errorf("%s is taken for a credential: %t", name, got)
		}
	}
}
