package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/launch"
	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/program/connect"
	"tabrelay/relay/program/doctor"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/state/config"
)

func (a *app) doctor() *cobra.Command {
	var force, repair bool
	var bundle, only string
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look for what is wrong, and say what to do about it",
		Long: "Look for what is wrong, and say what to do about it. Exit code 1 when something is, and 2 when it is\n" +
			"the configuration or another file of the home folder, which has to be repaired first.\n\n" +
			"--bundle FILE writes a report for a bug tracker, a zip: versions, status, settings, findings, events, " +
			"metrics and\n" +
			"the last lines of the log, without tokens, URLs' queries and your name. Nothing is sent. Read it before " +
			"you share it.\n\n" +
			"--fix does the next step where that is safe: it closes the home folder to others, starts or restarts a " +
			"relay that runs no\n" +
			"calls, starts tabrelay's own browser again, and corrects the paths in the entries of clients.\n" +
			"With --only FINDING it does that for one finding, and prints nothing else.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if only != "" {
				return a.fixOnly(cmd.Context(), only, repair)
			}
			status, found := a.diagnose(cmd.Context())
			if repair && a.fix(cmd.Context(), found) {
				status, found = a.diagnose(cmd.Context())
			}
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
				return silent(exitUsage)
			case !doctor.Sound(found):
				return silent(exitFailed)
			}
			return nil
		},
	}
	a.withJSON(cmd)
	cmd.Flags().BoolVar(&repair, "fix", false, "repair what can be repaired safely")
	cmd.Flags().StringVar(&only, "only", "", "with --fix: the one finding to repair")
	cmd.Flags().StringVar(&bundle, "bundle", "", "write a redacted report to this file instead")
	cmd.Flags().BoolVar(&force, "force", false, "let --bundle replace a file")
	return cmd
}

// diagnose looks for what is wrong.
func (a *app) diagnose(ctx context.Context) (httpapi.Status, []doctor.Finding) {
	soon, cancel := context.WithTimeout(ctx, 2*answerTime) // to say that it is there, and then how it is
	defer cancel()
	join.EndTemporary(soon, a.home) // its port is free for one that stays
	status, silent := a.relayStatus(soon)
	return status, httpapi.Diagnose(ctx, a.home, relay.Version, status, silent)
}

// fixOnly does the next step of one finding.
func (a *app) fixOnly(ctx context.Context, id string, repair bool) error {
	if !repair {
		return usage("--only is for --fix").hinting("run: tabrelay doctor --fix --only " + id)
	}
	do, name := a.repairOf(id)
	if do == nil {
		return usage("tabrelay cannot repair %q by itself", id).
			hinting("these can be repaired: " + strings.Join(slices.Sorted(maps.Keys(doctor.Fixes)), ", "))
	}
	_, found := a.diagnose(ctx)
	if !slices.ContainsFunc(found, func(f doctor.Finding) bool { return f.ID == id && f.Fix != "" }) {
		return failed("%s is not found, so there is nothing to repair", id).hinting("run: tabrelay doctor")
	}
	if err := do(ctx); err != nil {
		return err
	}
	a.notef("Fixed: %s: %s.\n", id, name)
	return nil
}

// fix does the next step of each finding for which that is safe. It reports whether it did any.
func (a *app) fix(ctx context.Context, found []doctor.Finding) (did bool) {
	done := map[string]bool{}
	for _, f := range found {
		repair, name := a.repairOf(f.ID)
		if repair == nil || f.Fix == "" || done[name] {
			continue
		}
		done[name], did = true, true
		if err := repair(ctx); err != nil {
			message, hint := explain(err)
			a.notef("Not fixed: %s: %s\n", f.ID, message)
			if hint != "" {
				a.notef("hint: %s\n", hint)
			}
			continue
		}
		a.notef("Fixed: %s: %s.\n", f.ID, name)
	}
	return did
}

