// Package bench measures the relay alone: a child process that is this very program, real HTTP and WebSocket
// connections over loopback, and a browser that answers at once. What it prints depends on the machine; ratios
// between two runs on one machine mean more than the figures.
package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Options say what is measured, and how thoroughly.
type Options struct {
	Executable string
	Calls      int               // in each measurement of calls; 0: 20 000
	Starts     int               // of which the median counts; 0: 9
	Baseline   bool              // compare with a bare relay too
	Tell       func(what string) // called before each measurement; may be nil
}

// Report is what a run found.
type Report struct {
	Machine Machine   `json:"machine"`
	Time    time.Time `json:"time"`
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

// Row is one measurement.
type Row struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Target float64 `json:"target"` // what the project wants to reach; for rates at least, else at most; 0: nothing
}

const (
	defaultCalls  = 20_000
	defaultStarts = 9
	inFlight      = 32
	soakCalls     = 60_000 // after which memory is looked at
	manyPlugins   = 100
	toolsEach     = 20
	listedTools   = 2_078
	echoBytes     = 1 << 20
	idleTime      = 2 * time.Second // after the start, until a relay is called idle
)

// run is one run of all measurements.
type run struct {
	Options
	report Report
}

// Run measures everything. It takes about a minute.
func Run(ctx context.Context, o Options) (Report, error) {
	o.Calls = cmp.Or(o.Calls, defaultCalls)
	o.Starts = cmp.Or(o.Starts, defaultStarts)
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	r := &run{Options: o, report: Report{Time: time.Now().UTC().Truncate(time.Second), Machine: machine()}}
	type step struct {
		what    string
		measure func(context.Context) error
	}
	steps := []step{
		{"start", r.starts},
		{fmt.Sprintf("start with %d plugins of %d tools", manyPlugins, toolsEach), r.startsWithPlugins},
		{"calls", r.calls},
		{fmt.Sprintf("tools/list with %d tools", listedTools), r.lists},
	}
	if o.Baseline {
		steps = slices.Insert(steps, 3, step{"a bare relay", r.bareCalls}) // right after what it is compared with
	}
	for _, step := range steps {
		o.Tell(step.what)
		if err := step.measure(ctx); err != nil {
			return r.report, fmt.Errorf("measuring %s: %w", step.what, err)
		}
	}
	return r.report, nil
}

func (r *run) row(name string, value float64, unit string, target float64) {
	r.report.Rows = append(r.report.Rows, Row{Name: name, Value: value, Unit: unit, Target: target})
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

// starts measures from the start of the process to the first answer.
func (r *run) starts(ctx context.Context) error {
	took, err := r.medianStart(ctx, func(string) error { return nil })
	r.row("start to healthy", took, "ms", 30)
	return err
}

func (r *run) startsWithPlugins(ctx context.Context) error {
	took, err := r.medianStart(ctx, func(home string) error {
		return writePlugins(ctx, home, manyPlugins, toolsEach,
			manyPlugins*toolsEach)
	})
	r.row(fmt.Sprintf("start to healthy, %d plugins x %d tools", manyPlugins, toolsEach), took, "ms", 150)
	return err
}

func (r *run) medianStart(ctx context.Context, furnish func(home string) error) (float64, error) {
	home, err := os.MkdirTemp("", "tabrelay-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(home) // a leftover in the temporary folder is no failure
	if err := furnish(home); err != nil {
		return 0, err
	}
	var times []time.Duration
	for range r.Starts {
		p, err := startRelay(ctx, r.Executable, home)
		if err != nil {
			return 0, err
		}
		times = append(times, p.took)
		if err := p.stop(); err != nil {
			return 0, err
		}
	}
	slices.Sort(times)
	return ms(times[len(times)/2]), nil
}

// with runs a measurement against a relay of its own.
func (r *run) with(ctx context.Context, plugins, tools, total int, measure func(*stage) error) (err error) {
	home, err := os.MkdirTemp("", "tabrelay-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home) // as above
	if err := writePlugins(ctx, home, plugins, tools, total); err != nil {
		return err
	}
	s, err := openStage(ctx, r.Executable, home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return measure(s)
}

// calls measures everything that needs a browser, in one relay, so that memory is seen to stay.
func (r *run) calls(ctx context.Context) error {
	return r.with(ctx, 1, 1, 1, func(s *stage) error {
		<-time.After(idleTime)
		idle, err := s.memory()
		if err != nil {
			return err
		}
		for _, measure := range []func(context.Context, *stage) error{r.sequential, r.parallel, r.echo} {
			if err := measure(ctx, s); err != nil {
				return err
			}
		}
		if err := s.load(ctx, max(0, soakCalls-2*r.Calls)); err != nil {
			return err
		}
		after, err := s.memory()
		if idle > 0 {
			r.row("resident memory, idle", idle, "MiB", 25)
			r.row(fmt.Sprintf("resident memory after %d calls", soakCalls), after, "MiB", 45)
		}
		return err
	})
}

func (r *run) sequential(ctx context.Context, s *stage) error {
	times, err := s.oneByOne(ctx, r.Calls, wantsAll, []byte(`{"n":1}`))
	if err != nil {
		return err
	}
	r.row("sequential call, p50", ms(times[len(times)/2]), "ms", 0.2)
	r.row("sequential call, p99", ms(times[len(times)*99/100]), "ms", 1)
	return nil
}

func (r *run) parallel(ctx context.Context, s *stage) error {
	began := time.Now()
	err := s.load(ctx, r.Calls)
	r.row(fmt.Sprintf("%d in flight", inFlight), float64(r.Calls)/time.Since(began).Seconds(), "calls/s", 12_000)
	return err
}

func (r *run) echo(ctx context.Context, s *stage) error {
	for _, echo := range []struct{ name, meta string }{
		{"1 MiB argument echoed, p50", wantsAll}, {"1 MiB result truncated and kept, p50", wantsUsual},
	} {
		times, err := s.oneByOne(ctx, 50, echo.meta, []byte(`{"text":"`+strings.Repeat("x", echoBytes)+`"}`))
		if err != nil {
			return err
		}
		r.row(echo.name, ms(times[len(times)/2]), "ms", 6)
		if s.bare {
			break // it truncates nothing
		}
	}
	return nil
}

func (r *run) lists(ctx context.Context) error {
	return r.with(ctx, (listedTools+toolsEach-1)/toolsEach, toolsEach, listedTools, func(s *stage) error {
		times, size, err := s.lists(ctx, 50)
		if err != nil {
			return err
		}
		r.row(fmt.Sprintf("tools/list, %d tools, p50", listedTools), ms(times[len(times)/2]), "ms", 2)
		r.row(fmt.Sprintf("tools/list, %d tools, size", listedTools), float64(size)/(1<<20), "MiB", 1.5)
		return nil
	})
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
