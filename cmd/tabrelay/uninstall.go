package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"tabrelay/relay/connect"
)

func (a *app) uninstall() *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use: "uninstall", Short: "Stop, disconnect every client, and remove the home folder", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.remove(cmd.Context(), keep) },
	}
	cmd.Flags().BoolVar(&keep, "keep-data", false, "leave the home folder")
	return cmd
}

func (a *app) remove(ctx context.Context, keep bool) error {
	if s, _, err := a.system(); err == nil && s.Installed() { // first, or it would start the relay again
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
	a.notef("Next: open chrome://extensions and press “Remove” on the card of tabrelay; then delete the program itself.\n")
	return nil
}
