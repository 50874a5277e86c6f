package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// measure is something that a relay and a bare one can both do.
type measure struct {
	name, unit string
	goal       float64 // of the ratio
	found      []pair  // one of each round
}

// pair is what was found in one round.
type pair struct{ relay, bare float64 }

// calls measures everything that needs a browser, in one relay, so that memory is seen to stay.
func (r *run) calls(ctx context.Context) error {
	return r.with(ctx, 1, 1, 1, func(s *stage) error {
		<-time.After(idleTime)
		idle, err := s.memory()
		if err != nil {
			return err
		}
		if err := r.besideBare(ctx, s); err != nil {
			return err
		}
		if err := s.load(ctx, max(0, soakCalls-2*r.Calls)); err != nil {
			return err
		}
		after, err := s.memory()
		if idle > 0 {
			r.row("resident memory, idle", idle, "MiB", 25)
			r.row(fmt.Sprintf("resident memory after %d calls", soakCalls), after, "MiB", 40)
		}
		return err
	})
}

// besideBare has the relay and a bare one do the same, one after the other, several times.
func (r *run) besideBare(ctx context.Context, s *stage) (err error) {
	bare, end, err := openBare(ctx, r.Executable)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	var all []*measure
	for _, m := range []struct {
		of     []*measure
		figure func(context.Context, *stage) ([]float64, error)
	}{
		{[]*measure{
			{name: "one call after another, p50", unit: "ms", goal: 1.5},
			{name: "one call after another, p99", unit: "ms", goal: 2},
			{name: "processor time of such a call", unit: "ms"},
		}, r.sequential},
		{[]*measure{
			{name: fmt.Sprintf("%d in flight", inFlight), unit: "calls/s", goal: 0.66},
			{name: fmt.Sprintf("processor time of a call, %d in flight", inFlight), unit: "ms"},
		}, r.parallel},
		{[]*measure{{name: "1 MiB argument echoed, p50", unit: "ms", goal: 1.2}}, echoed(wantsAll)},
		{[]*measure{{name: "1 MiB result truncated and kept, p50", unit: "ms", goal: 1.5}}, echoed(wantsUsual)},
	} {
		for range rounds {
			ours, err := m.figure(ctx, s)
			if err != nil {
				return err
			}
			theirs, err := m.figure(ctx, bare)
			if err != nil {
				return err
			}
			for i, of := range m.of {
				of.found = append(of.found, pair{ours[i], theirs[i]})
			}
		}
		all = append(all, m.of...)
	}
	for _, m := range all {
		r.report.Rows = append(r.report.Rows, m.row())
	}
	return nil
}

// row is the medians of all rounds. The ratio is that of the rounds' ratios, not the ratio of the medians: what a
// neighbour of the machine does in one round is in both its halves.
func (m *measure) row() Row {
	row := Row{Name: m.name, Unit: m.unit, Goal: m.goal}
	var ours, theirs []float64
	for _, p := range m.found {
		ours, theirs = append(ours, p.relay), append(theirs, p.bare)
		if p.bare > 0 {
			row.Ratios = append(row.Ratios, rounded(p.relay/p.bare))
		}
	}
	row.Value, row.Bare = median(ours), median(theirs)
	if len(row.Ratios) > 0 {
		row.Ratio = median(row.Ratios)
	}
	return row
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}

func (r *run) sequential(ctx context.Context, s *stage) ([]float64, error) {
	used := s.processor()
	times, err := s.oneByOne(ctx, r.Calls/rounds, wantsAll, []byte(`{"n":1}`))
	if err != nil {
		return nil, err
	}
	return []float64{ms(times[len(times)/2]), ms(times[len(times)*99/100]), s.perCall(used, r.Calls/rounds)}, nil
}

func (r *run) parallel(ctx context.Context, s *stage) ([]float64, error) {
	began, used := time.Now(), s.processor()
	err := s.load(ctx, r.Calls/rounds)
	rate := float64(r.Calls/rounds) / time.Since(began).Seconds()
	return []float64{rate, s.perCall(used, r.Calls/rounds)}, err
}

// echoed measures a large argument that comes back; a bare relay truncates nothing.
func echoed(meta string) func(context.Context, *stage) ([]float64, error) {
	arguments := []byte(`{"text":"` + strings.Repeat("x", echoBytes) + `"}`)
	return func(ctx context.Context, s *stage) ([]float64, error) {
		times, err := s.oneByOne(ctx, echoCalls, meta, arguments)
		if err != nil {
			return nil, err
		}
		return []float64{ms(times[len(times)/2])}, nil
	}
}
