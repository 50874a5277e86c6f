package main

import (
	"context"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/autostart"
	"tabrelay/relay/connect"
	"tabrelay/relay/join"
	"tabrelay/relay/pause"
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
			Use: "uninstall", Short: "Stop the relay, and start it at login no more",
			RunE: func(cmd *cobra.Command, _ []string) error { return a.uninstallService(cmd.Context()) },
		},
		&cobra.Command{
			Use: "status", Short: "Show whether the system starts the relay",
			RunE: func(cmd *cobra.Command, _ []string) error { return a.serviceStatus(cmd.Context()) },
		})
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
	p.Executable, err = join.Executable()
	if os.Getenv("TABRELAY_HOME") != "" {
		p.Home = string(a.home)
	}
	return s, p, err
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
	if state, ok := join.Running(ctx, a.home); ok { // the system has to start it
		if err := a.stopRelay(ctx, state); err != nil {
			return err
		}
	}
	if err := s.Install(ctx, p); err != nil {
		return err
	}
	a.notef("%s starts the relay at login: %s\n", s.Name, s.File)
	return a.awaitService(ctx, s)
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
		if !pause.For(late, 100*time.Millisecond) {
			return failed("%s was told to start the relay, and it does not answer", s.Name).
				hinting("tabrelay logs shows why; tabrelay service status shows what " + s.Name + " says")
		}
	}
}

func (a *app) uninstallService(ctx context.Context) error {
	s, _, err := a.autostart()
	if err != nil {
		return err
	}
	removed, err := s.Uninstall(ctx)
	switch {
	case err != nil:
		return err
	case removed:
		a.notef("%s starts the relay no more: %s is removed.\n", s.Name, s.File)
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
	if !s.Installed() {
		a.printf("not installed: there is no %s\n", s.File)
		return nil
	}
	a.printf("installed  %s\n%s    %s\n", s.File, s.Name, s.Status(ctx))
	return nil
}

func (a *app) uninstall() *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use: "uninstall", Short: "Stop, disconnect every client, and remove the home folder",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.uninstallAll(cmd.Context(), keep) },
	}
	cmd.Flags().BoolVar(&keep, "keep-data", false, "leave the home folder")
	return cmd
}

func (a *app) uninstallAll(ctx context.Context, keep bool) error {
	if s, _, err := a.autostart(); err == nil && s.Installed() { // first, because it would start the relay again
		if err := a.uninstallService(ctx); err != nil {
			a.notef("%s: %v\n", s.Name, err)
		}
	}
	if err := a.stopAll(ctx); err != nil {
		return err
	}
	env, err := connect.Here()
	if err != nil {
		return err
	}
	for _, client := range connect.Clients {
		change, err := client.Disconnect(env)
		switch {
		case err != nil:
			a.notef("%s: %v\n", client.Title, err)
		case change.Changed:
			a.notef("%s is disconnected: %s\n", client.Title, change.File)
		}
	}
	if !keep {
		if err := os.RemoveAll(string(a.home)); err != nil {
			return failed("cannot remove %s: %w", a.home, err)
		}
		a.notef("%s is removed.\n", a.home)
	}
	a.notef("Next: open chrome://extensions and press “Remove” on the card of tabrelay; then delete the program " +
		"itself.\n")
	return nil
}
