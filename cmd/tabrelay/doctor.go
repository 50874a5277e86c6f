package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/doctor"
)

func (a *app) doctor() *cobra.Command {
	var asJSON, force bool
	var bundle string
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look for what is wrong, and say what to do about it", Args: cobra.NoArgs,
		Long: "Look for what is wrong, and say what to do about it. Exit code 1 when something is, and 2 when it is\n" +
			"the configuration or another file of the home folder, which has to be repaired first.\n\n" +
			"--bundle FILE writes a report for a bug tracker, a zip: versions, status, settings, findings, events, metrics and\n" +
			"the last lines of the log, without tokens, URLs' queries and your name. Nothing is sent. Read it before you share it.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			status, silent := a.relayStatus(cmd.Context())
			found := relay.Diagnose(cmd.Context(), a.home, status, silent)
			if bundle != "" {
				return a.writeReport(cmd.Context(), bundle, force, relay.Report{Home: a.home, Status: status, Findings: found})
			}
			if err := a.printFindings(found, asJSON); err != nil {
				return err
			}
			switch {
			case doctor.Unusable(found):
				return errSilentUsage
			case !doctor.Sound(found):
				return errSilent
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&bundle, "bundle", "", "write a redacted report to this file instead")
	cmd.Flags().BoolVar(&force, "force", false, "let --bundle replace a file")
	return cmd
}

func (a *app) printFindings(found []doctor.Finding, asJSON bool) error {
	if asJSON {
		return a.printJSON(found)
	}
	marks := map[doctor.Severity]string{doctor.OK: "ok  ", doctor.Warning: "warn", doctor.Problem: "FAIL"}
	for _, f := range found {
		a.printf("%s  %-16s %s\n", marks[f.Severity], f.ID, f.What)
		if f.Severity == doctor.OK {
			continue
		}
		if f.Why != "" {
			a.printf("      why:  %s\n", f.Why)
		}
		if f.Next != "" {
			a.printf("      next: %s\n", f.Next)
		}
	}
	return nil
}

// writeReport writes the bundle, for the person to send where they want.
func (a *app) writeReport(ctx context.Context, path string, force bool, report relay.Report) error {
	if report.Status.Running {
		report.Ask = func(path string) ([]byte, error) { return a.read(ctx, path) }
	}
	how := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		how = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(path, how, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return usage("%s exists", path).hinting("name another file, or add --force to replace it")
	}
	if err != nil {
		return failed("cannot write the report: %w", err)
	}
	if err := errors.Join(report.Write(file), file.Close()); err != nil {
		return failed("cannot write the report: %w", err)
	}
	a.notef("Wrote %s. It holds no tokens, queries of URLs, or your name, as far as they can be told; read it before you share it.\n", path)
	a.notef("Nothing was sent.\n")
	return nil
}
