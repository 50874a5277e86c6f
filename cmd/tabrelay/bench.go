package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/program/bench"
)

func (a *app) bench() *cobra.Command {
	var calls, starts int
	var baseline bool
	var serveBare string
	cmd := &cobra.Command{
		Use: "bench", Short: "Measure the relay on this machine, with a browser that answers at once",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if calls < 0 || starts < 0 {
				return usage("--calls and --starts cannot be negative")
			}
			if serveBare != "" {
				return bench.ServeBare(cmd.Context(), serveBare)
			}
			executable, err := join.Executable()
			if err != nil {
				return err
			}
			report, err := bench.Run(cmd.Context(), bench.Options{
				Executable: executable, Calls: calls, Starts: starts, Baseline: baseline,
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
				goal := ""
				if r.Target != 0 {
					goal = figure(r.Target) + " " + r.Unit
				}
				rows = append(rows, []string{r.Name, figure(r.Value) + " " + r.Unit, goal})
			}
			return a.table(rows...)
		},
	}
	a.withJSON(cmd)
	cmd.Flags().IntVar(&calls, "calls", 0, "how many calls each measurement makes (default 20000)")
	cmd.Flags().IntVar(&starts, "starts", 0, "of how many starts the median is taken (default 9)")
	cmd.Flags().BoolVar(&baseline, "baseline", false, "measure a bare relay too, and print the ratios")
	cmd.Flags().StringVar(&serveBare, "serve-bare", "", "be a bare relay at this address")
	_ = cmd.Flags().MarkHidden("serve-bare") // it exists
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
