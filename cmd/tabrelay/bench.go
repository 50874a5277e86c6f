package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/bench"
	"tabrelay/relay/join"
)

func (a *app) bench() *cobra.Command {
	var calls, starts int
	cmd := &cobra.Command{
		Use: "bench", Short: "Measure the relay on this machine, with a browser that answers at once",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if calls < 0 || starts < 0 {
				return usage("--calls and --starts cannot be negative")
			}
			executable, err := join.Executable()
			if err != nil {
				return err
			}
			report, err := bench.Run(cmd.Context(), bench.Options{
				Executable: executable, Calls: calls, Starts: starts,
				Tell: func(what string) { a.notef("measuring %s …\n", what) },
			})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(report)
			}
			m := report.Machine
			a.printf("%s, %s/%s, %d CPUs %s, %s\n\n", report.Time.Format(time.DateOnly), m.OS, m.Arch, m.CPUs, m.CPU,
				m.Go)
			rows := [][]string{{"MEASURE", "HERE", "GOAL"}}
			for _, r := range report.Rows {
				rows = append(rows, []string{r.Name, figure(r.Value) + " " + r.Unit, figure(r.Target) + " " + r.Unit})
			}
			return a.table(rows...)
		},
	}
	a.withJSON(cmd)
	cmd.Flags().IntVar(&calls, "calls", 0, "how many calls each measurement makes (default 20000)")
	cmd.Flags().IntVar(&starts, "starts", 0, "of how many starts the median is taken (default 9)")
	return cmd
}

// figure formats a number with about three significant digits.
func figure(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
