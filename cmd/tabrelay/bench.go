package main

import (
	"context"

	"github.com/spf13/cobra"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/program/bench"
)

func (a *app) bench() *cobra.Command {
	var o bench.Options
	var serveBare, last string
	var keep bool
	cmd := &cobra.Command{
		Use: "bench", Short: "Measure the relay on this machine, beside a bare one that checks nothing",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.Calls < 0 || o.Starts < 0:
				return usage("--calls and --starts cannot be negative")
			case keep && last == "":
				return usage("--keep needs --last: the file to keep this run in")
			case serveBare != "":
				return bench.ServeBare(cmd.Context(), serveBare)
			}
			return a.measure(cmd.Context(), o, last, keep)
		},
	}
	a.withJSON(cmd)
	cmd.Flags().IntVar(&o.Calls, "calls", 0, "how many calls each measurement makes (default 20000)")
	cmd.Flags().IntVar(&o.Starts, "starts", 0, "of how many starts the median is taken (default 9)")
	cmd.Flags().StringVar(&last, "last", "", "compare with the run that this file has")
	cmd.Flags().BoolVar(&keep, "keep", false, "write this run into the file of --last")
	cmd.Flags().StringVar(&o.Executable, "program", "", "measure another build of tabrelay (default: this one)")
	cmd.Flags().StringVar(&serveBare, "serve-bare", "", "be a bare relay at this address")
	_ = cmd.Flags().MarkHidden("serve-bare") // it exists
	return cmd
}

// measure runs the measurements, and compares them with the run of a file, if one is named.
func (a *app) measure(ctx context.Context, o bench.Options, last string, keep bool) (err error) {
	if o.Executable == "" {
		if o.Executable, err = join.Executable(); err != nil {
			return err
		}
	}
	var before bench.Report
	if last != "" {
		if before, err = bench.Read(last); err != nil {
			return err
		}
	}
	o.Tell = func(what string) { a.notef("measuring %s …\n", what) }
	report, err := bench.Run(ctx, o)
	if err != nil {
		return err
	}
	if keep {
		if err := report.Keep(last); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(report)
	}
	a.printf("%s\n", report.Title())
	if len(before.Rows) > 0 {
		a.printf("last: %s\n", before.Title())
	}
	a.printf("\n")
	rows := [][]string{{"MEASURE", "HERE", "BARE", "TIMES BARE", "GOAL", "SINCE LAST"}}
	for _, row := range report.Rows {
		here, bare, ratio := row.Figures()
		rows = append(rows, []string{row.Name, here, bare, ratio, row.Aim(), row.Change(before)})
	}
	return a.table(rows...)
}
