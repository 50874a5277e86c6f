package relay

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/program/doctor"
)

// TestPublishedFindings keeps docs/troubleshooting.md and the doctor's table the same.
func TestPublishedFindings(t *testing.T) {
	const page = "../docs/troubleshooting.md"
	want := findingsPage()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/troubleshooting.md is not what the table says; run: go generate ./relay\n%s",
			diff)
	}
}

func findingsPage() string {
	var b strings.Builder
	b.WriteString("# Troubleshooting\n\n<!-- Made from relay/program/doctor/table.go and what capabilities add by " +
		"go generate ./relay; change it there. -->\n\n" +
		"`tabrelay doctor` looks for all of this, with the relay running or not; `--json` for programs; exit code 1 " +
		"when something is a\n" +
		"problem. Agents call `relay__doctor`. `tabrelay doctor --bundle FILE` writes a report for a bug tracker: " +
		"nothing is sent, and\n" +
		"tokens, queries of URLs and your name are left out; read it before you share it. Failures of single calls " +
		"are in\n" +
		"[errors.md](errors.md), states and signals of the relay in [operating.md](operating.md).\n\n" +
		"| finding | what is wrong | why | next step |\n| --- | --- | --- | --- |\n")
	for _, r := range doctor.Table() {
		mark := ""
		if r.Severity == doctor.Warning {
			mark = " (warning)"
		}
		next := r.Next
		if fix, ok := doctor.Fixes[r.ID]; ok {
			next += ". `tabrelay doctor --fix` " + fix
		}
		b.WriteString("| `" + r.ID + "`" + mark + " | " + r.What + " | " + r.Why + " | " + next + " |\n")
	}
	return b.String()
}