// repairOf returns the function that fixes a finding, and what it says afterwards; nil when only a person can fix it.
func (a *app) repairOf(id string) (repair func(context.Context) error, name string) {
	switch id {
	case "home-open":
		return func(context.Context) error { return diskfile.Close(string(a.home)) }, "only you can get into the " +
			"home folder"
	case "home-shut":
		return func(context.Context) error { return a.reopenHome() }, "you may use the home folder again"
	case "home-missing", "relay-stopped":
		return a.startInBackgroundNow, "the relay is started"
	case "version-differs", "folder-stale", "pairing-wrong", "config-waits", "native-host-missing",
		"native-host-broken":
		return a.restart, "the relay is restarted"
	case "browser-ended":
		return func(ctx context.Context) error { return a.bringManaged(ctx) }, "the browser is started again"
	case "client-command", "client-home":
		return a.reconnectClients, "the entries of clients are corrected; restart those that are open"
	}
	return nil, ""
}

// reopenHome restores the owner's permissions in the home folder, and adds none for others.
func (a *app) reopenHome() error {
	if err := os.Chmod(string(a.home), 0o700); err != nil {
		return err
	}
	return filepath.WalkDir(string(a.home), func(path string, entry fs.DirEntry, err error) error {
		lacks := fs.FileMode(0o600)
		switch {
		case err != nil && entry == nil:
			return err
		case entry.IsDir():
			lacks = 0o700
		case !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if err != nil || info.Mode().Perm()&lacks == lacks {
			return err
		}
		return os.Chmod(path, info.Mode().Perm()|lacks)
	})
}

func (a *app) startInBackgroundNow(ctx context.Context) error {
	starter, err := a.starter()
	if err != nil {
		return err
	}
	_, err = starter.Start(ctx)
	return err
}

// restart stops the relay, which fails while it runs calls, and starts another one.
func (a *app) restart(ctx context.Context) error {
	if err := a.checkStore(ctx); err != nil {
		return err
	}
	if err := a.stopForSuccessor(ctx); err != nil {
		return err
	}
	return a.startInBackgroundNow(ctx)
}

// bringManaged starts the managed browser with its existing profile.
func (a *app) bringManaged(ctx context.Context) (err error) {
	u := &upCommand{app: a}
	if u.config, err = config.Load(u.home); err != nil {
		return err
	}
	if err := u.refresh(ctx); err != nil {
		return err
	}
	for _, u.profile = range u.home.Browsers() {
		if _, died := launch.Died(u.home.Browser(u.profile)); died {
			if err := u.startManaged(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// reconnectClients rewrites the entries of clients whose program or home folder is gone. It rewrites only those whose
// token this relay knows, so that no client gets more rights.
func (a *app) reconnectClients(ctx context.Context) error {
	for _, name := range connect.Names() {
		c, err := a.connection(name)
		if err != nil {
			return err
		}
		entry, found, err := c.Entry(c.Env)
		if err != nil || !found || !c.HoldsToken(entry) || !c.lost(entry) {
			continue // another finding is about these
		}
		if err := c.writeEntry(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// lost reports whether an entry names a program or a home folder that is gone.
func (c *connection) lost(entry connect.Server) bool {
	_, home := os.Stat(connect.HomeOf(entry))
	_, program := os.Stat(entry.Command)
	return home != nil || program != nil && connect.Own(entry, c.home)
}

func (a *app) printFindings(found []doctor.Finding) error {
	if a.json {
		return a.printJSON(found)
	}
	marks := map[doctor.Severity]string{doctor.OK: paint(a.out, green, "ok  "),
		doctor.Warning: paint(a.out, yellow, "warn"), doctor.Problem: paint(a.out, red, "FAIL")}
	columns := max(width(a.out)-6, 0) // what stands before each line
	line := func(before, text string, hang int) {
		a.printf("%s  %s\n", before, strings.ReplaceAll(wrapWords(pasteable(text), columns, hang), "\n", "\n      "))
	}
	for _, f := range found {
		line(marks[f.Severity], fmt.Sprintf("%-16s %s", f.ID, f.What), 17)
		if f.Severity == doctor.OK {
			continue
		}
		if f.Why != "" {
			line("    ", "why:  "+f.Why, 6)
		}
		if f.Next != "" {
			line("    ", "next: "+f.Next, 6)
		}
		if f.Fix != "" {
			line("    ", "fix:  tabrelay doctor --fix "+f.Fix, 6)
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
	a.notef("Wrote %s. Tokens, queries of URLs and your name are left out, as far as they can be recognized; "+
		"read it before you share it.\nNothing was sent.\n", path)
	return nil
}
