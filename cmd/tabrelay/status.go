package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/doctor"
	"tabrelay/relay/httpapi"
	"tabrelay/relay/review"
)

func (a *app) status() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use: "status", Short: "Show the relay, its browsers, clients, plugins and last calls",
		Long: "Show the relay, its browsers, clients, plugins and last calls. Exit code 1 when no relay runs.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.relayStatus(cmd.Context())
			if err != nil {
				return err
			}
			switch {
			case a.json && !s.Running:
				return errors.Join(a.printJSON(s), errNotRunning())
			case a.json:
				return a.printJSON(s)
			case !s.Running:
				a.printf("The relay is not running.\n")
				a.notef("Next: tabrelay up\n")
				return errSilent
			}
			a.printRelay(s)
			a.printBrowsers(s)
			a.printPlugins(s)
			return nil
		},
	})
}

func (a *app) line(name, format string, args ...any) {
	a.printf("%-10s %s\n", name, fmt.Sprintf(format, args...))
}

func (a *app) printRelay(s httpapi.Status) {
	uptime := (time.Duration(s.Uptime) * time.Millisecond).Round(time.Second)
	a.line("relay", "%s, http://%s, process %d, up %s", s.Version, s.Address, s.PID, uptime)
	if s.State == "degraded" {
		a.line("state", "degraded: no browser is connected, so tools of pages fail at once; tabrelay doctor says why")
	} else {
		a.line("state", "%s", s.State)
	}
	if s.Refused != nil {
		a.line("refused", "%s", s.Refused.Reason)
	}
	if s.Unapplied != "" {
		a.line("unapplied", "%s: tabrelay config apply", s.Unapplied)
	}
	if s.Widened != "" {
		a.line("widened", "since the last start, %s; tabrelay config undo takes it back", s.Widened)
	}
	a.line("home", "%s", s.Home)
	a.line("extension", "%s", s.Extension.Folder)
	a.line("tools", "%d; %s (tabrelay permit list)", s.Tools, defaultText(s.Default))
	if s.Paused {
		a.line("paused", "all agents are stopped; tabrelay resume lets them go on")
	}
	if s.Questions > 0 {
		a.line("waiting", "%s for you: answer in the side panel; calls also with tabrelay permit pending",
			plural(s.Questions, "question"))
	}
}

func (a *app) printBrowsers(s httpapi.Status) {
	for _, b := range s.Browsers {
		state := "not connected"
		if b.Connected {
			state = fmt.Sprintf("connected, %s", plural(b.Tabs, "tab"))
		}
		a.line("browser", "%s: %s (Chrome %s, extension %s)", b.Label, state, b.Chrome, b.Extension)
	}
	if len(s.Browsers) == 0 {
		a.line("browser", "none")
	}
	for _, t := range s.Tabs {
		if t.Owner != nil {
			a.line("owner", "%s has tab %d of %s since %s: %s",
				t.Owner.Name, t.ID, t.Profile, t.Owner.Since.Local().Format(time.TimeOnly), originText(t.URL))
		}
	}
	for _, c := range s.Clients {
		a.line("client", "%s (%s)", c.Client, c.Via)
	}
}

func (a *app) printPlugins(s httpapi.Status) {
	for _, p := range s.Plugins {
		a.line("plugin", "%s %s: %s on %s", p.Name, p.Version, plural(p.Tools, "tool"), strings.Join(p.Matches, ", "))
	}
	for _, p := range s.Problems {
		a.line("problem", "%s", problemText(p))
	}
	for _, one := range s.Reviews {
		if one.State == review.Waiting {
			a.line("review", "%s waits: tabrelay plugin review %s", one.Plugin, one.Plugin)
		}
	}
	if s.Unreviewed {
		a.line("review", "off: review.required is false, plugins run without one")
	}
	for _, n := range s.Notices {
		a.line("notice", "%s %s %s", n.Time.Local().Format(time.TimeOnly), n.Profile, n.Message)
	}
	for _, c := range s.Calls {
		a.line("call", "%s %s by %s: %s", c.Time.Local().Format(time.TimeOnly), c.Tool, c.Client, c.State)
	}
}

func (a *app) doctor() *cobra.Command {
	var force bool
	var bundle string
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look for what is wrong, and say what to do about it",
		Long: "Look for what is wrong, and say what to do about it. Exit code 1 when something is, and 2 when it is\n" +
			"the configuration or another file of the home folder, which has to be repaired first.\n\n" +
			"--bundle FILE writes a report for a bug tracker, a zip: versions, status, settings, findings, events, " +
			"metrics and\n" +
			"the last lines of the log, without tokens, URLs' queries and your name. Nothing is sent. Read it before " +
			"you share it.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			status, silent := a.relayStatus(cmd.Context())
			found := httpapi.Diagnose(cmd.Context(), a.home, relay.Version, status, silent)
			if bundle != "" {
				report := httpapi.NewReport(cmd.Context(), a.home, relay.Version, status, found)
				if status.Running {
					report.Ask = func(path string) ([]byte, error) {
						return a.exchange(cmd.Context(), http.MethodGet, path, nil)
					}
				}
				return a.writeReport(bundle, force, report)
			}
			if err := a.printFindings(found); err != nil {
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
	a.withJSON(cmd)
	cmd.Flags().StringVar(&bundle, "bundle", "", "write a redacted report to this file instead")
	cmd.Flags().BoolVar(&force, "force", false, "let --bundle replace a file")
	return cmd
}

func (a *app) printFindings(found []doctor.Finding) error {
	if a.json {
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
func (a *app) writeReport(path string, force bool, report doctor.Report) error {
	mode := os.O_EXCL
	if force {
		mode = os.O_TRUNC
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|mode, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return usage("%s exists", path).hinting("name another file, or add --force to replace it")
	}
	if err == nil {
		err = errors.Join(report.Write(file), file.Close())
	}
	if err != nil {
		return failed("cannot write the report: %w", err)
	}
	a.notef("Wrote %s. It holds no tokens, queries of URLs, or your name, as far as they can be told; "+
		"read it before you share it.\nNothing was sent.\n", path)
	return nil
}
