package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/lib/async"
	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/program/autostart"
	"tabrelay/relay/state/config"
)

func (a *app) service() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Have the system start the relay when you log in (systemd, launchd)",
		Long: "Have the system start the relay when you log in, and again when it fails: a user unit of systemd, or " +
			"an agent of launchd.\n" +
			"Nothing needs it: every connected client starts the relay when there is none.",
	}
	var print bool
	install := &cobra.Command{
		Use: "install", Short: "Start the relay now and at every login",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.installService(cmd.Context(), print) },
	}
	install.Flags().BoolVar(&print, "print", false, "print the file instead of writing it")
	cmd.AddCommand(install,
		&cobra.Command{
			Use: "uninstall", Short: "Stop the relay, and no longer start it at login",
			RunE: func(cmd *cobra.Command, _ []string) error { return a.uninstallService(cmd.Context()) },
		},
		a.withJSON(&cobra.Command{
			Use: "status", Short: "Show whether the system starts the relay",
			RunE: func(cmd *cobra.Command, _ []string) error { return a.serviceStatus(cmd.Context()) },
		}))
	return cmd
}

// autostart is the system that starts programs at login, and the program that it is to start.
func (a *app) autostart() (s autostart.System, p autostart.Program, err error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return s, p, err
	}
	s, err = autostart.For(autostart.Environment{OS: runtime.GOOS, Home: home, Getenv: os.Getenv, UID: os.Getuid()})
	if err != nil {
		return s, p, err
	}
	if os.Getenv("TABRELAY_HOME") != "" {
		p.Home = string(a.home)
	}
	p.Env = config.Environment(os.Environ())
	if cfg, err := config.Load(a.home); err == nil && config.StartsPrograms(cfg) {
		p.Env = append(p.Env, "PATH="+os.Getenv("PATH")) // they are found there
	}
	p.Executable, err = join.Executable()
	return s, p, err
}

// noteKeys names the keys that a relay of the system would lack: they are not written into files.
func (a *app) noteKeys() {
	if cfg, err := config.Load(a.home); err == nil {
		if names := config.EnvironmentOf(cfg); len(names) > 0 {
			a.notef("note: the relay will not have %s, which is only in this environment; name a file or a keyring "+
				"entry with apiKey in config.json\n", strings.Join(names, ", "))
		}
	}
}

func (a *app) installService(ctx context.Context, print bool) error {
	s, p, err := a.autostart()
	if err != nil {
		return err
	}
	if print {
		a.notef("For %s:\n", s.File)
		a.printf("%s", s.Text(p))
		return nil
	}
	if s.Installed() && !a.serves(s) {
		return failed("%s starts the relay of another home folder: %s", s.Name, s.File).
			hinting("uninstall that one first, with its TABRELAY_HOME: tabrelay service uninstall")
	}
	a.noteKeys()
	prepared, err := s.Prepare(ctx, p)
	if err != nil {
		return err
	}
	join.EndTemporary(ctx, a.home)
	state, ran := join.Running(ctx, a.home)
	if ran { // the system has to start it
		err = a.stopRelay(ctx, state)
	}
	if err == nil {
		err = s.Start(ctx)
	}
	if err == nil {
		err = a.awaitService(ctx, s)
	}
	if err != nil {
		return errors.Join(err, a.undoService(ctx, prepared, ran))
	}
	a.notef("%s starts the relay at login: %s\n", s.Name, s.File)
	return nil
}

// undoService leaves the relay as it was before an installation that failed.
func (a *app) undoService(ctx context.Context, prepared *autostart.Installation, ran bool) error {
	if err := prepared.Undo(ctx); err != nil {
		a.notef("%s: %v\n", prepared.Name, err)
	}
	if _, runs := join.Running(ctx, a.home); runs || !ran {
		return nil
	}
	starter, err := a.starter()
	if err == nil {
		_, err = starter.Start(ctx)
	}
	if err != nil {
		return fmt.Errorf("the relay that ran before could not be started again: %w", err)
	}
	a.notef("Nothing was installed; the relay runs as before.\n")
	return nil
}

// serves reports whether the system starts the relay of this home folder.
func (a *app) serves(s autostart.System) bool {
	home, err := config.DefaultHome()
	return s.Serves(string(a.home), err == nil && diskfile.Same(string(home), string(a.home)))
}

// awaitService waits until the relay that the system starts answers.
func (a *app) awaitService(ctx context.Context, s autostart.System) error {
	late, cancel := context.WithTimeout(ctx, join.StartTimeout)
	defer cancel()
	for {
		if state, ok := join.Running(late, a.home); ok {
			a.notef("The relay runs at http://%s.\n", state.Address)
			return nil
		}
		if !async.Sleep(late, 100*time.Millisecond) {
			return failed("%s was told to start the relay, but the relay does not answer", s.Name).
				hinting("tabrelay logs shows why; tabrelay service status shows what " + s.Name + " says")
		}
	}
}

func (a *app) uninstallService(ctx context.Context) error {
	s, _, err := a.autostart()
	if err != nil {
		return err
	}
	if s.Installed() && !a.serves(s) {
		return failed("%s starts the relay of another home folder: %s", s.Name, s.File).
			hinting("set TABRELAY_HOME to that folder")
	}
	removed, err := s.Uninstall(ctx)
	switch {
	case err != nil:
		return err
	case removed:
		a.notef("%s no longer starts the relay: %s is removed.\n", s.Name, s.File)
	default:
		a.notef("%s did not start the relay: there is no %s.\n", s.Name, s.File)
	}
	return nil
}

func (a *app) serviceStatus(ctx context.Context) error {
	s, _, err := a.autostart()
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"installed": s.Installed(), "file": s.File, "system": s.Name,
			"status": s.Status(ctx), "thisHome": a.serves(s)})
	}
	if !s.Installed() {
		a.printf("not installed: there is no %s\n", s.File)
		return nil
	}
	a.printf("installed  %s\n%s    %s\n", s.File, s.Name, s.Status(ctx))
	if !a.serves(s) {
		a.notef("note: it starts the relay of a home folder other than %s\n", a.home)
	}
	return nil
}
