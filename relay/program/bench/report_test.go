package bench

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/speed.md")

// The page has the table of the run that was kept last.
func TestPageHasTheRunThatWasKept(t *testing.T) {
	const begin, end = "<!-- Written by make bench -->\n", "<!-- until here -->\n"
	kept, err := Read("../../../e2e/bench/speed.json")
	if err != nil || len(kept.Rows) == 0 {
		t.Fatalf("nothing was kept: %v", err)
	}
	page := filepath.FromSlash("../../../docs/speed.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("docs/speed.md lacks the lines %q and %q", begin, end)
	}
	want := before + begin + "\n" + kept.Table() + "\n" + end + after
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatal("docs/speed.md is stale; run: go test ./relay/program/bench -run TestPage -update")
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A kept run is read as it was written, with four digits, and named after what the folder has checked out.
func TestKeptRunIsRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "speed.json")
	if none, err := Read(file); err != nil || len(none.Rows) > 0 {
		t.Fatalf("no file: %v, %v", none, err)
	}
	r := Report{Rows: []Row{{Name: "a call", Value: 0.123456, Unit: "ms", Goal: 2}}}
	if err := r.Keep(file); err != nil {
		t.Fatal(err)
	}
	kept, err := Read(file)
	if err != nil || kept.Rows[0].Value != 0.1235 || kept.Commit != "" {
		t.Fatalf("%+v, %v", kept, err)
	}
	if err := os.WriteFile(file, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(file); err == nil || !strings.Contains(err.Error(), "is no report of tabrelay bench") {
		t.Errorf("%v", err)
	}
}

// The ratio of a row is the median of those of its rounds: a round that a neighbour disturbed does not count.
func TestRatioIsThatOfTheRounds(t *testing.T) {
	m := measure{name: "p50", unit: "ms", goal: 1.5, found: []pair{{2, 1}, {20, 10}, {90, 10}, {2, 1}, {3, 1.5}}}
	row := m.row()
	here, bare, ratio := row.Figures()
	if here != "3.00 ms" || bare != "1.50 ms" || ratio != "2.00" || row.Aim() != "1.50 x bare" {
		t.Errorf("%s, %s, %s, %s", here, bare, ratio, row.Aim())
	}
	before := Report{Rows: []Row{
		{Name: "p50", Value: 5, Unit: "ms", Ratio: 4}, {Name: "memory", Value: 20, Unit: "MiB"},
	}}
	for _, c := range []struct {
		row  Row
		want string
	}{
		{row, "-50 % of 4.00"},
		{Row{Name: "memory", Value: 30, Unit: "MiB"}, "+50 % of 20.0 MiB"},
		{Row{Name: "new", Value: 1, Unit: "ms"}, ""},
	} {
		if got := c.row.Change(before); got != c.want {
			t.Errorf("%s: %q, want %q", c.row.Name, got, c.want)
		}
	}
}

// What cannot be measured of a relay that checks nothing has no ratio, and an absolute goal.
func TestRowWithoutBare(t *testing.T) {
	row := Row{Name: "memory", Value: 30, Unit: "MiB", Goal: 25}
	here, bare, ratio := row.Figures()
	if here != "30.0 MiB" || bare != "" || ratio != "" || row.Aim() != "25.0 MiB" {
		t.Errorf("%s, %s, %s, %s", here, bare, ratio, row.Aim())
	}
}
