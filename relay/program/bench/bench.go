// Package bench measures the relay alone: a child process that is this very program, real HTTP and WebSocket
// connections over loopback, and a browser that answers at once. What it prints depends on the machine; so whatever a
// relay that checks nothing can do as well is measured with one beside it, round by round: ratios mean more than times.
package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// Options say what is measured, and how thoroughly.
type Options struct {
	Executable string
	Calls      int               // in each measurement of calls, over all rounds; 0: 20 000
	Starts     int               // of which the median counts; 0: 9
	Tell       func(what string) // called before each measurement; may be nil
}

const (
	defaultCalls  = 20_000
	defaultStarts = 9
	rounds        = 5 // in each of which the relay and a bare one are measured, one after the other
	inFlight      = 32
	soakCalls     = 60_000 // after which memory is looked at
	manyPlugins   = 100
	toolsEach     = 20
	listedTools   = 2_078
	echoBytes     = 1 << 20
	echoCalls     = 20              // in each round
	idleTime      = 2 * time.Second // after the start, until a relay is called idle
)

// run is one run of all measurements.
type run struct {
	Options
	report Report
}

// Run measures everything. It takes about a minute.
func Run(ctx context.Context, o Options) (Report, error) {
	o.Calls = max(cmp.Or(o.Calls, defaultCalls), rounds)
	o.Starts = cmp.Or(o.Starts, defaultStarts)
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	r := &run{Options: o, report: Report{Time: time.Now().UTC().Truncate(time.Second), Machine: machine()}}
	r.noteLoad()
	for _, step := range []struct {
		what    string
		measure func(context.Context) error
	}{
		{"start", r.starts},
		{fmt.Sprintf("start with %d plugins of %d tools", manyPlugins, toolsEach), r.startsWithPlugins},
		{"calls, beside a bare relay", r.calls},
		{fmt.Sprintf("tools/list with %d tools", listedTools), r.lists},
	} {
		o.Tell(step.what)
		if err := step.measure(ctx); err != nil {
			return r.report, fmt.Errorf("measuring %s: %w", step.what, err)
		}
		r.noteLoad()
	}
	return r.report, nil
}

func (r *run) noteLoad() {
	if load, ok := loadAverage(); ok {
		r.report.Loads = append(r.report.Loads, load)
	}
}

func (r *run) row(name string, value float64, unit string, goal float64) {
	r.report.Rows = append(r.report.Rows, Row{Name: name, Value: value, Unit: unit, Goal: goal})
}

// starts measures from the start of the process to the first answer.
func (r *run) starts(ctx context.Context) error {
	took, err := r.medianStart(ctx, func(string) error { return nil })
	r.row("start to healthy", took, "ms", 25)
	return err
}

func (r *run) startsWithPlugins(ctx context.Context) error {
	took, err := r.medianStart(ctx, func(home string) error {
		return writePlugins(ctx, home, manyPlugins, toolsEach,
			manyPlugins*toolsEach)
	})
	r.row(fmt.Sprintf("start to healthy, %d plugins x %d tools", manyPlugins, toolsEach), took, "ms", 60)
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
