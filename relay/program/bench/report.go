package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Report is what a run found.
type Report struct {
	Machine Machine   `json:"machine"`
	Time    time.Time `json:"time"`
	Commit  string    `json:"commit,omitempty"` // where it was kept; ends in "+" when the files differ from it
	Loads   []float64 `json:"loads,omitempty"`  // load averages of the minute before, at the start and after each part
	Rows    []Row     `json:"rows"`
}

// Machine is where it ran.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPU  string `json:"cpu,omitempty"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
}

// Row is one measurement: medians, where there were several rounds.
type Row struct {
	Name   string    `json:"name"`
	Value  float64   `json:"value"`
	Unit   string    `json:"unit"`
	Bare   float64   `json:"bare,omitempty"`   // the same with a relay that checks nothing; 0: it cannot do that
	Ratio  float64   `json:"ratio,omitempty"`  // the median of those of the rounds: how many times bare, or what share
	Ratios []float64 `json:"ratios,omitempty"` // of each round
	Goal   float64   `json:"goal,omitempty"`   // of the ratio, or of the value where nothing is bare; 0: none
}

// Read reads a report that was kept. Where there is none yet, it is empty.
func Read(file string) (Report, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Report{}, nil
	}
	if err != nil {
		return Report{}, err
	}
	var kept Report
	if err := json.Unmarshal(text, &kept); err != nil {
		return Report{}, fmt.Errorf("%s is no report of tabrelay bench: %w", file, err)
	}
	return kept, nil
}

// Keep writes the report to a file, in place of the one before.
func (r *Report) Keep(file string) error {
	r.Commit = commit(filepath.Dir(file))
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Value, row.Bare, row.Ratio = rounded(row.Value), rounded(row.Bare), rounded(row.Ratio)
	}
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// commit names what a folder has checked out; it is empty outside a repository.
func commit(folder string) string {
	out, err := exec.Command("git", "-C", folder, "describe", "--always", "--dirty=+", "--exclude=*").Output()
	if err != nil {
		return "" // no git, or no repository
	}
	return strings.TrimSpace(string(out))
}

// rounded leaves four significant digits, which is more than any measurement has.
func rounded(v float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	if err != nil || math.IsInf(short, 0) {
		return v
	}
	return short
}

// Find is the row of a name.
func (r Report) Find(name string) (Row, bool) {
	at := slices.IndexFunc(r.Rows, func(row Row) bool { return row.Name == name })
	if at < 0 {
		return Row{}, false
	}
	return r.Rows[at], true
}

// Figures are the cells of a row: what was found, with a bare relay, and how the two compare.
func (row Row) Figures() (here, bare, ratio string) {
	here = figure(row.Value) + " " + row.Unit
	if row.Bare == 0 {
		return here, "", ""
	}
	return here, figure(row.Bare) + " " + row.Unit, figure(row.Ratio)
}

// Aim is the goal of a row: of its ratio, or of its value.
func (row Row) Aim() string {
	switch {
	case row.Goal == 0:
		return ""
	case row.Bare != 0:
		return figure(row.Goal) + " x bare"
	}
	return figure(row.Goal) + " " + row.Unit
}

// Change is what became of a row since an earlier run: of the ratio where there is one, else of the value.
func (row Row) Change(before Report) string {
	was, ok := before.Find(row.Name)
	switch {
	case !ok || was.Value == 0:
		return ""
	case row.Ratio != 0 && was.Ratio != 0:
		return fmt.Sprintf("%+.0f %% of %s", 100*(row.Ratio/was.Ratio-1), figure(was.Ratio))
	}
	return fmt.Sprintf("%+.0f %% of %s %s", 100*(row.Value/was.Value-1), figure(was.Value), was.Unit)
}

// figure formats a number with about three significant digits.
func figure(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// Title says where and when a run was.
func (r Report) Title() string {
	m := r.Machine
	title := fmt.Sprintf("%s, %s/%s, %d CPUs %s, %s", r.Time.Format(time.DateOnly), m.OS, m.Arch, m.CPUs, m.CPU, m.Go)
	if r.Commit != "" {
		title += ", commit " + r.Commit
	}
	if len(r.Loads) > 0 {
		title += fmt.Sprintf(", load %s to %s", figure(slices.Min(r.Loads)), figure(slices.Max(r.Loads)))
	}
	return title
}

// Table is the report as Markdown.
func (r Report) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:\n\n| measure | here | bare | times bare | of the rounds | goal |\n", r.Title())
	b.WriteString("| --- | --- | --- | --- | --- | --- |\n")
	for _, row := range r.Rows {
		here, bare, ratio := row.Figures()
		var span string
		if len(row.Ratios) > 0 {
			span = figure(slices.Min(row.Ratios)) + " to " + figure(slices.Max(row.Ratios))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", row.Name, here, bare, ratio, span, row.Aim())
	}
	return b.String()
}

func machine() Machine {
	return Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version(),
		CPU: cpuName()}
}

// cpuName is the processor's name where the system tells it in a file.
func cpuName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// loadAverage is that of the last minute, where the system tells it in a file.
func loadAverage() (float64, bool) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, false
	}
	first, _, _ := strings.Cut(string(text), " ")
	load, err := strconv.ParseFloat(first, 64)
	return load, err == nil
}
